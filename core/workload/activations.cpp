// SPDX-License-Identifier: GPL-3.0-or-later
// What a layer keeps for its backward pass, tensor by tensor, and what exists beside that while it runs. Bytes of one token
// on one GPU; `e` is the size of an activation element, `w` of an input kept for a weight gradient. Sources of every line in
// docs/model.md, "Activations".
#include "core/workload/model_math.h"

#include <algorithm>

namespace trainyard {

namespace {

class LayerTokens {
public:
    LayerTokens(const ModelSpec &model, bool expertLayer, const ActivationShape &shape, const StackSpec &stack)
        : m_model(model), m_shape(shape), m_stack(stack), m_isExpert(expertLayer), e(shape.elementBytes), w(shape.inputBytes),
          m_split(shape.tensor), m_whole(shape.sequenceParallel ? shape.tensor : 1),
          m_copies(expertLayer ? model.expertsPerToken * shape.imbalance / shape.tensor : 0),
          m_masks(stack.storesDropoutMasks && model.dropout)
    {
    }

    [[nodiscard]] double input() const { return e * m_model.hidden / m_whole; }

    /// Everything from forward to backward but what selective recomputation of the attention core spares.
    [[nodiscard]] double kept(bool sparesCore) const
    {
        const double h = m_model.hidden;
        // Inputs and outputs of both norms. The second output feeds router and experts too, which take 16 bits.
        double bytes = ((2 * e + w + (m_isExpert ? e : w)) * h + (m_masks ? 2 * h : 0)) / m_whole;
        bytes += attention() + (sparesCore ? 0 : core());
        if (m_isExpert)
            return bytes + 10.0 * m_model.experts / m_whole + mlp(m_model.sharedExpertFfn) / m_split + routed();
        return bytes + mlp(m_model.ffn) / m_split;
    }

    /// Op-level selective checkpointing: of the products q, k, v, o, gate, up, down every second is computed again; the
    /// attention output is kept. A compiler drops the last product's output, which backward does not read.
    [[nodiscard]] double keptByOperator() const
    {
        const ModelSpec &m = m_model;
        double bytes = input() + (m_stack.compiled ? 0 : input());
        if (m.attention == AttentionKind::Latent)
            bytes += e * (m.latent.queryRank + m.heads * 2.0 * m.latent.valueDim) / m_split;
        else
            bytes += (e * 2.0 * m.heads * m.headDim + keyValue() / 2) / m_split;
        bytes += core();
        const double width = m_isExpert ? m.sharedExpertFfn : m.ffn;
        return bytes + e * width / m_split + m_copies * e * (m.hidden * m_shape.expertTensor + m.expertFfn);
    }

    /// Outputs of both norms; of the activation functions: what backward can make again by one cheap kernel.
    [[nodiscard]] double normOutputs() const { return (w + (m_isExpert ? e : w)) * m_model.hidden / m_whole; }
    [[nodiscard]] double activationOutputs() const
    {
        return w * (m_isExpert ? m_model.sharedExpertFfn / m_split + m_copies * m_model.expertFfn : m_model.ffn / m_split);
    }

    /// Inputs of the products and gradients of their outputs.
    [[nodiscard]] double forWeightGrads() const
    {
        const ModelSpec &m = m_model;
        const double h = m.hidden, width = m_isExpert ? m.sharedExpertFfn : m.ffn;
        const double gate = m.gatedFfn ? 2 : 1;
        double whole = (w + (m_isExpert ? e : w)) * h + 2 * e * h;   // two norm outputs; gradients after attention and MLP
        double split = (w + gate * e) * width;
        if (m.attention == AttentionKind::Latent) {
            const LatentAttention &l = m.latent;
            whole += w * (l.queryRank + l.keyValueRank) + e * (l.queryRank + l.keyValueRank + l.ropeDim);
            split += m.heads * (w * l.valueDim + e * (2.0 * l.nopeDim + l.ropeDim + l.valueDim));
        } else {
            split += (w + e) * m.heads * m.headDim + keyValue();
        }
        if (m_isExpert && width == 0)
            whole -= e * h;        // no shared expert: the output gradient of the layer is permuted, below
        const double routed = m_copies * ((w + e) * h * m_shape.expertTensor + (w + gate * e) * m.expertFfn);
        return whole / m_whole + split / m_split + routed;
    }

