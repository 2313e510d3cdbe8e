#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether spans of two timelines can be matched one by one: both need the same replicas, stages, micro-batches and
// virtual stages. Pure functions.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>

namespace trainyard {

struct ShapeDifference {
    /// "8 replicas instead of 4, 12 stages instead of 8": the second evaluation, then the first. Empty: the same shape
    std::string what;
    /// stage 3 of one is not stage 3 of the other
    bool areStagesOther = false;
};

/// Of plans with jobs: their GPUs in place of stages.
[[nodiscard]] ShapeDifference shapeDifference(const Evaluation &before, const Evaluation &after);

} // namespace trainyard
