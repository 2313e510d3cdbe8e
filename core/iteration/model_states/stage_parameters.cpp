// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/model_states/stage_parameters.h"

#include "core/facts/workload/model_math.h"

#include <algorithm>

namespace trainyard {

namespace {

/// What is counted, as far as nobody said how many there are.
double statedOverCounted(const Workload &workload)
{
    const auto &profiles = workload.plan->layerProfiles;
    return profiles && profiles->parameters ? *profiles->parameters / totalParameters(workload.model) : 1;
}

/// Of a layer of either kind.
struct LayerKinds {
    LayerParameters dense, expert;
    explicit LayerKinds(const ModelSpec &model)
        : dense(layerParameters(model, false))
        , expert(model.isMoe() ? layerParameters(model, true) : LayerParameters {})
    {
    }
};

StageParameters chunkParameters(
    const Workload &workload, int stage, int chunk, const Degrees &p, const LayerKinds &kinds)
{
    const auto &[dense, expert] = kinds;
    const ModelSpec &model = workload.model;
    const auto sharded = [&](const LayerParameters &l) {
        return (l.attention + l.mlp) / p.tensor + l.norms + l.router;
    };
    const auto &chunks = workload.layout.chunks[std::size_t(stage)];
    const StageChunk &of = chunks[std::size_t(chunk)];
    StageParameters sum { (of.layers - of.expertLayers) * sharded(dense) + of.expertLayers * sharded(expert),
        of.expertLayers * expert.experts / (p.expert * p.expertTensor) };
    if (of.hasEmbedding)
        sum.dense += embeddingParameters(model) / p.tensor;
    if (of.hasHead)
        sum.dense += headParameters(model) / p.tensor;
    if (of.hasHead && model.tiedEmbeddings && std::ranges::none_of(chunks, &StageChunk::hasEmbedding))
        sum.dense += double(model.vocab) * model.hidden / p.tensor; // the tied matrix lives on both ends
    if (of.hasHead && model.mtpLayers > 0) {
        const LayerParameters predictor = predictorParameters(model);
        sum.dense += model.mtpLayers * sharded(predictor);
        sum.experts += model.mtpLayers * predictor.experts / (p.expert * p.expertTensor);
        if (!model.tiedEmbeddings && std::ranges::none_of(chunks, &StageChunk::hasEmbedding))
            sum.dense += double(model.vocab) * model.hidden / p.tensor; // they embed tokens themselves
    }
    const double scale = statedOverCounted(workload);
    sum.dense *= scale;
    sum.experts *= scale;
    return sum;
}

} // namespace

StageParameters chunkParameters(const Workload &workload, int stage, int chunk)
{
    return chunkParameters(workload, stage, chunk, workload.degrees);
}

StageParameters chunkParameters(const Workload &workload, int stage, int chunk, const Degrees &degrees)
{
    return chunkParameters(workload, stage, chunk, degrees, LayerKinds(workload.model));
}

StageParameters stageParameters(const Workload &workload, int stage)
{
    return stageParameters(workload, stage, workload.degrees);
}

StageParameters stageParameters(const Workload &workload, int stage, const Degrees &degrees)
{
    const LayerKinds kinds(workload.model);
    StageParameters sum;
    for (std::size_t c = 0; c < workload.layout.chunks[std::size_t(stage)].size(); ++c) {
        const StageParameters chunk = chunkParameters(workload, stage, int(c), degrees, kinds);
        sum.dense += chunk.dense;
        sum.experts += chunk.experts;
    }
    return sum;
}

} // namespace trainyard
