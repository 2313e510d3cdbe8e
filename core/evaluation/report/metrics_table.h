#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// An evaluation as text for a terminal: metrics, where the seconds go, memory per stage, WAN links, idle GPUs,
// problems.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>

namespace trainyard {

[[nodiscard]] std::string metricsTable(const Evaluation &evaluation);

} // namespace trainyard
