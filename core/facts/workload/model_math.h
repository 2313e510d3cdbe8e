#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Counting: parameters, FLOPs and activation bytes of a model, layer by layer. Formulas and sources in docs/model.md;
// symbols: s sequence, b micro-batch, h hidden, a heads, g key-value heads, d head dim, f FFN width, t tensor parallel.

#include "core/facts/hardware/gpu_spec.h"
#include "core/facts/hardware/stack_spec.h"
#include "core/facts/workload/model_spec.h"
#include "core/facts/workload/recompute_kind.h"

namespace trainyard {

/// Bytes of a weight as it is computed with: 4 for the 32-bit formats, else 2 (8- and 4-bit recipes keep 16-bit
/// weights).
[[nodiscard]] constexpr double weightBytes(Precision precision)
{
    return precision == Precision::Fp32 || precision == Precision::Tf32 ? 4 : 2;
}

struct LayerParameters { // elements
    /// mlp: dense or shared expert
    double attention = 0, mlp = 0, norms = 0, router = 0, experts = 0;
    [[nodiscard]] double total() const { return attention + mlp + norms + router + experts; }
};
[[nodiscard]] LayerParameters layerParameters(const ModelSpec &model, bool expertLayer);
/// Whether a layer that predicts a further token has experts: it is like the model's last one.
[[nodiscard]] inline bool hasExpertPredictor(const ModelSpec &model)
{
    return model.layers > 0 && model.isExpertLayer(model.layers - 1);
}
/// Of the layers, those that see a window alone. Which they are makes no difference to what a model is counted as, so
/// that every layer is taken as so much of each kind.
[[nodiscard]] inline double windowedShare(const ModelSpec &model)
{
    return model.attentionWindow > 0 && model.layers > 0 ? double(model.windowedLayers) / model.layers : 0;
}
/// Of one layer that predicts a further token: a layer like the last, the product that joins what the model made with
/// the next token's embedding (2h x h), three norms more. Table and output matrix are the model's own.
[[nodiscard]] LayerParameters predictorParameters(const ModelSpec &model);
/// token table, with learned positions
[[nodiscard]] double embeddingParameters(const ModelSpec &model);
/// final norm, and the matrix unless tied
[[nodiscard]] double headParameters(const ModelSpec &model);
[[nodiscard]] double totalParameters(const ModelSpec &model);
/// of one token
[[nodiscard]] double activeParameters(const ModelSpec &model);

/// Pairs of a query and a key that a causal mask leaves of s tokens, each of which sees itself and `window` - 1 before:
/// s W - W^2 / 2 with W = min(window, s).
[[nodiscard]] double attendedPairs(double s, double window);

/// FLOPs of one sequence of length s forward: 2 a multiply-add, full (not causal-halved) attention, so twice the
/// pairs that a window leaves. A visit to a routed
/// expert that is dropped (MoeStrategy::keptVisits) multiplies nothing there; the token goes on through everything
/// else.
[[nodiscard]] double layerForwardFlops(const ModelSpec &model, bool expertLayer, double s, double keptVisits = 1);
[[nodiscard]] double headForwardFlops(const ModelSpec &model, double s);
/// Of one layer that predicts a further token, with its head.
[[nodiscard]] double predictorForwardFlops(const ModelSpec &model, double s, double keptVisits = 1);
/// Forward and backward of a whole sequence: the numerator of MFU.
[[nodiscard]] double modelFlopsPerSequence(const ModelSpec &model, double s, double keptVisits = 1);
/// What making up-projections of latent attention and shared experts again adds to one layer, without `recompute`.
struct RemadeProducts {
    bool upProjection = false, sharedExperts = false;
};
[[nodiscard]] double remadeFlops(const ModelSpec &model, bool expertLayer, double s, RemadeProducts remade);
/// What recomputation adds to one layer, as HFU counts it: 0, the s x s part of attention, or the forward pass again.
/// An accounting convention (docs/model.md, "FLOPs"): the time of recomputed kernels is the cost model's.
[[nodiscard]] double recomputeFlops(const ModelSpec &model, bool expertLayer, double s, Recompute recompute,
    const StackSpec &stack, double keptVisits = 1);

struct ActivationShape {
    double sequence = 0, microBatch = 1;
    int tensor = 1, context = 1, expert = 1, expertTensor = 1;
    bool sequenceParallel = false;
    Recompute recompute = Recompute::None;
    double imbalance = 1;
    /// of an activation: weightBytes(precision)
    double elementBytes = 2;
    /// of an input that a product keeps for its weight gradient
    double inputBytes = 2;
    /// their outputs are made again in backward
    bool recomputeNorms = false, recomputeActivationFunction = false;
    /// of the bytes, where what is saved is kept in fewer bits
    double keptShare = 1;
    /// latent attention: Q, K and V are made again from what they were compressed to
    bool recomputeUpProjection = false;
    /// their inner tensors are made again
    bool recomputeSharedExperts = false;
    /// the experts' results are not kept, whatever the stack does
    bool memoryEfficientPermute = false;
    /// ranks of a tensor group that hold the same tokens have a slice each at the experts
    bool slicesTokens = false;
};
/// Bytes of an input kept for a weight gradient: the activation's, or the 8- or 4-bit copy where the stack keeps only
/// that.
[[nodiscard]] double keptInputBytes(Precision precision, const StackSpec &stack);
/// Bytes of a weight on its way to data-parallel ranks.
[[nodiscard]] double gatheredWeightBytes(Precision precision, const StackSpec &stack);

/// Bytes that one layer holds on one GPU for one micro-batch (specification B.4; the classic GPT form where the stack
/// stores dropout masks and has no fused attention).
struct LayerActivations {
    /// from forward to backward, with the shape's recomputation
    double kept = 0;
    /// the same without recomputation: what is there while the layer is recomputed
    double whole = 0;
    double forWeightGrads =
        0; // from input gradient to weight gradient: inputs of its products and gradients of their outputs
    /// gradients beside the above at the worst moment of its backward
    double temporaries = 0;
};
[[nodiscard]] LayerActivations layerActivations(
    const ModelSpec &model, bool expertLayer, const ActivationShape &shape, const StackSpec &stack);
/// LayerActivations::kept alone.
[[nodiscard]] double layerActivationBytes(
    const ModelSpec &model, bool expertLayer, const ActivationShape &shape, const StackSpec &stack);

} // namespace trainyard
