// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/layer/layer_cost.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/cost/layer/expert_layer_cost.h"
#include "core/iteration/cost/layer/layer_timer_internal.h"
#include "core/iteration/cost/layer/shard_traffic.h"
#include "core/iteration/memory/chunk_memory.h"
#include "core/iteration/model_states/states_off_gpu.h"
#include "core/iteration/placement/calibrated.h"
#include "core/iteration/placement/recompute.h"
#include "core/iteration/placement/shard_exchange.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

/// Kernels that an eager framework launches for what is counted as one group of element-wise work: norms, residuals,
/// biases and dropout of a layer. They only matter where the host cannot keep up.
constexpr double kNormKernels = 10;

void addProjections(LayerTimer &timer, const ModelSpec &model)
{
    const double h = model.hidden, a = model.heads, g = model.kvHeads, t = timer.tensor;
    if (model.attention == AttentionKind::Grouped) {
        timer.product(timer.tokens, (a / t + 2 * std::max(1.0, g / t)) * model.headDim,
            h); // a rank has one key-value head at least
        timer.product(timer.tokens, h, a * model.headDim / t);
        return;
    }
    const LatentAttention &l = model.latent;
    const double queryWidth = a * (l.nopeDim + l.ropeDim) / t;
    if (l.queryRank > 0) { // compressions are replicated over the tensor group
        timer.product(timer.tokens / timer.spread, l.queryRank, h);
        timer.product(timer.tokens, queryWidth, l.queryRank);
    } else {
        timer.product(timer.tokens, queryWidth, h);
    }
    timer.product(timer.tokens / timer.spread, l.keyValueRank + l.ropeDim, h);
    timer.product(timer.tokens, a * (l.nopeDim + l.valueDim) / t, l.keyValueRank);
    timer.product(timer.tokens, h, a * l.valueDim / t);
}

/// All-reduces (or gather and scatter, the same bytes) after attention and after the MLP, in both directions.
void addTensorTraffic(
    ChunkCost &cost, const LayerTimer &timer, const Workload &workload, const LayerSite &site, int times)
{
    if (timer.tensor <= 1)
        return;
    const Bytes activation { timer.element * timer.tokens * workload.model.hidden };
    const bool isSplit = timer.spread > 1;
    const Seconds one = isSplit ? reduceScatterTime(activation, site.tensor) + allGatherTime(activation, site.tensor)
                                : allReduceTime(activation, site.tensor);
    const StackSpec &stack = workload.stack;
    const double hidden =
        stack.asyncTensor ? std::max(stack.asyncTensorOverlap, stack.tensorOverlap) : stack.tensorOverlap;
    const auto add = [&](OpSplit &split, Seconds products) { // pieces of a product hide no more than the product takes
        const Seconds all = one * times, beside = std::min(all * hidden, products);
        split.tensor += all - beside;
        split.compute += beside * stack.overlapSlowdown;
    };
    add(cost.forward, timer.forward.products);
    add(cost.inputGrad, timer.inputGrad.products + timer.weightGrad.products);
}

void addContextTraffic(ChunkCost &cost, const LayerTimer &timer, const Workload &workload, const LayerSite &site)
{
    const int ranks = site.ranks.degrees.context;
    if (ranks <= 1)
        return;
    const ModelSpec &model = workload.model;
    const double width = model.attention == AttentionKind::Latent ? model.latent.keyValueRank + model.latent.ropeDim
                                                                  : 2.0 * model.kvHeads * model.headDim / timer.tensor;
    if (workload.stack
            .contextGather) { // before attention, and nothing hides it; backward gathers again and scatters gradients
        const Bytes whole { timer.element * timer.tokens * width * ranks };
        const Seconds gather = allGatherTime(whole, site.context);
        cost.forward.context += gather;
        cost.inputGrad.context += gather + reduceScatterTime(whole, site.context);
        return;
    }
    // Keys and values go once round the ring while the blocks that are there are worked on.
    const Link &link = site.context.ranksPerNode >= ranks ? site.context.inside : site.context.between;
    const Seconds ring = transferTime(Bytes { timer.element * timer.tokens * width * (ranks - 1) }, ranks - 1, link);
    cost.forward.context += std::max(Seconds {}, ring - timer.forward.attention);
    cost.inputGrad.context += std::max(Seconds {}, ring * 2.0 - timer.inputGrad.attention);
}

LayerCompute computeOf(const LayerTimer &timer, ScheduleKind schedule, bool isRecomputed)
{
    return { timer.forward.total(), timer.inputGrad.total(), timer.weightGrad.total(), isRecomputed,
        traitsOf(schedule).splitsBackward };
}

