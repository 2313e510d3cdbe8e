// SPDX-License-Identifier: GPL-3.0-or-later
// How unequal GPUs share work, states and layers, and in which order their micro-batches go through the model.
#include "core/evaluation/advice/alternatives_internal.h"
#include "core/iteration/placement/degrees.h"

namespace trainyard::detail {

namespace {

/// Pools of different GPUs, or a plan that says how to share all the same: equal GPUs have nothing to choose.
bool mayShareUnevenly(const Plan &plan)
{
    std::set<std::string> kinds;
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            if (pool.gpus() > 0)
                kinds.insert(pool.inlineGpu ? pool.inlineGpu->id : pool.gpu);
    return kinds.size() > 1 || plan.heterogeneity != Heterogeneity {};
}

void addSharingOfStates(Alternatives &out, const Plan &plan)
{
    const StateSharing now = plan.heterogeneity.state;
    const std::string undivided = degreesOf(plan).zeroStage > 0 ? "" : "ZeRO divides no states at stage 0";
    std::vector<Choice<StateSharing>> choices;
    for (const Choice<StateSharing> &choice : choicesOf<StateSharing>(undivided)) // balanced is min-params
        if (choice.value != (now == StateSharing::Balanced ? StateSharing::MinParams : StateSharing::Balanced))
            choices.push_back(choice);
    addGroup(out, plan, "share_states", "Sharing of states", choices, now,
        [](Plan &p, StateSharing s) { p.heterogeneity.state = s; });
}

void addSharingOfLayers(Alternatives &out, const Plan &plan)
{
    if (degreesOf(plan).pipeline < 2 && plan.heterogeneity.layers == LayerSharing::Even)
        return;
    const std::string stated = plan.placement.layers.empty() ? "" : "the plan states the layers of each stage";
    addGroup(out, plan, "share_layers", "Sharing of layers", choicesOf<LayerSharing>(stated), plan.heterogeneity.layers,
        [](Plan &p, LayerSharing l) { p.heterogeneity.layers = l; });
}

void addAccumulation(Alternatives &out, const Plan &plan)
{
    std::vector<Choice<Accumulation>> choices = choicesOf<Accumulation>();
    if (const int stages = degreesOf(plan).pipeline; stages > 1)
        choices[std::size_t(Accumulation::Layered)].blocked =
            "it goes through whole models, and the pipeline has " + std::to_string(stages) + " stages";
    addGroup(out, plan, "accumulation", "Gradient accumulation", choices, plan.heterogeneity.accumulation,
        [](Plan &p, Accumulation a) { p.heterogeneity.accumulation = a; });
    if (!plan.heterogeneity.isLayered())
        return;
    const std::vector<Choice<bool>> onOff { { false, "false", "off", {} }, { true, "true", "on", {} } };
    addGroup(out, plan, "gather_prefetch", "Gather prefetch", onOff, plan.heterogeneity.gatherPrefetch,
        [](Plan &p, bool on) { p.heterogeneity.gatherPrefetch = on; });
    std::vector<Choice<bool>> boundaries = onOff;
    for (Choice<bool> &choice : boundaries)
        if (plan.memory.activationOffload != ActivationOffload::None)
            choice.blocked = "activation offload decides about the inputs of layers";
    addGroup(out, plan, "boundary_offload", "Boundary offload", boundaries, plan.heterogeneity.boundaryOffload,
        [](Plan &p, bool on) { p.heterogeneity.boundaryOffload = on; });
    addGroup(out, plan, "released_state_fill", "Released state fill", onOff, plan.heterogeneity.releasedStateFill,
        [](Plan &p, bool on) { p.heterogeneity.releasedStateFill = on; });
}

} // namespace

void addMixedGpus(Alternatives &out, const Plan &plan)
{
    if (!mayShareUnevenly(plan))
        return;
    addGroup(out, plan, "share_work", "Sharing of work", choicesOf<ComputeSharing>(), plan.heterogeneity.compute,
        [](Plan &p, ComputeSharing c) { p.heterogeneity.compute = c; });
    addSharingOfStates(out, plan);
    addSharingOfLayers(out, plan);
    addAccumulation(out, plan);
}

} // namespace trainyard::detail
