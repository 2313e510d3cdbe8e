// SPDX-License-Identifier: GPL-3.0-or-later
// What a layer keeps for its backward pass, tensor by tensor, and what exists beside that while it runs. Bytes of one
// token on one GPU; `e` is the size of an activation element, `w` of an input kept for a weight gradient. Sources of
// every line in docs/model.md, "Activations".
#include "core/facts/hardware/element_bytes.h"
#include "core/facts/workload/saved_tensors.h"

#include <algorithm>

namespace trainyard {

namespace {

class LayerTokens {
public:
    LayerTokens(const ModelSpec &model, bool expertLayer, const ActivationShape &shape, const StackSpec &stack)
        : m_model(model)
        , m_shape(shape)
        , m_stack(stack)
        , m_isExpert(expertLayer)
        , e(shape.elementBytes)
        , w(shape.inputBytes)
        , m_split(shape.tensor)
        , m_whole(shape.sequenceParallel ? shape.tensor : 1)
        , m_copies(expertLayer ? model.expertsPerToken * shape.imbalance / sharers(shape) : 0)
        , m_masks(stack.storesDropoutMasks && model.dropout)
    {
    }

    [[nodiscard]] double input() const { return e * m_model.hidden / m_whole; }

    /// Everything from forward to backward but what selective recomputation of the attention core spares: calls
    /// visit(name, child, elements, bytes of an element, references) for each tensor in the order in which they are
    /// made.
    template <class Visit> void forEachKept(bool sparesCore, Visit visit) const
    {
        using enum LayerChild;
        const double h = m_model.hidden / m_whole;
        visit(SavedName::AttentionNormInput, Attention, h, e, 1);
        visit(SavedName::AttentionNormOutput, Attention, h, w, 1);
        attention(visit);
        if (!sparesCore)
            core(visit);
        if (m_masks)
            visit(SavedName::AttentionDropoutMask, Attention, h, 1, 1);
        visit(SavedName::MlpNormInput, Mlp, h, e, 1);
        // Feeds router and experts too, which take 16 bits.
        visit(SavedName::MlpNormOutput, Mlp, h, m_isExpert ? e : w, m_isExpert ? 2 : 1);
        if (m_isExpert) {
            visit(SavedName::RouterLogitsAndProbabilities, Mlp, m_model.experts / m_whole, 10, 1);
            routed(visit);
        }
        if (const double width = m_isExpert ? keptShared() : m_model.ffn; width > 0)
            mlp(visit, width / m_split);
        if (m_masks)
            visit(SavedName::MlpDropoutMask, Mlp, h, 1, 1);
    }

    /// Op-level selective checkpointing: of the products q, k, v, o, gate, up, down every second is recomputed; the
    /// attention output is kept. A compiler drops the last product's output, which backward does not read.
    template <class Visit> void forEachKeptByOperator(Visit visit) const
    {
        using enum LayerChild;
        const ModelSpec &m = m_model;
        visit(SavedName::LayerInput, Attention, m.hidden / m_whole, e, 1);
        if (m.attention == AttentionKind::Latent) {
            visit(SavedName::QueryAndAttentionOutput, Attention,
                (m.latent.queryRank + m.heads * 2.0 * m.latent.valueDim) / m_split, e, 1);
        } else {
            visit(SavedName::QueryAndAttentionOutput, Attention, 2.0 * m.heads * m.headDim / m_split, e, 1);
            visit(SavedName::Key, Attention, keyValue() / 2 / e / m_split, e, 1);
        }
        core(visit);
        const double width = m_isExpert ? m.sharedExpertFfn : m.ffn;
        visit(SavedName::MlpProducts, Mlp, width / m_split, e, 1);
        if (!m_stack.compiled)
            visit(SavedName::LayerOutput, Mlp, m.hidden / m_whole, e, 1);
        if (m_isExpert)
            visit(SavedName::ExpertProducts, Mlp, m_copies * (m.hidden * m_shape.expertTensor + m.expertFfn), e, 1);
    }

    /// Bytes of all of them.
    [[nodiscard]] double kept(bool sparesCore) const
    {
        double bytes = 0;
        forEachKept(
            sparesCore, [&](SavedName, LayerChild, double elements, double size, int) { bytes += elements * size; });
        return bytes;
    }
    [[nodiscard]] double keptByOperator() const
    {
        double bytes = 0;
        forEachKeptByOperator(
            [&](SavedName, LayerChild, double elements, double size, int) { bytes += elements * size; });
        return bytes;
    }

