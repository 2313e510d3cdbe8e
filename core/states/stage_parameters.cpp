// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/states/stage_parameters.h"

#include "core/workload/model_math.h"

#include <algorithm>

namespace trainyard {

namespace {

/// What is counted, as far as nobody said how many there are.
double statedOverCounted(const Workload &workload)
{
    const auto &profiles = workload.plan->layerProfiles;
    return profiles && profiles->parameters ? *profiles->parameters / totalParameters(workload.model) : 1;
}

StageParameters chunkParameters(
    const Workload &workload, int stage, int chunk, const LayerParameters &dense, const LayerParameters &expert)
{
    const Degrees &p = workload.degrees;
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
    return chunkParameters(workload, stage, chunk, layerParameters(workload.model, false),
        workload.model.isMoe() ? layerParameters(workload.model, true) : LayerParameters {});
}

StageParameters stageParameters(const Workload &workload, int stage)
{
    const LayerParameters dense = layerParameters(workload.model, false);
    const LayerParameters expert = workload.model.isMoe() ? layerParameters(workload.model, true) : LayerParameters {};
    StageParameters sum;
    for (std::size_t c = 0; c < workload.layout.chunks[std::size_t(stage)].size(); ++c) {
        const StageParameters chunk = chunkParameters(workload, stage, int(c), dense, expert);
        sum.dense += chunk.dense;
        sum.experts += chunk.experts;
    }
    return sum;
}

} // namespace trainyard
