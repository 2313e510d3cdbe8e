#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How many layers each stage of a pipeline gets where stages lie on unequal GPUs: so many that the slowest stage is as
// fast as can be. docs/model.md, "Mixed GPUs".

#include "core/iteration/placement/resolve.h"

#include <functional>
#include <vector>

namespace trainyard {

/// Seconds of a stage that has `layers` from layer `first` on; infinite where they do not fit.
using SecondsOfCut = std::function<double(int stage, int first, int layers)>;

/// Layers of each stage, `least` or more and all `layers` together, such that the longest stage is shortest; of those
/// the one whose stages together take least, and of those the most equal one. Exact: every way of cutting the layers is
/// looked at, stage by stage (O(stages * layers^2)). Empty where there is none without an infinite stage.
[[nodiscard]] std::vector<int> cutLayers(int stages, int layers, int least, const SecondsOfCut &seconds);

/// Sets Layout::chunks where the plan asks for layers by speed and does not give them: a stage is as fast as its
/// slowest replica, and holds no more than all of them have memory for. Where a stage has several chunks, layers count
/// as the mean one, and a stage's chunks take them as evenly as given ones. Stages that hold two copies of the model
/// keep what they have.
void dealLayers(Workload &workload);

/// Seconds that no iteration of a dealt layout is shorter than: what its busiest stage computes. Layers by speed leave
/// out what a stage reduces and updates at the end, and where there are few micro-batches the way through all stages,
/// so other layers may do better: they are worth a look if this is less than the iteration.
[[nodiscard]] double busiestStage(const Workload &workload);

} // namespace trainyard
