// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/rivals/sailor_figures.h"

#include "core/planner/rivals/shared_rules_internal.h"

#include <algorithm>
#include <limits>

namespace trainyard::rivals {

namespace {

constexpr double kSpeedUp = 1.5; // that a doubled tensor degree has to bring [F]
constexpr double kLoaded = 2e9, kLoadedWithTensor = 3e9; // bytes, K of its planner [F]

double tensorStageSeconds(
    const PlannerInput &input, int kind, const std::vector<int> &layers, int stage, int tensor, int microBatch)
{
    const LayerFigures &figures =
        input.kinds[std::size_t(kind)]
            .figures[std::size_t(input.tensorIndex(tensor))][std::size_t(input.microBatchIndex(microBatch))];
    return layers[std::size_t(stage)] * figures.layer + (stage == 0 ? figures.embedding : 0)
        + (stage + 1 == int(layers.size()) ? figures.head : 0);
}

double parameters(const PlannerInput &input, const std::vector<int> &layers, int stage)
{
    return input.stageParameters(layers[std::size_t(stage)], stage == 0, stage + 1 == int(layers.size()));
}

/// Of the choice's stage as the closed form takes it; `next` and `previous` are where its pipelines go.
sailor::Stage stageOf(const Choice &choice, const PlannerInput &input, const std::vector<int> &layers, int stage)
{
    const auto siteOf = [&](int other, int replica) {
        for (const Replicas &replicas : choice.stages[std::size_t(other)].replicas)
            if ((replica -= replicas.count) < 0)
                return replicas.site;
        return choice.stages[std::size_t(other)].replicas.back().site;
    };
    sailor::Stage result;
    const double whole = parameters(input, layers, stage);
    int number = 0;
    for (const Replicas &replicas : choice.stages[std::size_t(stage)].replicas) {
        const LayerFigures &figures = input.kindOf(replicas.site)
                                          .figures[std::size_t(input.tensorIndex(replicas.tensor))]
                                                  [std::size_t(input.microBatchIndex(choice.microBatch))];
        const double time = tensorStageSeconds(
            input, input.sites[std::size_t(replicas.site)].kind, layers, stage, replicas.tensor, choice.microBatch);
        for (int i = 0; i < replicas.count; ++i, ++number) {
            sailor::Replica replica;
            replica.tensor = replicas.tensor;
            replica.layers = { { Seconds {}, Seconds { time }, Seconds {} } };
            replica.parameters = whole / replicas.tensor;
            replica.activations =
                figures.kept * layers[std::size_t(stage)] / (choice.microBatch * input.bytesPerNumber);
            const auto to = [&](int site) { return input.links[std::size_t(replicas.site)][std::size_t(site)]; };
            if (stage + 1 < int(layers.size()))
                replica.toNext = to(siteOf(stage + 1, number));
            if (stage > 0)
                replica.toPrevious = to(siteOf(stage - 1, number));
            replica.toNextReplica = to(siteOf(stage, std::min(number + 1, choice.data - 1)));
            result.replicas.push_back(std::move(replica));
        }
    }
    result.parameters = whole;
    result.sentOn = result.sentBack = input.boundaryNumbers;
    return result;
}

/// Whether something joins whatever has to reach each other.
bool isJoined(const Choice &choice, const PlannerInput &input)
{
    const auto reach = [&](const std::vector<Replicas> &from, const std::vector<Replicas> &to) {
        return std::ranges::all_of(from, [&](const Replicas &a) {
            return std::ranges::all_of(to, [&](const Replicas &b) { return input.rate(a.site, b.site, 1e6) > 0; });
        });
    };
    for (std::size_t i = 0; i < choice.stages.size(); ++i) {
        if (!reach(choice.stages[i].replicas, choice.stages[i].replicas))
            return false;
        if (i + 1 < choice.stages.size() && !reach(choice.stages[i].replicas, choice.stages[i + 1].replicas))
            return false;
    }
    return true;
}

} // namespace

std::vector<int> sailorLayers(int layers, int stages)
{
    std::vector<int> counts(static_cast<std::size_t>(stages), layers / stages);
    for (int i = 0; i < layers % stages; ++i)
        ++counts[std::size_t(stages - 1 - i)];
    return counts;
}

bool sailorFits(const PlannerInput &input, int kind, const std::vector<int> &layers, int stage, int tensor,
    int microBatch, int microBatches)
{
    const LayerFigures &figures =
        input.kinds[std::size_t(kind)]
            .figures[std::size_t(input.tensorIndex(tensor))][std::size_t(input.microBatchIndex(microBatch))];
    const int inFlight = std::min(int(layers.size()) - stage, microBatches);
    const double need = sailor::Constants {}.bytesPerParameter * parameters(input, layers, stage) / tensor
        + figures.kept * layers[std::size_t(stage)] * inFlight + (tensor > 1 ? kLoadedWithTensor : kLoaded);
    return need <= input.kinds[std::size_t(kind)].memory;
}

StageFigures stageFigures(
    const PlannerInput &input, int kind, const std::vector<int> &layers, int stage, int microBatch, int microBatches)
{
    StageFigures found;
    for (const int tensor : input.tensors) {
        if (tensor > input.kinds[std::size_t(kind)].gpusPerNode
            || !sailorFits(input, kind, layers, stage, tensor, microBatch, microBatches))
            continue;
        const double time = tensorStageSeconds(input, kind, layers, stage, tensor, microBatch);
        if (found.tensor > 0 && found.seconds / time < kSpeedUp)
            break;
        found = { tensor, time, parameters(input, layers, stage) / tensor * input.bytesPerNumber };
    }
    return found;
}

std::optional<sailor::Prediction> sailorPrediction(const Choice &choice, const PlannerInput &input)
{
    if (choice.stages.empty() || !isJoined(choice, input))
        return std::nullopt;
    sailor::Problem problem;
    problem.microBatch = choice.microBatch;
    problem.globalBatch = input.batch;
    problem.constants.bytesPerNumber = input.bytesPerNumber;
    problem.constants.loaded = Bytes { kLoaded };
    std::vector<int> layers;
    for (const ChosenStage &stage : choice.stages)
        layers.push_back(stage.layers);
    for (int i = 0; i < int(layers.size()); ++i)
        problem.stages.push_back(stageOf(choice, input, layers, i));
    auto predicted = sailor::predict(problem);
    return predicted ? std::optional(*predicted) : std::nullopt;
}

} // namespace trainyard::rivals