    /// Outputs of both norms; of the activation functions: what backward can make again by one cheap kernel.
    [[nodiscard]] double normOutputs() const { return (w + (m_isExpert ? e : w)) * m_model.hidden / m_whole; }
    [[nodiscard]] double activationOutputs() const
    {
        return w * (m_isExpert ? keptShared() / m_split + m_copies * m_model.expertFfn : m_model.ffn / m_split);
    }

    /// Inputs of the products and gradients of their outputs.
    [[nodiscard]] double forWeightGrads() const
    {
        const ModelSpec &m = m_model;
        const double h = m.hidden, width = m_isExpert ? m.sharedExpertFfn : m.ffn;
        const double gate = m.gatedFfn ? 2 : 1;
        double whole =
            (w + (m_isExpert ? e : w)) * h + 2 * e * h; // two norm outputs; gradients after attention and MLP
        double split = (w + gate * e) * width;
        if (m.attention == AttentionKind::Latent) {
            const LatentAttention &l = m.latent;
            whole += w * (l.queryRank + l.keyValueRank) + e * (l.queryRank + l.keyValueRank + l.ropeDim);
            split += m.heads * (w * l.valueDim + e * (2.0 * l.nopeDim + l.ropeDim + l.valueDim));
        } else {
            split += (w + e) * m.heads * m.headDim + keyValue();
        }
        if (m_isExpert && width == 0)
            whole -= e * h; // no shared expert: the output gradient of the layer is permuted, below
        const double routed = m_copies * ((w + e) * h * m_shape.expertTensor + (w + gate * e) * m.expertFfn);
        return whole / m_whole + split / m_split + routed;
    }

    /// Gradients at the worst moment of backward, less what backward has freed by then: the gradient of the layer's
    /// output with that of the inner MLP tensors, or, MLP done, with those of attention. Gathered input of a
    /// sequence-parallel layer.
    [[nodiscard]] double temporaries() const
    {
        const ModelSpec &m = m_model;
        const double gate = m.gatedFfn ? 2 : 1;
        const double inner = m_isExpert
            ? m_copies * e * (m.hidden + gate * m.expertFfn) + gate * e * m.sharedExpertFfn / m_split
            : gate * e * m.ffn / m_split;
        const double freed = m_isExpert ? sumOf([&](auto visit) { routed(visit); })
                                        : sumOf([&](auto visit) { mlp(visit, m.ffn); }) / m_split;
        const double heads = m.attention == AttentionKind::Latent
            ? m.heads * e * (2.0 * m.latent.nopeDim + 2.0 * m.latent.ropeDim + m.latent.valueDim)
            : e * m.heads * m.headDim + keyValue();
        // Gradients of probabilities; plain tensor operations also have those of masked and of raw scores.
        const double scores = m_stack.flashAttention
            ? 0
            : e * m.heads * m_shape.sequence / m_shape.context * (m_stack.eagerAttention ? 3 : 1);
        const double attention = (heads + scores) / m_split - freed;
        const double gathered = m_shape.sequenceParallel && m_shape.tensor > 1 ? e * m.hidden : 0;
        return input() + gathered + std::max(inner, attention);
    }

private:
    /// Ranks of a tensor group over which a token's visits are spread, each rank of an expert's own tensor group
    /// counted: all where the sequence is split or slices of it travel, else those of the expert, since every rank then
    /// computes the tokens of the group. As its time counts them (cost/layer).
    static int sharers(const ActivationShape &shape)
    {
        return shape.sequenceParallel || shape.slicesTokens ? shape.tensor : std::min(shape.tensor, shape.expertTensor);
    }

    /// Width of the shared experts whose inner tensors are kept.
    [[nodiscard]] double keptShared() const { return m_shape.recomputeSharedExperts ? 0 : m_model.sharedExpertFfn; }

    /// K and V of one token. With more ranks than key-value heads, heads are repeated: a rank holds at least one.
    [[nodiscard]] double keyValue() const
    {
        return 2 * e * m_model.kvHeads * m_model.headDim
            * std::max(1.0, m_shape.tensor / static_cast<double>(m_model.kvHeads));
    }

