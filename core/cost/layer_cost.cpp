// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/layer_cost.h"

#include "core/cost/gemm.h"
#include "core/workload/model_math.h"

#include <algorithm>

namespace trainyard {

namespace {

/// One layer's arithmetic on one GPU, gathered kernel by kernel.
class LayerTimer {
public:
    LayerTimer(const Workload &workload, const LayerSite &site)
        : m_work(workload), m_site(site), m_gpu(*site.gpu), m_precision(workload.plan->workload.precision)
    {
        const Plan &plan = *workload.plan;
        tensor = plan.parallelism.tensor;
        sequence = double(plan.workload.sequenceLength) / plan.parallelism.context;
        tokens = plan.workload.microBatch * sequence;
        spread = plan.parallelism.usesSequenceParallel() ? tensor : 1;
    }

    /// y = x W with W split over the tensor group, and its two gradients.
    void product(ChunkCost &cost, double m, double n, double k) const
    {
        cost.forward.compute += kernel(gemmTime(m_gpu, m_precision, {m, n, k}));
        cost.inputGrad.compute += kernel(gemmTime(m_gpu, m_precision, {m, k, n}));
        cost.weightGrad.compute += kernel(gemmTime(m_gpu, m_precision, {n, k, m}));
    }

    /// One grouped kernel over `groups` experts of m rows each: a single launch.
    void groupedProduct(ChunkCost &cost, double groups, double m, double n, double k) const
    {
        const Seconds launch = microseconds(m_gpu.gemm.launchUs);
        const auto grouped = [&](GemmShape shape) {
            const Seconds one = gemmTime(m_gpu, m_precision, shape);
            return kernel(launch + std::max(Seconds{}, one - launch) * groups);
        };
        cost.forward.compute += grouped({m, n, k});
        cost.inputGrad.compute += grouped({m, k, n});
        cost.weightGrad.compute += grouped({n, k, m});
    }

    /// A memory-bound kernel that moves `bytes`.
    [[nodiscard]] Seconds elementwise(double bytes) const
    {
        const double rate = m_gpu.memoryGBps * 1e9 * m_gpu.gemm.memoryFraction;
        const Seconds floor = microseconds(m_work.stack.cudaGraphs ? 0 : m_gpu.gemm.launchUs);
        return kernel(std::max(floor, Bytes{bytes * m_work.stack.elementwisePasses} / BytesPerSecond{rate}));
    }

    [[nodiscard]] Seconds kernel(Seconds time) const { return time + microseconds(m_work.stack.kernelOverheadUs); }

    [[nodiscard]] Seconds attentionKernel(double flops) const
    {
        return kernel(Flops{flops} / FlopsPerSecond{m_gpu.peakFlops(attentionPrecision()) * m_gpu.attentionFraction});
    }

    /// Fused attention runs in 16 bits also where the products run in 8 or 4.
    [[nodiscard]] Precision attentionPrecision() const
    {
        return m_precision >= Precision::Fp8 ? Precision::Bf16 : m_precision;
    }

