#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The bars of the report: where the seconds go, and what fills the memory of each stage. Inline HTML with SVG.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>

namespace trainyard {

/// One stacked bar with its legend; empty where nothing was simulated.
[[nodiscard]] std::string breakdownBar(const Evaluation &evaluation);
/// A stacked bar a stage against the capacity of its GPU; empty where memory is not modelled.
[[nodiscard]] std::string memoryBars(const Evaluation &evaluation);

} // namespace trainyard
