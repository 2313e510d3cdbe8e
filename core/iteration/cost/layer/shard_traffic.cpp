// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/layer/shard_traffic.h"

#include "core/facts/workload/model_math.h"
#include "core/iteration/cost/kernels/gemm.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Passes over memory of an exchange through a list of tensors: PyTorch gathers into a zeroed buffer of its own and
/// copies from there, and scatters from one that it fills first.
constexpr double kPassesOfGather = 3, kPassesOfScatter = 2;

GatheredWeights gatherOf(const Workload &workload, const LayerSite &site, LayerElements elements)
{
    const StackSpec &stack = workload.stack;
    const double weight = gatheredWeightBytes(workload.plan->workload.precision, stack);
    GatheredWeights result { elements.dense + elements.experts, {}, {} };
    const auto add = [&](double count, const RankGroup &group) {
        if (count <= 0 || group.ranks <= 1)
            return;
        const Bytes size { weight * count };
        result.gather += allGatherTime(size, group) * unevenFactor(workload, site.ranks);
        if (stack.gathersByTensor)
            result.gather += memoryTime(*site.gpu, size * kPassesOfGather) / site.sustained.memory;
        result.host += microseconds(stack.rankCopyUs * group.ranks);
    };
    add(elements.dense, site.data);
    add(elements.experts, site.expertData);
    return result;
}

Seconds scatterOf(const Workload &workload, const LayerSite &site, LayerElements elements)
{
    const StackSpec &stack = workload.stack;
    const auto of = [&](double count, const RankGroup &group) {
        if (count <= 0 || group.ranks <= 1)
            return Seconds {};
        const Bytes size { stack.gradientBytes * count };
        const Seconds copies =
            stack.gathersByTensor ? memoryTime(*site.gpu, size * kPassesOfScatter) / site.sustained.memory : Seconds {};
        return reduceScatterTime(size, group) * unevenFactor(workload, site.ranks) + copies
            + microseconds(stack.rankCopyUs * group.ranks);
    };
    return of(elements.dense, site.data) + of(elements.experts, site.expertData);
}

} // namespace

double unevenFactor(const Workload &workload, const RankSet &ranks)
{
    const Heterogeneity &h = workload.plan->heterogeneity;
    return ranks.stateShare > 0 && !h.isLayered() ? h.unevenPenalty : 1;
}

LayerElements layerElements(const Workload &workload, bool expertLayer)
{
    return layerElements(workload, expertLayer, workload.degrees);
}

LayerElements layerElements(const Workload &workload, bool expertLayer, const Degrees &p)
{
    const LayerParameters parameters = layerParameters(workload.model, expertLayer);
    return { (parameters.total() - parameters.experts) / p.tensor, parameters.experts / (p.expert * p.expertTensor) };
}

LayerPieces layerPieces(const Workload &workload, bool expertLayer, const Degrees &degrees)
{
    const LayerElements whole = layerElements(workload, expertLayer, degrees);
    if (!workload.stack.gathersByTensor)
        return { { whole }, 1 };
    const ModelSpec &model = workload.model;
    const LayerParameters parameters = layerParameters(model, expertLayer);
    const double attention = whole.dense * parameters.attention / (parameters.attention + parameters.mlp),
                 mlp = whole.dense - attention;
    const double in = (model.heads + 2.0 * model.kvHeads) / (2.0 * model.heads + 2.0 * model.kvHeads),
                 up = model.gatedFfn ? 2 / 3.0 : 1 / 2.0;
    return { { LayerElements { attention * in, 0 }, { attention * (1 - in), 0 }, { mlp * up, whole.experts * up },
                 { mlp * (1 - up), whole.experts * (1 - up) } },
        4 };
}

GatherTimes gatherTimes(std::span<const GatheredWeights> turns, Seconds compute, double live)
{
    double all = 0;
    for (const GatheredWeights &turn : turns)
        all += turn.elements;
    GatherTimes times;
    for (std::size_t i = 0; i < turns.size(); ++i) {
        const GatheredWeights &before = turns[(i + turns.size() - 1) % turns.size()];
        const bool isAhead = all > 0 && (live <= 0 || before.elements < live);
        const Seconds hidden = isAhead ? std::min(turns[i].gather, compute * (before.elements / all)) : Seconds {};
        times.hidden += hidden;
        times.shown += turns[i].gather - hidden + turns[i].host;
    }
    return times;
}

void addShardTraffic(ChunkCost &cost, const LayerCompute &compute, const Workload &workload, const LayerSite &site,
    const LayerPieces &pieces)
{
    const StackSpec &stack = workload.stack;
    const auto show = [&](OpSplit &split, Seconds shown, Seconds hidden) {
        split.data += shown;
        split.compute += hidden * stack.overlapSlowdown;
    };
    const std::span parts = std::span(pieces.of).first(pieces.count);
    std::array<GatheredWeights, kMostPieces> gathers;
    const std::span turns = std::span(gathers).first(pieces.count);
    const auto gatherFor = [&](OpSplit &split, Seconds behind) {
        const GatherTimes times = gatherTimes(turns, behind * stack.parameterOverlap, stack.liveParameters);
        show(split, times.shown, times.hidden);
        return times.shown + times.hidden;
    };
    const Seconds backward = compute.inputGrad + compute.weightGrad,
                  gathersBehind = compute.isSplit ? compute.inputGrad : backward;
    Seconds scatter, gathered;
    for (const LayerElements &part : parts)
        scatter += scatterOf(workload, site, part);
    if (workload.degrees.zeroStage >= 3) {
        std::ranges::transform(
            parts, turns.begin(), [&](const LayerElements &part) { return gatherOf(workload, site, part); });
        gatherFor(cost.forward, compute.forward);
        if (stack.gathersToRecompute && compute.isRecomputed) {
            gatherFor(cost.recompute, compute.forward);
            if (turns.back().elements < stack.liveParameters) // backward begins with it, and it is there still
                turns.back().gather = turns.back().host = {};
        }
        std::ranges::reverse(turns);
        gathered = gatherFor(cost.inputGrad, gathersBehind);
    }
    const Seconds scattersBehind = compute.isSplit ? compute.weightGrad : backward - std::min(backward, gathered);
    const Seconds hidden = std::min(scatter, scattersBehind * stack.gradientOverlap);
    show(compute.isSplit ? cost.weightGrad : cost.inputGrad, scatter - hidden, hidden);
}

} // namespace trainyard