/// Weights come before forward and backward where they lie off the GPU, gradients leave after backward, while the
/// neighbouring layer computes: PCIe is full duplex, and what outlasts the layer shows. Where backward is split, each
/// part hides its own: were one move shown by what both parts leave, faster weight gradients would make input gradients
/// longer.
void addStateTraffic(
    ChunkCost &cost, const LayerTimer &timer, const Workload &workload, const LayerSite &site, LayerElements elements)
{
    const double sharded = elements.dense / site.data.ranks + elements.experts / site.expertData.ranks;
    const bool sharesWeights = site.ranks.degrees.zeroStage >= 3;
    const LayerMoves moves =
        layerMoves(workload, site.states, sharesWeights ? sharded : elements.dense + elements.experts, sharded);
    cost.forward.offload += std::max(Seconds {}, moves.fetch - timer.forward.total());
    if (traitsOf(*workload.plan).splitsBackward) {
        cost.inputGrad.offload += std::max(Seconds {}, moves.fetch - timer.inputGrad.total());
        cost.weightGrad.offload += std::max(Seconds {}, moves.leave - timer.weightGrad.total());
    } else {
        cost.inputGrad.offload += std::max(
            Seconds {}, std::max(moves.fetch, moves.leave) - timer.inputGrad.total() - timer.weightGrad.total());
    }
    cost.weightsIn += moves.fetch;
    cost.gradientsOut += moves.leave;
}

/// Queries, keys and values of latent attention from what they were compressed to, with their positions.
void remakeUpProjections(LayerTimer &timer, const ModelSpec &model)
{
    const LatentAttention &l = model.latent;
    const double a = model.heads, t = timer.tensor;
    if (l.queryRank > 0)
        timer.productAgain(timer.tokens, a * (l.nopeDim + l.ropeDim) / t, l.queryRank);
    timer.productAgain(timer.tokens, a * (l.nopeDim + l.valueDim) / t, l.keyValueRank);
    timer.elementwiseAgain(4 * 2 * a * l.ropeDim * timer.tokens / t, 2);
}

/// An MLP of this width, whole: frameworks checkpoint it as one module.
void remakeDenseFfn(LayerTimer &timer, const ModelSpec &model, double width)
{
    const double f = width / timer.tensor, matrices = model.gatedFfn ? 2 : 1;
    timer.productAgain(timer.tokens, matrices * f, model.hidden);
    timer.productAgain(timer.tokens, model.hidden, f);
    timer.elementwiseAgain(2 * timer.tokens * f * (matrices + 1), kActivationKernels);
}

/// What memory-saving kernels add: outputs of norms and of activation functions made again (one pass, as forward),
/// saved tensors packed into fewer bits after forward and unpacked before backward: read for the scale, read, written.
void addMemoryKernels(LayerTimer &timer, const Workload &workload, bool expertLayer)
{
    const MemoryStrategy &memory = workload.plan->memory;
    const ModelSpec &model = workload.model;
    const ActivationShape shape = activationShape(workload);
    const double normBytes = 2 * 4 * timer.tokens / timer.spread * model.hidden; // two norms, read and written
    if (memory.recomputeNorms)
        timer.elementwiseAgain(normBytes, kNormKernels / 2);
    const bool remakesShared = memory.recomputeSharedExperts && expertLayer && model.sharedExpertFfn > 0;
    if (memory.recomputeActivationFunction) {
        const double width = expertLayer ? (remakesShared ? 0 : model.sharedExpertFfn / double(timer.tensor))
                + model.expertsPerToken * shape.imbalance / timer.spread * model.expertFfn
                                         : model.ffn / double(timer.tensor);
        timer.elementwiseAgain(2 * timer.tokens * width * ((model.gatedFfn ? 2 : 1) + 1), kActivationKernels);
    }
    if (memory.recomputeUpProjection && model.attention == AttentionKind::Latent)
        remakeUpProjections(timer, model);
    if (remakesShared)
        remakeDenseFfn(timer, model, model.sharedExpertFfn);
    if (shape.keptShare < 1) {
        ActivationShape plain = shape;
        plain.keptShare = 1;
        constexpr double kPasses = 3, kPackKernels = 12;
        const double elements = layerActivationBytes(model, expertLayer, plain, workload.stack) / shape.elementBytes;
        timer.elementwiseForward(2 * kPasses * elements, kPackKernels);
        timer.elementwiseInputGrad(2 * kPasses * elements, kPackKernels);
    }
}

