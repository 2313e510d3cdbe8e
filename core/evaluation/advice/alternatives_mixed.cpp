// SPDX-License-Identifier: GPL-3.0-or-later
// How unequal GPUs share work, states and layers, and in which order their micro-batches go through the model.
#include "core/evaluation/advice/alternatives_internal.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/iteration/placement/degrees.h"

namespace trainyard::detail {

namespace {

/// Pools of different GPUs, or a plan that says how to share all the same: equal GPUs have nothing to choose.
bool mayShareUnevenly(const Plan &plan)
{
    return gpuIdsOf(plan.cluster).size() > 1 || plan.heterogeneity != Heterogeneity {};
}

void addSharingOfStates(Alternatives &out, const Plan &plan)
{
    const KeyRow &row = rowOf(&Heterogeneity::state);
    const StateSharing twin = // balanced is min-params
        plan.heterogeneity.state == StateSharing::Balanced ? StateSharing::MinParams : StateSharing::Balanced;
    Choices choices = choicesOf(row, plan, degreesOf(plan).zeroStage > 0 ? "" : "ZeRO divides no states at stage 0");
    choices.erase(choices.begin() + std::ptrdiff_t(twin));
    addChoices(out, plan, row, choices);
}

void addSharingOfLayers(Alternatives &out, const Plan &plan)
{
    if (degreesOf(plan).pipeline < 2 && plan.heterogeneity.layers == LayerSharing::Even)
        return;
    offer(out, plan, rowOf(&Heterogeneity::layers),
        plan.placement.layers.empty() ? "" : "the plan states the layers of each stage");
}

void addAccumulation(Alternatives &out, const Plan &plan)
{
    const KeyRow &row = rowOf(&Heterogeneity::accumulation);
    Choices choices = choicesOf(row, plan);
    if (const int stages = degreesOf(plan).pipeline; stages > 1)
        choices[std::size_t(Accumulation::Layered)].blocked =
            "it goes through whole models, and the pipeline has " + std::to_string(stages) + " stages";
    addChoices(out, plan, row, choices);
    if (plan.heterogeneity.isLayered())
        offerAll(out, plan, &Heterogeneity::gatherPrefetch, &Heterogeneity::boundaryOffload,
            &Heterogeneity::releasedStateFill);
}

} // namespace

void addMixedGpus(Alternatives &out, const Plan &plan)
{
    if (!mayShareUnevenly(plan))
        return;
    offer(out, plan, rowOf(&Heterogeneity::compute));
    addSharingOfStates(out, plan);
    addSharingOfLayers(out, plan);
    addAccumulation(out, plan);
}

} // namespace trainyard::detail