    template <class Tensors> [[nodiscard]] static double sumOf(Tensors tensors)
    {
        double bytes = 0;
        tensors([&](SavedName, LayerChild, double elements, double size, int) { bytes += elements * size; });
        return bytes;
    }

    template <class Visit> void attention(Visit &visit) const
    {
        using enum LayerChild;
        const double a = m_model.heads;
        const bool isLatent = m_model.attention == AttentionKind::Latent;
        const double output = a * (isLatent ? m_model.latent.valueDim : m_model.headDim) / m_split;
        if (isLatent) { // compressed query and key-value before and after their norms; Q and K of nope + rope; V
            const LatentAttention &l = m_model.latent;
            visit(SavedName::CompressedQueryAndKeyValue, Attention, (l.queryRank + l.keyValueRank) / m_whole, e, 1);
            visit(SavedName::NormedQueryAndKeyValue, Attention, (l.queryRank + l.keyValueRank) / m_whole, w, 1);
            const double query = a * (l.nopeDim + l.ropeDim) / m_split;
            if (!m_shape.recomputeUpProjection) {
                visit(SavedName::QueryAndKey, Attention, 2 * query, e, 1);
                visit(SavedName::Value, Attention, output, e, 1);
            } else if (l.queryRank == 0) { // queries were not compressed
                visit(SavedName::Query, Attention, query, e, 1);
            }
        } else {
            visit(SavedName::Query, Attention, output, e, 1);
            visit(SavedName::KeyAndValue, Attention, keyValue() / e / m_split, e, 1);
        }
        // Output of the core, which fused attention reads again and the projection keeps too; its 8-bit copy for the
        // projection; with all-to-all context parallelism the tensor before the exchange as well.
        visit(SavedName::AttentionOutput, Attention, output, e, w < e ? 1 : 2);
        if (w < e)
            visit(SavedName::QuantizedAttentionOutput, Attention, output, w, 1);
        if (m_stack.contextAllToAll && m_shape.context > 1)
            visit(SavedName::AttentionOutputBeforeTheExchange, Attention, output, e, 1);
    }

    /// The s x s part: log-sum-exp (fp32) of fused attention, or softmax and, with dropout, its mask and output.
    template <class Visit> void core(Visit &visit) const
    {
        using enum LayerChild;
        if (m_stack.flashAttention)
            return visit(SavedName::LogSumExp, Attention, m_model.heads / m_split, 4, 1);
        const double scores = m_model.heads * m_shape.sequence / m_split;
        visit(SavedName::Softmax, Attention, scores, e, m_masks ? 1 : 2);
        if (m_masks) {
            visit(SavedName::SoftmaxDropoutMask, Attention, scores, 1, 1);
            visit(SavedName::SoftmaxDropoutOutput, Attention, scores, e, 1);
        }
    }

    /// Inner tensors of an MLP of this width: gate, up and product, or input and output of the activation function.
    template <class Visit> void mlp(Visit &visit, double width) const
    {
        visit(SavedName::ActivationFunctionInput, LayerChild::Mlp, (m_model.gatedFfn ? 2 : 1) * width, e, 1);
        visit(SavedName::ActivationFunctionOutput, LayerChild::Mlp, width, w, 1);
    }

    /// Routed tokens: permuted input, expert tensors, and, where the stack keeps it, the output before un-permutation.
    template <class Visit> void routed(Visit &visit) const
    {
        using enum LayerChild;
        const double hidden = m_copies * m_model.hidden * m_shape.expertTensor;
        visit(SavedName::PermutedTokens, Mlp, hidden, w, 1);
        if (m_stack.storesExpertOutputs && !m_shape.memoryEfficientPermute)
            visit(SavedName::ExpertOutputs, Mlp, hidden, e, 1);
        mlp(visit, m_copies * m_model.expertFfn);
    }

