// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/layer_partition.h"

#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/place.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

namespace {

struct Work {
    std::vector<double> layers;
    double head = 0;
};

Work workOf(const ModelSpec &model, double tokens)
{
    Work work;
    for (int layer = 0; layer < model.layers; ++layer)
        work.layers.push_back(layerForwardFlops(model, model.isExpertLayer(layer), tokens));
    work.head = headForwardFlops(model, tokens);
    if (model.mtpLayers > 0)
        work.head += model.mtpLayers * predictorForwardFlops(model, tokens);
    return work;
}

/// From the last stage on each takes as many layers as stay within `most`, leaving one for each before it; empty where
/// they do not suffice.
std::vector<int> within(const Work &work, int stages, double most)
{
    std::vector<int> layers(std::size_t(stages), 0);
    int left = int(work.layers.size());
    for (int stage = stages; stage-- > 0;) {
        double load = stage == stages - 1 ? work.head : 0;
        int &here = layers[std::size_t(stage)];
        while (left > stage && load + work.layers[std::size_t(left) - 1] <= most) {
            load += work.layers[std::size_t(--left)];
            ++here;
        }
        if (here == 0)
            return {};
    }
    return left == 0 ? layers : std::vector<int> {};
}

} // namespace

double longestStage(const ModelSpec &model, const std::vector<int> &layers, double tokens)
{
    const Work work = workOf(model, tokens);
    double longest = 0;
    std::size_t layer = 0;
    for (std::size_t stage = 0; stage < layers.size(); ++stage) {
        double load = stage + 1 == layers.size() ? work.head : 0;
        for (int i = 0; i < layers[stage] && layer < work.layers.size(); ++i)
            load += work.layers[layer++];
        longest = std::max(longest, load);
    }
    return longest;
}

std::vector<int> balancedLayers(const ModelSpec &model, int stages, double tokens)
{
    if (stages < 1 || stages > model.layers)
        return {};
    const Work work = workOf(model, tokens);
    double low = 0, high = std::accumulate(work.layers.begin(), work.layers.end(), work.head);
    std::vector<int> best = within(work, stages, high);
    for (int step = 0; step < 60 && high - low > 1e-9 * high; ++step) {
        const double middle = low + (high - low) / 2;
        std::vector<int> layers = within(work, stages, middle);
        if (layers.empty()) {
            low = middle;
        } else {
            high = middle;
            best = std::move(layers);
        }
    }
    return best;
}

bool partitionGains(const ModelSpec &model, double tokens)
{
    for (int stages = 2; stages <= std::min(model.layers, 64); ++stages) {
        std::vector<int> even;
        for (const auto &chunks : splitLayers(model, stages, 1, ChunkPlacement::Loop, {}))
            even.push_back(chunks.front().layers);
        if (longestStage(model, balancedLayers(model, stages, tokens), tokens)
            < longestStage(model, even, tokens) * (1 - 1e-9))
            return true;
    }
    return false;
}

} // namespace trainyard
