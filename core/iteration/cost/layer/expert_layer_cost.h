#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The experts of a layer: their kernels timed one by one, the exchanges of their tokens chosen, and both run as a graph
// (core/systems/experts/layer.h). What the graph shows beyond the kernels themselves is what a layer's cost gets.
// docs/experts.md.

#include "core/iteration/cost/layer/layer_cost.h"
#include "core/systems/experts/loads.h"
#include "core/systems/experts/traffic_aware.h"

namespace trainyard {

class LayerTimer;

/// One expert layer and one micro-batch on the rank that has most to do.
struct ExpertLayerCost {
    ExchangeRequest request;
    /// of a group's ranks
    RankLoads loads;
    ExchangeChoice choice;
    /// weight gradients are part of the backward unless they are operations of their own
    LayerWork forward, backward;
    LayerTimes forwardTimes, backwardTimes;
    /// where the schedule runs forwards with backwards
    std::optional<PairWork> pair;
    /// of it
    Seconds pairTotal;

    /// What a pair of one forward and one backward is shorter than both alone.
    [[nodiscard]] Seconds spared() const;
};

/// Adds the kernels of router, permutation, experts and shared experts to the timer, and what shows of the exchanges to
/// the traffic. `attention`: kernels of the layer before its experts, forward and backward, which pairs hide exchanges
/// under.
struct KernelsBefore {
    Seconds forward, backward;
};
[[nodiscard]] ExpertLayerCost addExperts(
    LayerTimer &timer, ChunkCost &traffic, const Workload &workload, const LayerSite &site, KernelsBefore attention);
/// The kernels alone.
void addExpertKernels(LayerTimer &timer, const Workload &workload, const LayerSite &site);

/// A forward and a backward of different micro-batches at once, through chunks with so many expert layers each: their
/// kernels in turns, the exchanges of one under the kernels of the other. All other communication shows.
[[nodiscard]] OpSplit together(const OpSplit &forward, const OpSplit &backward, int forwardExperts, int backwardExperts,
    const ExpertLayerCost *layer);

} // namespace trainyard
