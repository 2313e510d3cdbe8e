// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/placement/place.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

namespace {

std::vector<int> evenLayers(int layers, int virtualStages)
{
    std::vector<int> count(static_cast<std::size_t>(virtualStages), layers / virtualStages);
    std::vector<int> byDistance(static_cast<std::size_t>(virtualStages));
    std::iota(byDistance.begin(), byDistance.end(), 0);
    const auto distanceFromEnds = [&](int q) { return std::min(q, virtualStages - 1 - q); };
    std::stable_sort(byDistance.begin(), byDistance.end(),
                     [&](int a, int b) { return distanceFromEnds(a) > distanceFromEnds(b); });
    for (int extra = layers % virtualStages, i = 0; i < extra; ++i)
        ++count[std::size_t(byDistance[std::size_t(i)])];
    return count;
}

/// A stage's own number, its later chunks taking the remainder.
std::vector<int> givenLayers(const std::vector<int> &ofStages, int stages, int chunksPerStage, ChunkPlacement placement)
{
    std::vector<int> count;
    for (int q = 0; q < stages * chunksPerStage; ++q) {
        const int device = deviceAt(placement, stages, q), chunk = q / stages;
        const int layers = ofStages[ofStages.size() == 1 ? 0 : std::size_t(device)];
        count.push_back((chunk + 1) * layers / chunksPerStage - chunk * layers / chunksPerStage);
    }
    return count;
}

} // namespace

std::vector<std::vector<StageChunk>> splitLayers(const ModelSpec &model, int stages, int chunksPerStage, ChunkPlacement placement,
                                                 const std::vector<int> &layersOfStages)
{
    const int virtualStages = stages * chunksPerStage;
    const std::vector<int> count = layersOfStages.empty() ? evenLayers(model.layers, virtualStages)
                                                          : givenLayers(layersOfStages, stages, chunksPerStage, placement);
    std::vector<std::vector<StageChunk>> chunks(static_cast<std::size_t>(stages));
    for (auto &ofStage : chunks)
        ofStage.resize(static_cast<std::size_t>(chunksPerStage));
    int layer = 0;
    for (int q = 0; q < virtualStages; ++q) {
        StageChunk &chunk = chunks[std::size_t(deviceAt(placement, stages, q))][std::size_t(q / stages)];
        chunk.firstLayer = layer;
        chunk.layers = count[std::size_t(q)];
        for (int i = 0; i < chunk.layers; ++i)
            chunk.expertLayers += model.isExpertLayer(layer + i);
        chunk.hasEmbedding = q == 0;
        chunk.hasHead = q == virtualStages - 1;
        layer += chunk.layers;
    }
    return chunks;
}

} // namespace trainyard
