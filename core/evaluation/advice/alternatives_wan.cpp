// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/alternatives_internal.h"
#include "core/iteration/placement/degrees.h"

namespace trainyard::detail {

namespace {

void addLocalSgd(Alternatives &out, const Plan &plan)
{
    offer(out, plan, rowOf(&WanStrategy::localSgd));
    if (plan.wan.localSgd == LocalSgd::None)
        return;
    offer(out, plan, rowOf(&WanStrategy::localSteps));
    if (plan.wan.localSgd == LocalSgd::Streaming)
        offer(out, plan, rowOf(&WanStrategy::fragments));
    offer(out, plan, rowOf(&WanStrategy::exchangeBits));
}

/// Gradients cross the WAN only where replicas lie in different datacenters.
bool mayReduceAcross(const Plan &plan)
{
    return plan.placement.mode != PlacementMode::PipelineAcross && plan.placement.stages.empty();
}

} // namespace

void addWanStrategies(Alternatives &out, const Plan &plan)
{
    const bool isLinked = !plan.cluster.wanLinks.empty();
    offer(out, plan, rowOf(&WanStrategy::tcpConnections), isLinked ? "" : "the cluster has no WAN link");
    if (!isLinked)
        return;
    const bool isOne = degreesOf(plan).pipeline < 2;
    offer(out, plan, rowOf(&WanStrategy::congestion));
    offer(out, plan, rowOf(&WanStrategy::sharing),
        isOne ? "there is one pipeline stage, so nothing crosses the WAN to share it" : "");
    if (plan.wan.sharing == WanSharing::Temporal)
        offerAll(out, plan, &WanStrategy::cell, &WanStrategy::turns);
    const bool stays = isOne || plan.placement.mode == PlacementMode::DataAcross;
    offer(out, plan, rowOf(&WanStrategy::activationBits), stays ? "no stage boundary crosses datacenters" : "");
    if (!mayReduceAcross(plan))
        return;
    offerAll(out, plan, &WanStrategy::allReduce, &WanStrategy::gradientBits);
    addLocalSgd(out, plan);
}

} // namespace trainyard::detail