    /// Gradients at the worst moment of backward, less what backward has freed by then: the gradient of the layer's output
    /// with that of the inner MLP tensors, or, MLP done, with those of attention. Gathered input of a sequence-parallel layer.
    [[nodiscard]] double temporaries() const
    {
        const ModelSpec &m = m_model;
        const double gate = m.gatedFfn ? 2 : 1;
        const double inner = m_isExpert ? m_copies * e * (m.hidden + gate * m.expertFfn) + gate * e * m.sharedExpertFfn / m_split
                                        : gate * e * m.ffn / m_split;
        const double freed = m_isExpert ? routed() : mlp(m.ffn) / m_split;
        const double heads = m.attention == AttentionKind::Latent
            ? m.heads * e * (2.0 * m.latent.nopeDim + 2.0 * m.latent.ropeDim + m.latent.valueDim)
            : e * m.heads * m.headDim + keyValue();
        const double scores = m_stack.flashAttention ? 0 : e * m.heads * m_shape.sequence / m_shape.context;
        const double attention = (heads + scores) / m_split - freed;
        const double gathered = m_shape.sequenceParallel && m_shape.tensor > 1 ? e * m.hidden : 0;
        return input() + gathered + std::max(inner, attention);
    }

private:
    /// K and V of one token. With more ranks than key-value heads, heads are repeated: a rank holds at least one.
    [[nodiscard]] double keyValue() const
    {
        return 2 * e * m_model.kvHeads * m_model.headDim * std::max(1.0, m_shape.tensor / static_cast<double>(m_model.kvHeads));
    }

    [[nodiscard]] double attention() const
    {
        const double a = m_model.heads;
        const bool isLatent = m_model.attention == AttentionKind::Latent;
        const double output = a * (isLatent ? m_model.latent.valueDim : m_model.headDim);
        // Output of the core, which fused attention reads again; its 8-bit copy for the projection; with all-to-all context
        // parallelism the tensor before the exchange as well.
        const double outputBytes = e + (w < e ? w : 0) + (m_stack.contextAllToAll && m_shape.context > 1 ? e : 0);
        if (isLatent) {   // compressed query and key-value before and after their norms; Q and K of nope + rope; V
            const LatentAttention &l = m_model.latent;
            return (e + w) * (l.queryRank + l.keyValueRank) / m_whole
                + (2 * e * a * (l.nopeDim + l.ropeDim) + (e + outputBytes) * output) / m_split;
        }
        return (e * output + keyValue() + outputBytes * output) / m_split;
    }

    /// The s x s part: log-sum-exp (fp32) of fused attention, or softmax and, with dropout, its mask and output.
    [[nodiscard]] double core() const
    {
        if (m_stack.flashAttention)
            return 4.0 * m_model.heads / m_split;
        return (m_masks ? 2 * e + 1 : e) * m_model.heads * m_shape.sequence / m_split;
    }

    /// Inner tensors of an MLP of this width: gate, up and product, or input and output of the activation function.
    [[nodiscard]] double mlp(double width) const { return ((m_model.gatedFfn ? 2 * e : e) + w) * width; }

    /// Routed tokens: permuted input, expert tensors, and, where the stack keeps it, the output before un-permutation.
    [[nodiscard]] double routed() const
    {
        const double hidden = (w + (m_stack.storesExpertOutputs ? e : 0)) * m_model.hidden * m_shape.expertTensor;
        return m_copies * (hidden + mlp(m_model.expertFfn));
    }

    const ModelSpec &m_model;
    const ActivationShape &m_shape;
    const StackSpec &m_stack;
    bool m_isExpert;
    double e, w;
    double m_split, m_whole;       // ranks that share split tensors; whole ones (norms, layer input)
    double m_copies;               // rows of the experts of a rank for each token of the rank
    bool m_masks;
};

} // namespace

double keptInputBytes(Precision precision, const StackSpec &stack)
{
    if (stack.keepsQuantizedInputs) {
        switch (precision) {
        case Precision::Fp8: return 1;
        case Precision::Mxfp8: return 1 + 1.0 / 32;      // and a scale of 32 elements
        case Precision::Nvfp4: return 0.5 + 1.0 / 16;    // and a scale of 16
        default: break;
        }
    }
    return weightBytes(precision);
}

LayerActivations layerActivations(const ModelSpec &model, bool expertLayer, const ActivationShape &shape, const StackSpec &stack)
{
    const LayerTokens token(model, expertLayer, shape, stack);
    const double tokens = shape.sequence * shape.microBatch / shape.context;
    LayerActivations bytes;
    bytes.whole = tokens * token.kept(false);
    bytes.forWeightGrads = tokens * token.forWeightGrads();
    bytes.temporaries = tokens * token.temporaries();
    switch (shape.recompute) {
    case Recompute::None: bytes.kept = bytes.whole; break;
    case Recompute::Full: bytes.kept = tokens * token.input(); break;
    case Recompute::Selective:
        bytes.kept = stack.operatorLevelSelective ? tokens * token.keptByOperator()
                                                  : tokens * token.kept(!stack.flashAttention);
        break;
    }
    const bool isByTensor = shape.recompute == Recompute::None || (shape.recompute == Recompute::Selective && !stack.operatorLevelSelective);
    if (isByTensor && shape.recomputeNorms)
        bytes.kept -= tokens * token.normOutputs();
    if (isByTensor && shape.recomputeActivationFunction)
        bytes.kept -= tokens * token.activationOutputs();
    bytes.kept *= shape.keptShare;
    return bytes;
}

double layerActivationBytes(const ModelSpec &model, bool expertLayer, const ActivationShape &shape, const StackSpec &stack)
{
    return layerActivations(model, expertLayer, shape, stack).kept;
}

} // namespace trainyard
