#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The report as Markdown: metrics side by side, memory, WAN links, problems and differences; no pictures.

#include "core/evaluation/report/comparison.h"

namespace trainyard {

[[nodiscard]] std::string markdownReport(const std::vector<NamedEvaluation> &plans);

} // namespace trainyard
