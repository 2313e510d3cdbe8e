#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How many layers each stage of a pipeline gets so that the stage with the most work has as little as possible: the
// inter-operator programme of Alpa (arXiv 2201.12023, eq. 2) for equal devices in the order of the pipeline, where
// what is minimised is the longest stage. Work is counted in forward FLOPs: those of each layer, and of the head on
// the last stage. Exact, by bisection over the longest stage; of equal partitions the one whose first stages, which
// hold the most activations, have the fewest layers. Pure functions.

#include "core/facts/workload/model_spec.h"

#include <vector>

namespace trainyard {

/// Of `stages` stages, each with a layer at least; empty where there are fewer layers. `tokens` of a sequence.
[[nodiscard]] std::vector<int> balancedLayers(const ModelSpec &model, int stages, double tokens);
/// Work of the longest stage under these layers, FLOPs of one sequence.
[[nodiscard]] double longestStage(const ModelSpec &model, const std::vector<int> &layers, double tokens);
/// Whether for any number of stages the balanced partition is better than the even one.
[[nodiscard]] bool partitionGains(const ModelSpec &model, double tokens);

} // namespace trainyard