    const ModelSpec &m_model;
    const ActivationShape &m_shape;
    const StackSpec &m_stack;
    bool m_isExpert;
    double e, w;
    double m_split, m_whole; // ranks that share split tensors; whole ones (norms, layer input)
    double m_copies; // rows of the experts of a rank for each token of the rank
    bool m_masks;
};

/// Whether tensors are kept or made again one by one: not by operators, not by layers.
bool keepsByTensor(const ActivationShape &shape, const StackSpec &stack)
{
    return shape.recompute == Recompute::None
        || (shape.recompute == Recompute::Selective && !stack.operatorLevelSelective);
}

ActivationShape withoutRemaking(ActivationShape shape)
{
    shape.recomputeUpProjection = shape.recomputeSharedExperts = false;
    return shape;
}

} // namespace

double keptInputBytes(Precision precision, const StackSpec &stack)
{
    return stack.keepsQuantizedInputs && elementBits(precision) <= 8 ? elementBytes(precision) : weightBytes(precision);
}

double gatheredWeightBytes(Precision precision, const StackSpec &stack)
{
    return stack.gathersQuantized && elementBits(precision) <= 8 ? elementBytes(precision) : weightBytes(precision);
}

LayerActivations layerActivations(
    const ModelSpec &model, bool expertLayer, const ActivationShape &shape, const StackSpec &stack)
{
    const bool remakesProducts = shape.recomputeUpProjection || shape.recomputeSharedExperts;
    if (remakesProducts && !keepsByTensor(shape, stack)) // other recomputation leaves nothing of them
        return layerActivations(model, expertLayer, withoutRemaking(shape), stack);
    if (remakesProducts) {
        LayerActivations bytes = layerActivations(model, expertLayer, withoutRemaking(shape), stack);
        bytes.kept = 0;
        for (const SavedTensor &tensor : savedTensors(model, expertLayer, shape, stack))
            bytes.kept += tensor.bytes;
        return bytes;
    }
    const LayerTokens token(model, expertLayer, shape, stack);
    const double tokens = shape.sequence * shape.microBatch / shape.context;
    LayerActivations bytes;
    bytes.whole = tokens * token.kept(false);
    bytes.forWeightGrads = tokens * token.forWeightGrads();
    bytes.temporaries = tokens * token.temporaries();
    switch (shape.recompute) {
    case Recompute::None:
        bytes.kept = bytes.whole;
        break;
    case Recompute::Full:
        bytes.kept = tokens * token.input();
        break;
    case Recompute::Selective:
        bytes.kept =
            stack.operatorLevelSelective ? tokens * token.keptByOperator() : tokens * token.kept(!stack.flashAttention);
        break;
    }
    const bool isByTensor = keepsByTensor(shape, stack);
    if (isByTensor && shape.recomputeNorms)
        bytes.kept -= tokens * token.normOutputs();
    if (isByTensor && shape.recomputeActivationFunction)
        bytes.kept -= tokens * token.activationOutputs();
    bytes.kept *= shape.keptShare;
    return bytes;
}

std::vector<SavedTensor> savedTensors(
    const ModelSpec &model, bool expertLayer, const ActivationShape &shape, const StackSpec &stack)
{
    const LayerTokens token(model, expertLayer, shape, stack);
    const double tokens = shape.sequence * shape.microBatch / shape.context;
    std::vector<SavedTensor> tensors;
    const bool isByTensor = keepsByTensor(shape, stack);
    const auto add = [&](SavedName name, LayerChild child, double elements, double size, int references) {
        const bool isRecomputed =
            (shape.recomputeNorms && (name == SavedName::AttentionNormOutput || name == SavedName::MlpNormOutput))
            || (shape.recomputeActivationFunction && name == SavedName::ActivationFunctionOutput);
        if (isByTensor && isRecomputed)
            return;
        size *= shape.keptShare;
        if (elements > 0 && size > 0) // a model without that part keeps nothing of it
            tensors.push_back({ name, child, tokens * elements, tokens * elements * size, references });
    };
    if (shape.recompute == Recompute::Full)
        add(SavedName::LayerInput, LayerChild::Attention, token.input() / shape.elementBytes, shape.elementBytes, 1);
    else if (shape.recompute == Recompute::Selective && stack.operatorLevelSelective)
        token.forEachKeptByOperator(add);
    else
        token.forEachKept(shape.recompute == Recompute::Selective && !stack.flashAttention, add);
    return tensors;
}

double layerActivationBytes(
    const ModelSpec &model, bool expertLayer, const ActivationShape &shape, const StackSpec &stack)
{
    return layerActivations(model, expertLayer, shape, stack).kept;
}

} // namespace trainyard
