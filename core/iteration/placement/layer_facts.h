#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of one layer beside its model: what was measured of it on a GPU, and what enters it.

#include "core/iteration/placement/resolve.h"

#include <optional>

namespace trainyard {

/// Of the GPU of that location; nullptr where nobody measured it.
[[nodiscard]] const GpuLayerTimes *measuredLayer(const Workload &workload, StageLocation at);
/// Bytes beside the states that were measured for the workload's micro-batch: with recomputation, so that they hold for
/// nothing else. Empty where nobody measured them.
[[nodiscard]] std::optional<double> measuredBytes(const Workload &workload, StageLocation at);

/// Bytes of what enters a layer, of one micro-batch on one GPU.
[[nodiscard]] double layerInputBytes(const Workload &workload);
/// Of those, what is kept for the backward pass, where it is kept in fewer bits.
[[nodiscard]] double keptInputBytes(const Workload &workload);
/// Inputs of layers that are on a GPU on their way to the host, at most: two buffers each way, one of them at work.
inline constexpr int kInputsOnTheirWay = 3;

} // namespace trainyard
