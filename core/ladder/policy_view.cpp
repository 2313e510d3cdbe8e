// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ladder/policy_view.h"

#include "core/cost/layer_cost.h"
#include "core/ladder/states_off_gpu.h"
#include "core/memory/chunk_memory.h"
#include "core/memory/stage_states.h"
#include "core/workload/model_math.h"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace trainyard {

namespace {

Bytes roomForActivations(const Workload &workload, StageSeat seat)
{
    const StageStates states = stageStates(workload, 0);
    double room = (double(workload.gpu(seat).memoryBytes) - workload.stack.contextBytes - communicators(workload) * workload.stack.communicatorBytes)
            / workload.stack.fragmentation
        - states.weights - states.gradients - states.optimizer;
    for (const auto &[name, bytes] : states.buffers)
        room -= bytes;
    return Bytes{std::max(0.0, room)};
}

struct Way { BytesPerSecond out, in; Bytes host; };

Way wayOf(const Workload &workload, StageSeat seat)
{
    const StateRates rates = stateRates(workload, seat);
    const Pool &pool = workload.pool(seat);
    if (workload.plan->memory.activationOffload == ActivationOffload::Ssd)
        return {std::min(rates.toHost, rates.write), std::min(rates.toGpu, rates.read), Bytes{std::numeric_limits<double>::infinity()}};
    const double host = pool.host && pool.host->memoryGib > 0 ? pool.host->memoryGib * 0x1p30 / std::max(1, pool.gpusPerNode)
                                                              : std::numeric_limits<double>::infinity();
    return {rates.toHost, rates.toGpu, Bytes{host}};
}

std::string percent(double share)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.2g %%", 100 * share);
    return text;
}

} // namespace

PolicyView policyView(const Workload &workload)
{
    const StageSeat seat = workload.layout.classes.front().seats.front();
    const StageChunk &chunk = workload.layout.chunks.front().front();
    const bool isExpert = chunk.expertLayers > chunk.layers / 2;
    ActivationShape shape = activationShape(workload);
    shape.recompute = Recompute::None;
    const Bytes whole{layerActivations(workload.model, isExpert, shape, workload.stack).kept};
    const double tokens = shape.sequence * shape.microBatch / shape.context;
    const Bytes input{tokens * shape.elementBytes * workload.model.hidden / (shape.sequenceParallel ? shape.tensor : 1)};
    const Bytes attention{tokens * shape.elementBytes * workload.model.heads * workload.model.headDim / shape.tensor};
    const ChunkCost layer = layerCost(workload, layerSite(workload, seat, workload.layout.data), isExpert);
    const Way way = wayOf(workload, seat);

    PolicyView view;
    for (const StageChunk &part : workload.layout.chunks.front())
        view.layers += part.layers;
    const Seconds forward = layer.forward.total(), backward = layer.inputGrad.total() + layer.weightGrad.total();
    view.plain = (forward + backward) * view.layers;
    const MemoLayer memo{input, attention, std::max(Bytes{}, whole - input - attention), forward};
    view.memoShare = memoTokenShare(memo, view.layers, way.out, way.host);
    view.memoRecompute = memoRecompute(memo, view.memoShare, 1) * std::max(0, view.layers - 2);   // from above: attention is not repeated
    view.room = roomForActivations(workload, seat);
    const std::vector<Block> blocks(std::size_t(view.layers), Block{whole, input, forward, backward});
    const BlockLimits limits{view.room, way.out, way.in};
    view.karma = karma(blocks, limits);
    view.proTrain = proTrain(blocks, limits);
    return view;
}

std::string policySentence(const Workload &workload)
{
    const MemoryStrategy &memory = workload.plan->memory;
    if (memory.activationOffload == ActivationOffload::None || memory.offloadPolicy == OffloadPolicy::SsdTrain || workload.plan->profile)
        return {};
    const PolicyView view = policyView(workload);
    const std::string aside = "; the timeline moves tensors by SSDTrain's rule";
    if (memory.offloadPolicy == OffloadPolicy::Memo)
        return "MEMO's closed form for one micro-batch on stage 1: inputs and attention outputs leave, of the other tensors " + percent(view.memoShare)
            + " of the tokens, and the rest is computed again in up to " + percent(view.plain.value > 0 ? view.memoRecompute / view.plain : 0) + " more time" + aside;
    const auto count = [&](BlockFate fate) { return std::to_string(std::ranges::count(view.karma.fates, fate)); };
    return "KARMA's rule for one micro-batch on stage 1: " + count(BlockFate::Keep) + " layers stay, " + count(BlockFate::Swap) + " are swapped, "
        + count(BlockFate::Recompute) + " computed again, " + percent(view.plain.value > 0 ? view.karma.time / view.plain - 1 : 0) + " more time" + aside;
}

} // namespace trainyard