/// Of shared experts that are made again: their products run on gathered tokens once more, and nothing hides that.
void addRemadeTraffic(ChunkCost &cost, const LayerTimer &timer, const Workload &workload, const LayerSite &site)
{
    const MemoryStrategy &memory = workload.plan->memory;
    if (!memory.recomputeSharedExperts || workload.model.sharedExpertFfn == 0 || timer.tensor <= 1
        || (memory.recompute == Recompute::Selective && workload.stack.operatorLevelSelective))
        return;
    const Bytes activation { timer.element * timer.tokens * workload.model.hidden };
    cost.recompute.tensor += timer.spread > 1
        ? reduceScatterTime(activation, site.tensor) + allGatherTime(activation, site.tensor)
        : allReduceTime(activation, site.tensor);
}

/// A dense layer where there are no experts.
ChunkCost layerCost(const Workload &workload, const LayerSite &site, ExpertLayerCost *experts)
{
    LayerTimer timer(workload, site);
    const ModelSpec &model = workload.model;
    ChunkCost traffic;
    addProjections(timer, model);
    timer.attention();
    if (experts)
        *experts = addExperts(timer, traffic, workload, site,
            { timer.forward.total(), timer.inputGrad.total() + timer.weightGrad.total() });
    else
        addDenseFfn(timer, model, model.ffn);
    // Two norms (read, write), two residual additions (read two, write one), rotary embedding of queries and keys.
    const double rotary =
        model.learnedPositions ? 0 : 4.0 * (model.heads + model.kvHeads) * model.headDim * timer.tokens / timer.tensor;
    timer.elementwise(2 * 10 * timer.tokens / timer.spread * model.hidden + rotary, kNormKernels);
    const LayerElements elements = layerElements(workload, experts);
    timer.accumulate(elements.dense + elements.experts, experts ? 6 : 4);
    addMemoryKernels(timer, workload, experts);
    // Behind experts nothing is left to reduce: what comes back from them is whole (exchange.h).
    addTensorTraffic(traffic, timer, workload, site, experts && model.sharedExpertFfn == 0 ? 1 : 2);
    addContextTraffic(traffic, timer, workload, site);
    if (experts)
        addRemadeTraffic(traffic, timer, workload, site);
    if (communicatesInLayers(workload, site))
        addShardTraffic(traffic,
            computeOf(timer, workload.plan->schedule, workload.plan->memory.recompute == Recompute::Full), workload,
            site, layerPieces(workload, experts, site.ranks.ofLargestShard()));
    addStateTraffic(traffic, timer, workload, site, elements);
    return timer.finish(traffic, workload.plan->memory.recompute);
}

} // namespace

void addDenseFfn(LayerTimer &timer, const ModelSpec &model, double width)
{
    if (width <= 0)
        return;
    const double f = width / timer.tensor, matrices = model.gatedFfn ? 2 : 1;
    timer.product(timer.tokens, matrices * f, model.hidden);
    timer.product(timer.tokens, model.hidden, f);
    timer.elementwise(2 * timer.tokens * f * (matrices + 1), kActivationKernels);
}

double attentionSpeed(const Workload &workload, const LayerSite &site)
{
    return workload.stack.kernelEfficiency * site.sustained.attention;
}

Link locationFabric(const Requested &asked, StageLocation location)
{
    if (asked.calibrated)
        if (const Link own = asked.calibrated->fabric[std::size_t(location.datacenter)][std::size_t(location.pool)];
            own.kind)
            return own;
    return nominalFabric(asked, location);
}

LayerSite layerSite(const Workload &workload, const RankSet &ranks)
{
    LayerSite site;
    site.ranks = ranks;
    site.gpu = &workload.gpu(ranks.at);
    site.sustained = workload.sustainedRates(ranks.at);
    site.device = deviceLink(*site.gpu, builtinNetwork());
    if (workload.calibrated)
        if (const Link own = workload.calibrated->device[std::size_t(ranks.at.datacenter)][std::size_t(ranks.at.pool)];
            own.kind)
            site.device = own;
    site.fabric = locationFabric(workload, ranks.at);
    const auto group = [&](GroupKind kind) {
        const Levels levels = ranks.levels(kind);
        return RankGroup { levels.ranks, levels.together, site.device, site.fabric };
    };
    site.tensor = group(GroupKind::Tensor);
    site.context = group(GroupKind::Context);
    site.expert = group(GroupKind::Expert);
    site.expertTensor = group(GroupKind::ExpertTensor);
    site.data = group(GroupKind::Data);
    site.expertData = group(GroupKind::ExpertData);
    site.states = stateRates(workload, ranks.at);
    return site;
}

