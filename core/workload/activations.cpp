// SPDX-License-Identifier: GPL-3.0-or-later
// What a layer keeps for its backward pass, tensor by tensor. Two bytes an element unless a line says otherwise.
#include "core/workload/model_math.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Bytes of one token: `whole` is kept whole by every tensor-parallel rank unless sequence parallelism splits it,
/// `split` is divided among the ranks in any case.
struct TokenBytes {
    double whole = 0, split = 0;
    TokenBytes &operator+=(const TokenBytes &o)
    {
        whole += o.whole;
        split += o.split;
        return *this;
    }
};

TokenBytes groupedAttention(const ModelSpec &model, const ActivationShape &shape)
{
    const double query = 2.0 * model.heads * model.headDim;
    // With more ranks than key-value heads, heads are repeated: a rank holds at least one.
    const double keyValue =
        4.0 * model.kvHeads * model.headDim * std::max(1.0, shape.tensor / static_cast<double>(model.kvHeads));
    return {0, query + keyValue + query};   // Q; K and V; input of the output projection
}

TokenBytes latentAttention(const ModelSpec &model)
{
    const LatentAttention &l = model.latent;
    const double a = model.heads;
    // Compressed query and key-value before and after their norms; Q and K of nope + rope; V; output of the core.
    return {4.0 * l.queryRank + 4.0 * l.keyValueRank, 4 * a * (l.nopeDim + l.ropeDim) + 4 * a * l.valueDim};
}

/// The s x s part: log-sum-exp (fp32) of fused attention, or softmax and its dropout, per token.
double attentionCore(const ModelSpec &model, const ActivationShape &shape, const StackSpec &stack, bool masks)
{
    if (stack.flashAttention)
        return 4.0 * model.heads;
    if (shape.recompute == Recompute::Selective)
        return 0;
    return (masks ? 5.0 : 2.0) * model.heads * shape.sequence;   // softmax 2; with dropout also its mask 1 and output 2
}

/// Inner tensors of an MLP of this width: gate, up and product, or input and output of the activation function.
double mlpInner(const ModelSpec &model, double width)
{
    return (model.gatedFfn ? 6.0 : 4.0) * width;
}

/// Routed tokens: permuted input, expert tensors, and output before un-permutation; n token copies of this rank.
double routedExperts(const ModelSpec &model, const ActivationShape &shape, double tokens)
{
    const double copies = tokens * model.expertsPerToken * shape.imbalance / shape.tensor;
    return copies * (4.0 * model.hidden * shape.expertTensor + mlpInner(model, model.expertFfn));
}

} // namespace

double layerActivationBytes(const ModelSpec &model, bool expertLayer, const ActivationShape &shape,
                            const StackSpec &stack)
{
    const double h = model.hidden;
    const double tokens = shape.sequence * shape.microBatch / shape.context;
    const double wholeRanks = shape.sequenceParallel ? shape.tensor : 1;
    if (shape.recompute == Recompute::Full)
        return 2 * h * tokens / wholeRanks;

    const bool masks = stack.storesDropoutMasks && model.dropout;
    TokenBytes kept{8 * h, 0};                       // input and output of both norms
    if (masks)
        kept.whole += 2 * h;                         // one byte an element, after attention and after the MLP
    kept += model.attention == AttentionKind::Latent ? latentAttention(model) : groupedAttention(model, shape);
    kept.split += attentionCore(model, shape, stack, masks);
    double bytes = 0;
    if (expertLayer) {
        kept.whole += 10.0 * model.experts;          // router logits and probabilities, fp32 and bf16 copies
        kept.split += mlpInner(model, model.sharedExpertFfn);
        bytes += routedExperts(model, shape, tokens);
    } else {
        kept.split += mlpInner(model, model.ffn);
    }
    return bytes + tokens * (kept.whole / wholeRanks + kept.split / shape.tensor);
}

} // namespace trainyard
