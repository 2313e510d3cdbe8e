#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The report: one self-contained HTML page (no script, no font, no picture from elsewhere) about one plan, or about
// several against the first. It carries the (first) plan, so that the reader of plans opens it too. The same input
// gives the same bytes.

#include "core/evaluation/report/comparison.h"

namespace trainyard {

[[nodiscard]] std::string htmlReport(const std::vector<NamedEvaluation> &plans);

} // namespace trainyard