bool communicatesInLayers(const Workload &workload, const LayerSite &site)
{
    return site.data.ranks > 1 && shardExchange(*workload.plan, workload.stack) == ShardExchange::InLayers;
}

ChunkCost layerCost(const Workload &workload, const LayerSite &site, bool expertLayer)
{
    ExpertLayerCost unread;
    return expertLayer ? layerCost(workload, site, unread) : layerCost(workload, site, nullptr);
}

ChunkCost layerCost(const Workload &workload, const LayerSite &site, ExpertLayerCost &experts)
{
    return layerCost(workload, site, &experts);
}

AttentionShare attentionShare(const Workload &workload, const LayerSite &site, bool expertLayer)
{
    const ModelSpec &model = workload.model;
    LayerTimer attention(workload, site), mlp(workload, site);
    addProjections(attention, model);
    attention.attention();
    if (expertLayer)
        addExpertKernels(mlp, workload, site);
    else
        addDenseFfn(mlp, model, model.ffn);
    for (LayerTimer *timer : { &attention, &mlp }) // each its norm and residual
        timer->elementwise(2 * 5 * timer->tokens / timer->spread * model.hidden, kNormKernels / 2);
    const auto share = [](Seconds of, Seconds other) { return (of + other).value > 0 ? of / (of + other) : 0.5; };
    AttentionShare shares { share(attention.forward.total(), mlp.forward.total()),
        share(attention.inputGrad.total(), mlp.inputGrad.total()),
        share(attention.weightGrad.total(), mlp.weightGrad.total()), 0, 0 };
    // Selective recomputation repeats the core alone, or, by operator, a part of everything.
    const bool isCore =
        workload.plan->memory.recompute == Recompute::Selective && !workload.stack.operatorLevelSelective;
    shares.recompute = isCore ? 1 : shares.forward;
    shares.core = share(attention.core, attention.forward.total() + mlp.forward.total() - attention.core);
    return shares;
}

ChunkCost embeddingCost(const Workload &workload, const LayerSite &site)
{
    LayerTimer timer(workload, site);
    const double bytes = 2 * timer.tokens * workload.model.hidden;
    timer.elementwiseForward(2 * bytes, 4);
    timer.elementwiseInputGrad(3 * bytes, 2); // scatter-add into the gradient table
    const double elements = embeddingParameters(workload.model) / timer.tensor;
    timer.accumulate(elements, 1);
    ChunkCost traffic;
    if (timer.tensor > 1)
        traffic.forward.tensor = timer.spread > 1 ? reduceScatterTime(Bytes { bytes * timer.element / 2 }, site.tensor)
                                                  : allReduceTime(Bytes { bytes * timer.element / 2 }, site.tensor);
    if (communicatesInLayers(workload, site))
        addShardTraffic(traffic, computeOf(timer, workload.plan->schedule, false), workload, site,
            { { LayerElements { elements, 0 } }, 1 });
    return timer.finish(traffic, Recompute::None);
}

ChunkCost headCost(const Workload &workload, const LayerSite &site)
{
    LayerTimer timer(workload, site);
    constexpr double kPaddedTo = 32; // elements: 16 bytes of the narrowest format
    const double columns = kPaddedTo * std::ceil(double(workload.model.vocab) / timer.tensor / kPaddedTo);
    timer.product(timer.tokens, columns, workload.model.hidden);
    // Cross entropy over the vocabulary: logits to 32 bits, softmax, gradient.
    timer.elementwiseForward(timer.tokens * columns * 10, 8);
    timer.elementwiseInputGrad(timer.tokens * columns * 6, 4);
    const double elements = columns * workload.model.hidden;
    timer.accumulate(elements, 1);
    ChunkCost traffic;
    if (timer.tensor > 1) {
        const Bytes activation { timer.element * timer.tokens * workload.model.hidden };
        if (timer.spread > 1)
            traffic.forward.tensor = allGatherTime(activation, site.tensor);
        traffic.inputGrad.tensor =
            timer.spread > 1 ? reduceScatterTime(activation, site.tensor) : allReduceTime(activation, site.tensor);
        traffic.forward.tensor += allReduceTime(Bytes { 8 * timer.tokens }, site.tensor); // row maxima and sums
    }
    if (communicatesInLayers(workload, site))
        addShardTraffic(traffic, computeOf(timer, workload.plan->schedule, false), workload, site,
            { { LayerElements { elements, 0 } }, 1 });
    return timer.finish(traffic, Recompute::None);
}

} // namespace trainyard