    double sequence = 0, tokens = 0;   // of one context rank
    int tensor = 1, spread = 1;        // spread: ranks that share the tokens outside attention and MLP

private:
    const Workload &m_work;
    const LayerSite &m_site;
    const GpuSpec &m_gpu;
    Precision m_precision;
};

struct HeadDims { double query, key, value; };

HeadDims headDims(const ModelSpec &model)
{
    if (model.attention == AttentionKind::Latent)
        return {double(model.latent.nopeDim + model.latent.ropeDim), double(model.latent.nopeDim + model.latent.ropeDim),
                double(model.latent.valueDim)};
    return {double(model.headDim), double(model.headDim), double(model.headDim)};
}

void addProjections(ChunkCost &cost, const LayerTimer &timer, const ModelSpec &model)
{
    const double h = model.hidden, a = model.heads, g = model.kvHeads, t = timer.tensor;
    if (model.attention == AttentionKind::Grouped) {
        timer.product(cost, timer.tokens, (a + 2 * g) * model.headDim / t, h);
        timer.product(cost, timer.tokens, h, a * model.headDim / t);
        return;
    }
    const LatentAttention &l = model.latent;
    const double queryWidth = a * (l.nopeDim + l.ropeDim) / t;
    if (l.queryRank > 0) {   // compressions are replicated over the tensor group
        timer.product(cost, timer.tokens / timer.spread, l.queryRank, h);
        timer.product(cost, timer.tokens, queryWidth, l.queryRank);
    } else {
        timer.product(cost, timer.tokens, queryWidth, h);
    }
    timer.product(cost, timer.tokens / timer.spread, l.keyValueRank + l.ropeDim, h);
    timer.product(cost, timer.tokens, a * (l.nopeDim + l.valueDim) / t, l.keyValueRank);
    timer.product(cost, timer.tokens, h, a * l.valueDim / t);
}

/// Core attention; returns its forward share, which selective recomputation repeats.
Seconds addAttention(ChunkCost &cost, const LayerTimer &timer, const Workload &workload)
{
    const ModelSpec &model = workload.model;
    const double batch = workload.plan->workload.microBatch, keys = workload.plan->workload.sequenceLength;
    const double headsHere = double(model.heads) / timer.tensor;
    const HeadDims dims = headDims(model);
    const double scores = batch * headsHere * timer.sequence * keys;   // elements of the score matrix
    if (workload.stack.flashAttention) {
        // A causal kernel skips half of the tiles. Backward: five products for the forward's two.
        const Seconds forward = timer.attentionKernel(2 * scores * (dims.query + dims.value) / 2);
        cost.forward.compute += forward;
        cost.inputGrad.compute += forward * 2.5;
        return forward;
    }
    ChunkCost products;
    const GemmShape rows{batch * headsHere * timer.sequence, keys, dims.query};
    timer.product(products, rows.m, rows.n, rows.k);
    timer.product(products, rows.m, dims.value, keys);
    // Softmax with mask and scale: read and write 16 bits; dropout: read, write, and a byte of mask.
    const Seconds softmax = timer.elementwise(scores * (workload.stack.storesDropoutMasks ? 9 : 4));
    const Seconds forward = products.forward.compute + softmax;
    cost.forward.compute += forward;
    cost.inputGrad.compute += products.inputGrad.compute + products.weightGrad.compute + softmax;
    return forward;
}

void addDenseFfn(ChunkCost &cost, const LayerTimer &timer, const ModelSpec &model, double width)
{
    if (width <= 0)
        return;
    const double f = width / timer.tensor, matrices = model.gatedFfn ? 2 : 1;
    timer.product(cost, timer.tokens, matrices * f, model.hidden);
    timer.product(cost, timer.tokens, model.hidden, f);
    const double traffic = 2 * timer.tokens * f * (matrices + 1);
    cost.forward.compute += timer.elementwise(traffic);
    cost.inputGrad.compute += timer.elementwise(traffic * 1.5);
}

void addExperts(ChunkCost &cost, const LayerTimer &timer, const Workload &workload)
{
    const ModelSpec &model = workload.model;
    const Parallelism &p = workload.plan->parallelism;
    const double load = workload.plan->moe.load();
    const double localExperts = double(model.experts) / p.expert;
    const double rows = timer.tokens / timer.spread * model.expertsPerToken * load * p.expertTensor;
    const double f = double(model.expertFfn) / p.expertTensor, matrices = model.gatedFfn ? 2 : 1;
    timer.product(cost, timer.tokens / timer.spread, model.experts, model.hidden);   // router
    timer.groupedProduct(cost, localExperts, rows / localExperts, matrices * f, model.hidden);
    timer.groupedProduct(cost, localExperts, rows / localExperts, model.hidden, f);
    const double traffic = 2 * rows * (f * (matrices + 1) + 4 * model.hidden);   // activation, permute and unpermute
    cost.forward.compute += timer.elementwise(traffic);
    cost.inputGrad.compute += timer.elementwise(traffic * 1.5);
    addDenseFfn(cost, timer, model, model.sharedExpertFfn);
}

Seconds exposed(Seconds communication, double hiddenShare)
{
    return communication * (1 - std::clamp(hiddenShare, 0.0, 1.0));
}

/// All-reduces (or gather and scatter, the same bytes) after attention and after the MLP, in both directions.
void addTensorTraffic(ChunkCost &cost, const LayerTimer &timer, const Workload &workload, const LayerSite &site, int times)
{
    if (timer.tensor <= 1)
        return;
    const Bytes activation{2 * timer.tokens * workload.model.hidden};
    const bool isSplit = timer.spread > 1;
    const Seconds one = isSplit ? reduceScatterTime(activation, site.tensor) + allGatherTime(activation, site.tensor)
                                : allReduceTime(activation, site.tensor);
    const Seconds each = exposed(one, workload.stack.tensorOverlap) * times;
    cost.forward.tensor += each;
    cost.inputGrad.tensor += each;
}

void addContextTraffic(ChunkCost &cost, const LayerTimer &timer, const Workload &workload, const LayerSite &site, Seconds attention)
{
    const int ranks = workload.plan->parallelism.context;
    if (ranks <= 1)
        return;
    const ModelSpec &model = workload.model;
    const double width = model.attention == AttentionKind::Latent ? model.latent.keyValueRank + model.latent.ropeDim
                                                                  : 2.0 * model.kvHeads * model.headDim / timer.tensor;
    // Keys and values go once round the ring while the blocks that are there are worked on.
    const Link &link = site.context.ranksPerNode >= ranks ? site.context.inside : site.context.between;
    const Seconds ring = transferTime(Bytes{2 * timer.tokens * width * (ranks - 1)}, ranks - 1, link);
    cost.forward.context += std::max(Seconds{}, ring - attention);
    cost.inputGrad.context += std::max(Seconds{}, ring * 2.0 - attention * 2.5);
}

void addExpertTraffic(ChunkCost &cost, const LayerTimer &timer, const Workload &workload, const LayerSite &site)
{
    if (workload.plan->parallelism.expert <= 1)
        return;
    const Bytes dispatched{2 * timer.tokens / timer.spread * workload.model.hidden * workload.model.expertsPerToken};
    const Seconds one = allToAllTime(dispatched, site.expert);   // dispatch, and combine the other way
    cost.forward.expert += one * 2.0;
    cost.inputGrad.expert += one * 2.0;
}

/// ZeRO-3 gathers a layer's weights before forward and before backward, while the neighbour computes.
void addParameterGather(ChunkCost &cost, const Workload &workload, const LayerSite &site, bool expertLayer)
{
    if (workload.plan->parallelism.zeroStage < 3 || site.data.ranks <= 1)
        return;
    const LayerParameters parameters = layerParameters(workload.model, expertLayer);
    const Parallelism &p = workload.plan->parallelism;
    const Bytes weights{weightBytes(workload.plan->workload.precision) * ((parameters.total() - parameters.experts) / p.tensor + parameters.experts / (p.expert * p.expertTensor))};
    const Seconds gather = allGatherTime(weights, site.data);
    const double hidden = workload.stack.parameterOverlap;
    cost.forward.data += std::max(Seconds{}, gather - cost.forward.compute * hidden);
    cost.inputGrad.data += std::max(Seconds{}, gather - (cost.inputGrad.compute + cost.weightGrad.compute) * hidden);
}

} // namespace

LayerSite layerSite(const Workload &workload, StageSeat seat, int dataParallel)
{
    const GpuSpec &gpu = workload.gpu(seat);
    const NetworkSpec &network = builtinNetwork();
    const Parallelism &p = workload.plan->parallelism;
    LayerSite site;
    site.gpu = &gpu;
    site.device = gpu.linkGBps > 0 ? Link{gbytesPerSecond(gpu.linkGBps), &network.device}
                                   : Link{gbytesPerSecond(gpu.pcieGBps), &network.pcie};
    site.fabric = {gbitsPerSecond(workload.fabricGbps(seat)), &network.fabric};
    // GPUs that reach each other without the fabric: the node, or the larger domain of rack-scale NVLink.
    const int domain = std::max(workload.pool(seat).gpusPerNode, gpu.linkDomain > 8 && gpu.linkGBps > 0 ? gpu.linkDomain : 0);
    const auto group = [&](int ranks, int stride) {
        return RankGroup{ranks, std::clamp(domain / std::max(1, stride), 1, std::max(1, ranks)), site.device, site.fabric};
    };
    site.tensor = group(p.tensor, 1);
    site.context = group(p.context, p.tensor);
    site.expert = group(p.expert, p.expertTensor > 1 ? p.expertTensor : p.tensor > 1 && !p.usesSequenceParallel() ? p.tensor : 1);
    site.data = group(dataParallel * p.context, p.tensor);
    return site;
}

ChunkCost layerCost(const Workload &workload, const LayerSite &site, bool expertLayer)
{
    const LayerTimer timer(workload, site);
    const ModelSpec &model = workload.model;
    ChunkCost cost;
    addProjections(cost, timer, model);
    const Seconds attention = addAttention(cost, timer, workload);
    if (expertLayer)
        addExperts(cost, timer, workload);
    else
        addDenseFfn(cost, timer, model, model.ffn);
    // Two norms (read, write), two residual additions (read two, write one), rotary embedding of queries and keys.
    const double rotary = model.learnedPositions ? 0 : 4.0 * (model.heads + model.kvHeads) * model.headDim * timer.tokens / timer.tensor;
    const double traffic = 2 * 10 * timer.tokens / timer.spread * model.hidden + rotary;
    cost.forward.compute += timer.elementwise(traffic);
    cost.inputGrad.compute += timer.elementwise(traffic * 1.5);
    addTensorTraffic(cost, timer, workload, site, expertLayer && timer.spread > 1 && model.sharedExpertFfn == 0 ? 1 : 2);
    addContextTraffic(cost, timer, workload, site, attention);
    if (expertLayer)
        addExpertTraffic(cost, timer, workload, site);
    addParameterGather(cost, workload, site, expertLayer);
    switch (workload.plan->memory.recompute) {
    case Recompute::None: break;
    case Recompute::Full: cost.recompute = cost.forward; break;
    case Recompute::Selective:   // the fused kernel recomputes by itself, inside its 2.5
        if (!workload.stack.flashAttention)
            cost.recompute.compute = attention;
        break;
    }
    return cost;
}

ChunkCost embeddingCost(const Workload &workload, const LayerSite &site)
{
    const LayerTimer timer(workload, site);
    ChunkCost cost;
    const double bytes = 2 * timer.tokens * workload.model.hidden;
    cost.forward.compute = timer.elementwise(2 * bytes);
    cost.weightGrad.compute = timer.elementwise(3 * bytes);   // scatter-add into the gradient table
    if (timer.tensor > 1)
        cost.forward.tensor = exposed(timer.spread > 1 ? reduceScatterTime(Bytes{bytes}, site.tensor)
                                                       : allReduceTime(Bytes{bytes}, site.tensor), 0);
    return cost;
}

ChunkCost headCost(const Workload &workload, const LayerSite &site)
{
    const LayerTimer timer(workload, site);
    const double columns = double(workload.model.vocab) / timer.tensor;
    ChunkCost cost;
    timer.product(cost, timer.tokens, columns, workload.model.hidden);
    // Cross entropy over the vocabulary: logits to 32 bits, softmax, gradient.
    cost.forward.compute += timer.elementwise(timer.tokens * columns * 10);
    cost.inputGrad.compute += timer.elementwise(timer.tokens * columns * 6);
    if (timer.tensor > 1) {
        const Bytes activation{2 * timer.tokens * workload.model.hidden};
        if (timer.spread > 1)
            cost.forward.tensor = allGatherTime(activation, site.tensor);
        cost.inputGrad.tensor = timer.spread > 1 ? reduceScatterTime(activation, site.tensor) : allReduceTime(activation, site.tensor);
        cost.forward.tensor += allReduceTime(Bytes{8 * timer.tokens}, site.tensor);   // row maxima and sums
    }
    return cost;
}

} // namespace trainyard
