#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What Sailor's dynamic programme reads of a number of stages and a micro-batch: layers and tensor degrees of each
// stage, seconds of a micro-batch there. Inside this room.

#include "core/planner/rivals/planners.h"

namespace trainyard::rivals {

/// Layers of each of P stages: as many everywhere, what is left to the last ones [F].
[[nodiscard]] std::vector<int> sailorLayers(int layers, int stages);

struct StageFigures { // of one stage and kind
    /// 0: no degree fits
    int tensor = 0;
    /// of a micro-batch
    double seconds = 0;
    /// bytes of one GPU
    double gradients = 0;
};

/// The least tensor degree that fits, then doubled while that is at least 1.5 times as fast [F].
[[nodiscard]] StageFigures stageFigures(
    const PlannerInput &input, int kind, const std::vector<int> &layers, int stage, int microBatch, int microBatches);

/// Whether a stage fits [F]: 24 bytes a parameter, what its micro-batches in flight keep, and what is loaded.
[[nodiscard]] bool sailorFits(const PlannerInput &input, int kind, const std::vector<int> &layers, int stage,
    int tensor, int microBatch, int microBatches);

} // namespace trainyard::rivals
