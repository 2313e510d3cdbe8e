// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/layers_by_speed.h"
#include "core/planner/rivals/shared_rules_internal.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace trainyard::rivals {

namespace {

/// As if all GPUs were the mean of their kinds; empty where a kind has no machines of that many.
std::optional<LayerFigures> meanFigures(const PlannerInput &input, int tensor, int microBatch)
{
    LayerFigures mean;
    for (const Kind &kind : input.kinds) {
        if (kind.gpusPerNode < tensor)
            return std::nullopt;
        const LayerFigures &own =
            kind.figures[std::size_t(input.tensorIndex(tensor))][std::size_t(input.microBatchIndex(microBatch))];
        const double share = 1.0 / double(input.kinds.size());
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
int dividingGpus(const PlannerInput &input)
{
    int perNode = std::numeric_limits<int>::max();
    for (const Kind &kind : input.kinds)
        perNode = std::min(perNode, kind.gpusPerNode);
    for (int nodes = input.gpus() / perNode; nodes > 0; --nodes)
        if (input.batch % (nodes * perNode) == 0)
            return nodes * perNode;
    return std::min(input.gpus(), perNode);
}

int tensorOf(const Choice &choice)
{
    return choice.stages.front().replicas.front().tensor;
}

} // namespace

double ampSeconds(const Choice &choice, const PlannerInput &input)
{
    const int tensor = tensorOf(choice), stages = int(choice.stages.size());
    const auto figures = meanFigures(input, tensor, choice.microBatch);
    if (!figures)
        return std::numeric_limits<double>::infinity();
    std::vector<double> times;
    double most = 0; // parameters of a stage on a GPU
    for (int i = 0; i < stages; ++i) {
        const int layers = choice.stages[std::size_t(i)].layers;
        const bool isFirst = i == 0, isLast = i == stages - 1;
        times.push_back(secondsOfLayers(*figures, layers, isFirst, isLast));
        most = std::max(most, input.stageParameters(layers, isFirst, isLast) / tensor);
    }
    const double boundary = choice.microBatch * input.boundaryNumbers * input.bytesPerNumber,
                 gradients = most * input.bytesPerNumber;
    const int d = choice.data;
    return pipelineSeconds(times, microBatchesOf(input, d, choice.microBatch))
        + (stages > 1 ? (stages - 1) * boundary / input.slowestRate(boundary) : 0)
        + (d > 1 ? 2.0 * (d - 1) / d * gradients / input.slowestRate(gradients) : 0);
}

Ranking byAmp(const PlannerInput &input, const std::stop_token &stop)
{
    Ranking ranking;
    ranking.rule = "all GPUs as if they were equal, the slowest link everywhere, layers by the longest stage";
    std::vector<int> sites(input.sites.size());
    std::iota(sites.begin(), sites.end(), 0);
    const int gpus = dividingGpus(input);
    for (const int tensor : input.tensors) {
        for (const int data : divisors(gpus)) {
            const int stages = gpus / data / tensor;
            if (stages < 1 || stages > input.layers || data * stages * tensor != gpus || input.batch % data != 0)
                continue;
            for (const int microBatch : input.microBatches) {
                if (stop.stop_requested())
                    return ranking;
                if (input.batch / data % microBatch != 0)
                    continue;
                ++ranking.looked;
                const auto figures = meanFigures(input, tensor, microBatch);
                std::vector<ChosenStage> filled = fillInOrder(input, sites, stages, data, tensor);
                if (!figures || filled.empty())
                    continue;
                const std::vector<int> layers =
                    cutLayers(stages, input.layers, 1, [&](int stage, int /*first*/, int count) {
                        return secondsOfLayers(*figures, count, stage == 0, stage == stages - 1);
                    });
                for (std::size_t i = 0; i < layers.size(); ++i)
                    filled[i].layers = layers[i];
                Choice choice { microBatch, data, false, std::move(filled) };
                choice.seconds = ampSeconds(choice, input);
                ranking.choices.push_back(std::move(choice));
            }
        }
    }
    keepBest(ranking.choices, [](const Choice &choice) { return choice.seconds; });
    return ranking;
}

} // namespace trainyard::rivals
