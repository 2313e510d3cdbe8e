// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/layers_by_speed.h"
#include "core/planner/rivals/common_internal.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace trainyard::rivals {

namespace {

/// As if all GPUs were the mean of their kinds; empty where a kind has no machines of that many.
std::optional<LayerFigures> meanFigures(const View &view, int tensor, int microBatch)
{
    LayerFigures mean;
    for (const Kind &kind : view.kinds) {
        if (kind.gpusPerNode < tensor)
            return std::nullopt;
        const LayerFigures &own =
            kind.figures[std::size_t(view.tensorIndex(tensor))][std::size_t(view.microBatchIndex(microBatch))];
        const double share = 1.0 / double(view.kinds.size());
        mean.layer += own.layer * share;
        mean.embedding += own.embedding * share;
        mean.head += own.head * share;
    }
    return mean;
}

double secondsOfLayers(const LayerFigures &figures, int layers, bool isFirst, bool isLast)
{
    return layers * figures.layer + (isFirst ? figures.embedding : 0) + (isLast ? figures.head : 0);
}

/// GPUs of whole machines such that their number divides the batch, as many as there are.
int dividingGpus(const View &view)
{
    int perNode = std::numeric_limits<int>::max();
    for (const Kind &kind : view.kinds)
        perNode = std::min(perNode, kind.gpusPerNode);
    for (int nodes = view.gpus() / perNode; nodes > 0; --nodes)
        if (view.batch % (nodes * perNode) == 0)
            return nodes * perNode;
    return std::min(view.gpus(), perNode);
}

int tensorOf(const Choice &choice)
{
    return choice.stages.front().replicas.front().tensor;
}

} // namespace

double ampSeconds(const Choice &choice, const View &view)
{
    const int tensor = tensorOf(choice), stages = int(choice.stages.size());
    const auto figures = meanFigures(view, tensor, choice.microBatch);
    if (!figures)
        return std::numeric_limits<double>::infinity();
    std::vector<double> times;
    double most = 0; // parameters of a stage on a GPU
    for (int i = 0; i < stages; ++i) {
        const int layers = choice.stages[std::size_t(i)].layers;
        const bool isFirst = i == 0, isLast = i == stages - 1;
        times.push_back(secondsOfLayers(*figures, layers, isFirst, isLast));
        most = std::max(most, view.stageParameters(layers, isFirst, isLast) / tensor);
    }
    const double boundary = choice.microBatch * view.boundaryNumbers * view.bytesPerNumber,
                 gradients = most * view.bytesPerNumber;
    const int d = choice.data;
    return pipelineSeconds(times, microBatchesOf(view, d, choice.microBatch))
        + (stages > 1 ? (stages - 1) * boundary / view.slowestRate(boundary) : 0)
        + (d > 1 ? 2.0 * (d - 1) / d * gradients / view.slowestRate(gradients) : 0);
}

Ranking byAmp(const View &view, const std::stop_token &stop)
{
    Ranking ranking;
    ranking.rule = "all GPUs as if they were equal, the slowest link everywhere, layers by the longest stage";
    std::vector<int> sites(view.sites.size());
    std::iota(sites.begin(), sites.end(), 0);
    const int gpus = dividingGpus(view);
    for (const int tensor : view.tensors) {
        for (const int data : divisors(gpus)) {
            const int stages = gpus / data / tensor;
            if (stages < 1 || stages > view.layers || data * stages * tensor != gpus || view.batch % data != 0)
                continue;
            for (const int microBatch : view.microBatches) {
                if (stop.stop_requested())
                    return ranking;
                if (view.batch / data % microBatch != 0)
                    continue;
                ++ranking.looked;
                const auto figures = meanFigures(view, tensor, microBatch);
                std::vector<ChosenStage> filled = fillInOrder(view, sites, stages, data, tensor);
                if (!figures || filled.empty())
                    continue;
                const std::vector<int> layers =
                    cutLayers(stages, view.layers, 1, [&](int stage, int /*first*/, int count) {
                        return secondsOfLayers(*figures, count, stage == 0, stage == stages - 1);
                    });
                for (std::size_t i = 0; i < layers.size(); ++i)
                    filled[i].layers = layers[i];
                Choice choice { microBatch, data, false, std::move(filled) };
                choice.seconds = ampSeconds(choice, view);
                ranking.choices.push_back(std::move(choice));
            }
        }
    }
    keepBest(ranking.choices, [](const Choice &choice) { return choice.seconds; });
    return ranking;
}

} // namespace trainyard::rivals
