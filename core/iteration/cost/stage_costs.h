#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What every operation of one iteration takes, per class of equal pipelines. Seconds are kept apart by purpose for the
// breakdown and rounded to nanoseconds once, for the timeline. Plain values; core/iteration/iteration_costs makes them.

#include "core/iteration/cost/layer/expert_layer_cost.h"
#include "core/iteration/cost/layer/op_split.h"
#include "core/iteration/cost/wan/wan_use.h"
#include "core/iteration/memory/stage_offload.h"
#include "core/iteration/model_states/optimizer_step.h"
#include "core/iteration/times/pipeline_costs.h"

#include <memory>
#include <vector>

namespace trainyard {

struct StageCosts {
    /// by virtual chunk
    std::vector<ChunkCost> chunks;
    /// how one of its expert layers runs; empty where it has none
    std::shared_ptr<const ExpertLayerCost> expert;
    Seconds reduce, gather, optimizer;
    /// of local SGD between datacenters, after the step: nothing hides it
    Seconds exchange;
    // Of a micro-batch's backward: tokens have the links between datacenters, which the reduction waits for
    Seconds linksBusy;
    /// of the reduction: its gradients are ready only when the backward ends
    Seconds lastBucket;
    /// the optimizer step off the GPU; `optimizer` is the part of it that is not hidden
    OffloadedStep step;
    /// gradients that are written to drives after the backward and before the step; part of `optimizer`
    Seconds lateWrites;
    /// of one GPU, to drives: weights that lie there, updated
    Bytes weightsWritten;
};

struct Costs {
    /// for the graph builder
    IterationCosts iteration;
    /// [class][stage]: the same, in seconds and by purpose
    std::vector<std::vector<StageCosts>> stages;
    /// [class][stage]; empty where every activation stays
    std::vector<std::vector<StageOffload>> offload;
    /// one a link of the cluster; utilization is filled in later
    std::vector<WanLinkUse> wanLinks;
    /// streaming local SGD: what each iteration has to hide of it (wan_reduce.h)
    Seconds hiddenExchange;

    /// Whether activations leave the GPU between forward and backward.
    [[nodiscard]] bool movesActivations() const
    {
        return !offload.empty() || (!iteration.classes.empty() && iteration.classes.front().layers.movesBoundaries());
    }
};

} // namespace trainyard
