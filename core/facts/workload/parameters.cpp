// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/workload/model_math.h"

#include <algorithm>

namespace trainyard {

namespace {

double attentionMatrices(const ModelSpec &model)
{
    const double h = model.hidden, a = model.heads;
    if (model.attention == AttentionKind::Latent) {
        const LatentAttention &l = model.latent;
        const double queryDim = a * (l.nopeDim + l.ropeDim);
        const double query = l.queryRank > 0 ? l.queryRank * (h + queryDim) : h * queryDim;
        const double keyValue = h * (l.keyValueRank + l.ropeDim) + l.keyValueRank * a * (l.nopeDim + l.valueDim);
        return query + keyValue + a * l.valueDim * h;
    }
    return h * model.headDim * (2 * a + 2.0 * model.kvHeads);
}

double attentionBiases(const ModelSpec &model)
{
    const double queryKeyValue = model.headDim * (model.heads + 2.0 * model.kvHeads);
    return (model.linearBias || model.queryKeyValueBias ? queryKeyValue : 0) + (model.linearBias ? model.hidden : 0);
}

double mlpMatrices(const ModelSpec &model, double width)
{
    return (model.gatedFfn ? 3.0 : 2.0) * model.hidden * width;
}

double mlpBiases(const ModelSpec &model, double width)
{
    return model.linearBias && width > 0 ? (model.gatedFfn ? 2.0 : 1.0) * width + model.hidden : 0;
}

double normSize(const ModelSpec &model)
{
    return (model.layerNorm ? 2.0 : 1.0) * model.hidden;
}

int expertLayers(const ModelSpec &model)
{
    int count = 0;
    for (int layer = 0; layer < model.layers; ++layer)
        count += model.isExpertLayer(layer) ? 1 : 0;
    return count;
}

/// The elements of the matrices that one token multiplies in a layer, of the visits to routed experts that are kept.
double activeMatrices(const ModelSpec &model, bool expertLayer, double keptVisits)
{
    if (!expertLayer)
        return attentionMatrices(model) + mlpMatrices(model, model.ffn);
    return attentionMatrices(model) + mlpMatrices(model, model.sharedExpertFfn)
        + keptVisits * model.expertsPerToken * mlpMatrices(model, model.expertFfn)
        + static_cast<double>(model.hidden) * model.experts;
}

/// FLOPs of QK^T and PV over s queries and s keys.
double attentionCoreFlops(const ModelSpec &model, double s)
{
    const double widths = model.attention == AttentionKind::Latent
        ? model.latent.nopeDim + model.latent.ropeDim + model.latent.valueDim
        : 2.0 * model.headDim;
    const double share = windowedShare(model);
    const double pairs = share > 0 ? (1 - share) * s * s + share * 2 * attendedPairs(s, model.attentionWindow) : s * s;
    return 2 * pairs * model.heads * widths;
}

} // namespace

LayerParameters layerParameters(const ModelSpec &model, bool expertLayer)
{
    LayerParameters count;
    count.attention = attentionMatrices(model) + attentionBiases(model);
    count.norms = 2 * normSize(model);
    if (model.attention == AttentionKind::Latent)
        count.norms += model.latent.queryRank + model.latent.keyValueRank;
    const double dense = expertLayer ? model.sharedExpertFfn : model.ffn;
    count.mlp = mlpMatrices(model, dense) + mlpBiases(model, dense);
    if (expertLayer) {
        count.router = static_cast<double>(model.hidden) * model.experts;
        count.experts = model.experts * (mlpMatrices(model, model.expertFfn) + mlpBiases(model, model.expertFfn));
    }
    return count;
}

LayerParameters predictorParameters(const ModelSpec &model)
{
    LayerParameters count = layerParameters(model, hasExpertPredictor(model));
    count.mlp += 2.0 * model.hidden * model.hidden;
    count.norms += 3 * normSize(model);
    return count;
}

double embeddingParameters(const ModelSpec &model)
{
    return static_cast<double>(model.hidden) * (model.vocab + model.learnedPositions);
}

double headParameters(const ModelSpec &model)
{
    return normSize(model) + (model.tiedEmbeddings ? 0 : static_cast<double>(model.hidden) * model.vocab);
}

double totalParameters(const ModelSpec &model)
{
    const int withExperts = expertLayers(model);
    return embeddingParameters(model) + headParameters(model) + withExperts * layerParameters(model, true).total()
        + (model.layers - withExperts) * layerParameters(model, false).total()
        + (model.mtpLayers > 0 ? model.mtpLayers * predictorParameters(model).total() : 0);
}

double activeParameters(const ModelSpec &model)
{
    const LayerParameters layer = layerParameters(model, true);
    const double idle =
        model.isMoe() ? layer.experts * (1 - static_cast<double>(model.expertsPerToken) / model.experts) : 0;
    const int predictors = hasExpertPredictor(model) ? model.mtpLayers : 0;
    return totalParameters(model) - (expertLayers(model) + predictors) * idle;
}

double attendedPairs(double s, double window)
{
    const double w = std::min(window, s);
    return s * w - w * w / 2;
}

double layerForwardFlops(const ModelSpec &model, bool expertLayer, double s, double keptVisits)
{
    return 2 * s * activeMatrices(model, expertLayer, keptVisits) + attentionCoreFlops(model, s);
}

double headForwardFlops(const ModelSpec &model, double s)
{
    return 2 * s * static_cast<double>(model.hidden) * model.vocab;
}

double predictorForwardFlops(const ModelSpec &model, double s, double keptVisits)
{
    return layerForwardFlops(model, hasExpertPredictor(model), s, keptVisits) + headForwardFlops(model, s)
        + 2 * s * 2.0 * model.hidden * model.hidden;
}

double modelFlopsPerSequence(const ModelSpec &model, double s, double keptVisits)
{
    const int withExperts = expertLayers(model);
    const double forward = withExperts * layerForwardFlops(model, true, s, keptVisits)
        + (model.layers - withExperts) * layerForwardFlops(model, false, s) + headForwardFlops(model, s)
        + (model.mtpLayers > 0 ? model.mtpLayers * predictorForwardFlops(model, s, keptVisits) : 0);
    return 3 * forward;
}

double remadeFlops(const ModelSpec &model, bool expertLayer, double s, RemadeProducts remade)
{
    double matrices = 0;
    if (remade.upProjection && model.attention == AttentionKind::Latent) {
        const LatentAttention &l = model.latent;
        matrices += double(l.queryRank) * model.heads * (l.nopeDim + l.ropeDim)
            + double(l.keyValueRank) * model.heads * (l.nopeDim + l.valueDim);
    }
    if (remade.sharedExperts && expertLayer)
        matrices += mlpMatrices(model, model.sharedExpertFfn);
    return 2 * s * matrices;
}

double recomputeFlops(
    const ModelSpec &model, bool expertLayer, double s, Recompute recompute, const StackSpec &stack, double keptVisits)
{
    switch (recompute) {
    case Recompute::None:
        return 0;
    case Recompute::Full:
        return layerForwardFlops(model, expertLayer, s, keptVisits);
    case Recompute::Selective:
        // Fused attention never stored the s x s part, so there is nothing to recompute. Elsewhere the published counts
        // (Korthikanti et al., eq. 9: s/3h where the model has s/6h) take the core three times, though it runs once.
        return stack.flashAttention ? 0 : 3 * attentionCoreFlops(model, s);
    }
    return 0;
}

} // namespace trainyard
