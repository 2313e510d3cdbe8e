// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/place.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

namespace {

std::vector<int> evenLayers(int layers, int virtualStages)
{
    std::vector<int> count(static_cast<std::size_t>(virtualStages), layers / virtualStages);
    const int extra = layers % virtualStages;
    if (extra == 0)
        return count;
    std::vector<int> byDistance(static_cast<std::size_t>(virtualStages));
    std::iota(byDistance.begin(), byDistance.end(), 0);
    const auto distanceFromEnds = [&](int q) { return std::min(q, virtualStages - 1 - q); };
    std::stable_sort(
        byDistance.begin(), byDistance.end(), [&](int a, int b) { return distanceFromEnds(a) > distanceFromEnds(b); });
    for (int i = 0; i < extra; ++i)
        ++count[std::size_t(byDistance[std::size_t(i)])];
    return count;
}

/// A stage's own number, its later chunks taking the remainder.
std::vector<int> givenLayers(const std::vector<int> &ofStages, int stages, int chunksPerStage, ChunkPlacement placement)
{
    std::vector<int> count;
    const int chunks = stagesInChain(placement, stages, chunksPerStage) / stages; // of one copy of the model
    for (int q = 0; q < stagesInChain(placement, stages, chunksPerStage); ++q) {
        const int device = deviceAt(placement, stages, q), chunk = q / stages;
        const int layers = ofStages[ofStages.size() == 1 ? 0 : std::size_t(device)];
        count.push_back((chunk + 1) * layers / chunks - chunk * layers / chunks);
    }
    return count;
}

} // namespace

std::vector<std::vector<StageChunk>> splitLayers(const ModelSpec &model, int stages, int chunksPerStage,
    ChunkPlacement placement, const std::vector<int> &layersOfStages)
{
    const int virtualStages = stagesInChain(placement, stages, chunksPerStage); // of one copy of the model
    const std::vector<int> count = layersOfStages.empty()
        ? evenLayers(model.layers, virtualStages)
        : givenLayers(layersOfStages, stages, chunksPerStage, placement);
    std::vector<std::vector<StageChunk>> chunks(static_cast<std::size_t>(stages));
    for (auto &ofStage : chunks)
        ofStage.resize(static_cast<std::size_t>(chunksPerStage));
    int layer = 0;
    for (int i = 0; i < stages * chunksPerStage; ++i) {
        const int q = i % virtualStages;
        layer = q == 0 ? 0 : layer; // the next copy
        StageChunk &chunk = chunks[std::size_t(deviceAt(placement, stages, i))][std::size_t(i / stages)];
        chunk.firstLayer = layer;
        chunk.layers = count[std::size_t(q)];
        for (int l = 0; l < chunk.layers; ++l)
            chunk.expertLayers += model.isExpertLayer(layer + l);
        chunk.hasEmbedding = q == 0;
        chunk.hasHead = q == virtualStages - 1;
        layer += chunk.layers;
    }
    return chunks;
}

} // namespace trainyard
