// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/offload/layer_policy.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/memory/chunk_memory.h"
#include "core/iteration/memory/in_flight_room.h"
#include "core/iteration/offload/activation_policies.h"
#include "core/iteration/offload/settings.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

double hostShare(const Workload &workload, int stage)
{
    double least = std::numeric_limits<double>::infinity();
    if (workload.plan->memory.activationOffload != ActivationOffload::Host)
        return least;
    for (const PipelineClass &pipelines : workload.layout.classes) {
        const Pool &pool = workload.pool(pipelines.locations[std::size_t(stage)]);
        if (pool.host && pool.host->memoryGib > 0)
            least = std::min(least, pool.host->memoryGib * 0x1p30 / std::max(1, pool.gpusPerNode));
    }
    return least;
}

/// Input gradients whose weight gradients are still to come, at most.
int mostWaitingForWeightGrads(const std::vector<Op> &order)
{
    int waiting = 0, most = 0;
    for (const Op &op : order) {
        waiting += (op.kind == OpKind::InputGrad) - (op.kind == OpKind::WeightGrad);
        most = std::max(most, waiting);
    }
    return most;
}

void keep(std::vector<PolicyLayer> &layers, LayerFates &fates)
{
    fates.kept += int(layers.size());
}

/// Computes a share of the layer's forward again.
void addRecompute(PolicyLayer &layer, const OpSplit &recompute, double share)
{
    layer.recompute =
        layer.recompute * (1 - share) + recompute * share; // what the plan repeats anyway is part of a forward
    layer.module.recompute = layer.recompute.total();
}

double tokenShare(const Plan &plan, const std::vector<PolicyLayer> &layers, const OffloadPath &path,
    const PolicyRoom &room, int leaving)
{
    if (plan.memory.offloadFraction)
        return *plan.memory.offloadFraction;
    double share = 1;
    for (const PolicyLayer &layer : layers) {
        const double others = std::max(0.0, layer.module.offloadable - layer.input - layer.attention);
        const MemoLayer memo { Bytes { layer.input }, Bytes { layer.attention }, Bytes { others },
            layer.module.forward };
        share = std::min(share,
            memoTokenShare(memo, leaving + 2, BytesPerSecond { std::min(path.storeCap, path.loadCap) },
                Bytes { room.host / std::max(1.0, room.inFlight) }));
    }
    return share;
}

void applyMemo(const Plan &plan, std::vector<PolicyLayer> &layers, const OffloadPath &path, const PolicyRoom &room,
    int leaving, LayerFates &fates)
{
    if (!(path.storeCap > 0) || !(path.loadCap > 0))
        return keep(layers, fates);
    const double share = tokenShare(plan, layers, path, room, leaving);
    const auto swapped = std::size_t(memoLayers(int(layers.size())));
    for (std::size_t i = 0; i < swapped; ++i) {
        PolicyLayer &layer = layers[i];
        const double always = std::min(layer.module.offloadable, layer.input + layer.attention),
                     others = layer.module.offloadable - always;
        layer.module.leaves = true;
        layer.module.offloadable = always + share * others;
        layer.module.discarded = (1 - share) * others;
        addRecompute(layer, layer.withoutCore, 1 - share);
    }
    fates.swapped += int(swapped);
    fates.kept += int(layers.size() - swapped);
    fates.tokenShare = fates.tokenShare < 0 ? share : std::min(fates.tokenShare, share);
    fates.forwards += (1 - share) * double(swapped);
    fates.sparesAttention = true;
}

BlockPlan blockPlan(
    const Plan &plan, const std::vector<PolicyLayer> &layers, const OffloadPath &path, const PolicyRoom &room)
{
    std::vector<Block> blocks;
    for (const PolicyLayer &layer : layers)
        blocks.push_back({ Bytes { layer.module.offloadable }, Bytes { layer.input }, layer.wholeRecompute.total(),
            layer.module.inputGrad + layer.module.weightGrad + layer.module.recompute });
    BlockLimits limits;
    limits.room = Bytes { room.room };
    limits.out = BytesPerSecond { path.storeCap };
    limits.in = BytesPerSecond { path.loadCap };
    limits.waiting = std::max(0.0, room.inFlight - 1);
    limits.workspace = Bytes { room.workspace };
    limits.turn = Bytes { room.turn };
    limits.moving = std::max(1, plan.memory.offloadAhead) * std::max(1, plan.memory.offloadGroup / 2);
    return plan.memory.offloadPolicy == OffloadPolicy::Karma ? karma(blocks, limits) : proTrain(blocks, limits);
}

