// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/served_model.h"

#include "core/facts/workload/model_math.h"
#include "core/iteration/cost/kernels/grouped_gemm.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr double kElementBytes = 2;
constexpr Nanoseconds kLongest = 100'000'000'000'000; // more than a day: no bubble holds it, and sums stay in range

Nanoseconds ticks(Seconds time)
{
    return std::clamp<Nanoseconds>(toNanoseconds(time), 1, kLongest);
}

/// FLOPs and seconds of products, summed.
struct Products {
    const GpuSpec &gpu;
    double flops = 0;
    Seconds time;

    void add(double count, double m, double n, double k)
    {
        flops += count * 2 * m * n * k;
        time += gemmTime(gpu, Precision::Bf16, { m, n, k }) * count;
    }
    void addGrouped(double count, double groups, double m, double n, double k)
    {
        flops += count * groups * 2 * m * n * k;
        time += groupedGemmTime(gpu, Precision::Bf16, groups, { m, n, k }) * count;
    }
    void addMlp(double count, double tokens, double hidden, double inner, bool isGated)
    {
        add(count, tokens, inner * (isGated ? 2 : 1), hidden);
        add(count, tokens, hidden, inner);
    }
};

void addAttention(Products &products, const ModelSpec &model, double tokens)
{
    if (model.attention == AttentionKind::Latent) {
        const LatentAttention &latent = model.latent;
        const double query = double(model.heads) * (latent.nopeDim + latent.ropeDim);
        if (latent.queryRank > 0)
            products.add(model.layers, tokens, latent.queryRank, model.hidden);
        products.add(model.layers, tokens, query, latent.queryRank > 0 ? latent.queryRank : model.hidden);
        products.add(model.layers, tokens, latent.keyValueRank + latent.ropeDim, model.hidden);
        products.add(
            model.layers, tokens, double(model.heads) * (latent.nopeDim + latent.valueDim), latent.keyValueRank);
        products.add(model.layers, tokens, model.hidden, double(model.heads) * latent.valueDim);
        return;
    }
    products.add(model.layers, tokens, double(model.heads + 2 * model.kvHeads) * model.headDim, model.hidden);
    products.add(model.layers, tokens, model.hidden, double(model.heads) * model.headDim);
}

double headElements(const ModelSpec &model) // of queries and of values together, halved: a d where both are alike
{
    if (model.attention == AttentionKind::Latent)
        return model.heads * (model.latent.nopeDim + model.latent.ropeDim + model.latent.valueDim) / 2.0;
    return double(model.heads) * model.headDim;
}

} // namespace

Flops prefillFlops(const ModelSpec &model, double tokens)
{
    return Flops { 2 * activeParameters(model) * tokens + 2 * model.layers * tokens * tokens * headElements(model) };
}

FlopsPerSecond prefillRate(const GpuSpec &gpu, const ModelSpec &model, double tokens)
{
    Products products { gpu, 0, {} };
    addAttention(products, model, tokens);
    double expertLayers = 0;
    for (int layer = 0; layer < model.layers; ++layer)
        expertLayers += model.isExpertLayer(layer);
    if (model.layers > expertLayers)
        products.addMlp(model.layers - expertLayers, tokens, model.hidden, model.ffn, model.gatedFfn);
    if (expertLayers > 0) {
        const double rows = std::max(1.0, tokens * model.expertsPerToken / model.experts);
        products.addGrouped(
            expertLayers, model.experts, rows, double(model.expertFfn) * (model.gatedFfn ? 2 : 1), model.hidden);
        products.addGrouped(expertLayers, model.experts, rows, model.hidden, model.expertFfn);
        if (model.sharedExpertFfn > 0)
            products.addMlp(expertLayers, tokens, model.hidden, model.sharedExpertFfn, model.gatedFfn);
    }
    return FlopsPerSecond { products.flops / products.time.value };
}

Seconds prefillTime(const GpuSpec &gpu, const ModelSpec &model, double tokens, int prompts)
{
    return Flops { prefillFlops(model, tokens).value * prompts } / prefillRate(gpu, model, tokens * prompts);
}

Bytes kvCacheBytes(const ModelSpec &model, double tokens)
{
    const double elements = model.attention == AttentionKind::Latent ? model.latent.keyValueRank + model.latent.ropeDim
                                                                     : 2.0 * model.kvHeads * model.headDim;
    return Bytes { model.layers * elements * kElementBytes * tokens };
}

Bytes servedWeights(const ModelSpec &model)
{
    return Bytes { kElementBytes * totalParameters(model) };
}

SliceTime sliceTime(const GpuSpec &gpu, const ModelSpec &model, int stages, double tokens, const Link &hop,
    const Link &decode, int prompts)
{
    const double all = tokens * prompts; // bytes grow with them
    SliceTime slice;
    slice.compute = ticks(prefillTime(gpu, model, tokens, prompts) * (1.0 / stages));
    slice.hop = stages > 1 ? ticks(transferTime(Bytes { kElementBytes * all * model.hidden }, 1, hop)) : 0;
    slice.kvMove = ticks(transferTime(kvCacheBytes(model, all) * (1.0 / stages), 1, decode));
    return slice;
}

} // namespace trainyard
