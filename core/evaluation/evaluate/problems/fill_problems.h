#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Why bubbles stay empty that a plan asks to fill.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// With what would help, and which of its keys have no effect.
[[nodiscard]] std::vector<Problem> bubbleFillProblems(
    const Evaluation &evaluation, const Workload &workload, const Catalogue &catalogue);

} // namespace trainyard