void applyBlocks(const Plan &plan, std::vector<PolicyLayer> &layers, const OffloadPath &path, const PolicyRoom &room,
    LayerFates &fates)
{
    const BlockPlan decided = blockPlan(plan, layers, path, room);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        OffloadModule &module = layers[i].module;
        switch (decided.fates[i]) {
        case BlockFate::Keep:
            ++fates.kept;
            break;
        case BlockFate::Swap:
            module.leaves = true;
            ++fates.swapped;
            break;
        case BlockFate::Recompute:
            module.resident = std::min(layers[i].input, module.offloadable);
            module.discarded = module.offloadable - module.resident;
            module.offloadable = 0;
            addRecompute(layers[i], layers[i].wholeRecompute, 1);
            ++fates.recomputed;
            fates.forwards += 1;
            break;
        }
    }
}

bool asksForPolicy(const Plan &plan)
{
    const MemoryStrategy &memory = movedOffGpu(plan);
    return memory.activationOffload != ActivationOffload::None && memory.offloadPolicy != OffloadPolicy::SsdTrain;
}

} // namespace

PolicyRoom policyRoom(const Workload &workload, int stage, const Program &program)
{
    PolicyRoom result;
    const std::vector<ChunkMemory> chunks = chunkMemory(workload, stage);
    const double microBatches = peakInFlight(program, 0)[std::size_t(stage)];
    double ends = 0, forWeightGrads = 0;
    for (const ChunkMemory &chunk : chunks) {
        ends += chunk.ends;
        forWeightGrads = std::max(forWeightGrads, chunk.forWeightGrads);
        result.workspace = std::max(result.workspace, chunk.atLayers.total() - chunk.atLayers.logits);
        result.turn = std::max(result.turn, chunk.loss + std::max(chunk.forward.total(), chunk.atHead.total()));
    }
    result.inFlight = microBatches * program.shape.chunks;
    result.room = roomForMicroBatches(workload, stage, kWorkConservingShare) - microBatches * ends
        - mostWaitingForWeightGrads(program.order[std::size_t(stage)]) * forWeightGrads;
    result.host = hostShare(workload, stage);
    return result;
}

int memoLayers(int layers)
{
    return std::max(0, layers - 2);
}

void applyPolicy(const Plan &plan, std::vector<PolicyLayer> &layers, const OffloadPath &path, const PolicyRoom &room,
    int leaving, LayerFates &fates)
{
    if (plan.memory.offloadPolicy == OffloadPolicy::Memo)
        applyMemo(plan, layers, path, room, leaving, fates);
    else
        applyBlocks(plan, layers, path, room, fates);
}

bool recomputesByPolicy(const Plan &plan)
{
    return asksForPolicy(plan) && whyPolicyRests(plan).empty();
}

std::string whyPolicyRests(const Plan &plan)
{
    if (!asksForPolicy(plan))
        return {};
    const std::string policy = labelOf(plan.memory.offloadPolicy);
    if (plan.memory.recompute != Recompute::None)
        return policy + " decides itself what is computed again, and this plan's " + toString(plan.memory.recompute)
            + " recomputation has decided already: what is left moves by SSDTrain's rule";
    if (const ScheduleTraits &schedule = traitsOf(plan);
        schedule.decidesAtRunTime() || schedule.isSliced() || schedule.pairs)
        return policy + " is not modelled under " + toString(plan.schedule)
            + ", which orders recomputation itself or pairs what it works on: tensors move by SSDTrain's rule";
    return {};
}

} // namespace trainyard
