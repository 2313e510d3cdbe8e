// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/rivals/shared_rules_internal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace trainyard::rivals {

namespace {

constexpr int kMostTries = 3; // of layers that are moved for memory

const LayerFigures &figuresOf(const PlannerInput &input, const Replicas &replicas, int microBatch)
{
    return input.kindOf(replicas.site)
        .figures[std::size_t(input.tensorIndex(replicas.tensor))][std::size_t(input.microBatchIndex(microBatch))];
}

/// Of a micro-batch of the stage: replicas of several kinds share their samples by speed, so that their speeds add up.
double stageSeconds(const PlannerInput &input, const ChosenStage &stage, int microBatch, bool isFirst, bool isLast)
{
    double speed = 0;
    int count = 0;
    for (const Replicas &replicas : stage.replicas) {
        const LayerFigures &figures = figuresOf(input, replicas, microBatch);
        speed += replicas.count
            / (stage.layers * figures.layer + (isFirst ? figures.embedding : 0) + (isLast ? figures.head : 0));
        count += replicas.count;
    }
    return count / speed;
}

double layerSpeed(const PlannerInput &input, const ChosenStage &stage, int microBatch)
{
    double speed = 0;
    for (const Replicas &replicas : stage.replicas)
        speed += replicas.count / figuresOf(input, replicas, microBatch).layer;
    return speed;
}

/// Layers that have memory on every replica of the stage.
int mostLayers(const PlannerInput &input, const Choice &choice, std::size_t at)
{
    const bool isFirst = at == 0, isLast = at + 1 == choice.stages.size();
    const int inFlight =
        std::min(int(choice.stages.size() - at), microBatchesOf(input, choice.data, choice.microBatch));
    double most = input.layers;
    for (const Replicas &replicas : choice.stages[at].replicas) {
        const double kept = figuresOf(input, replicas, choice.microBatch).kept * inFlight;
        const double ends = input.stageParameters(0, isFirst, isLast) * input.stateBytes / replicas.tensor;
        const double layer = input.layerParameters * input.stateBytes / replicas.tensor + kept;
        most = std::min(most, (input.kindOf(replicas.site).memory - ends) / layer);
    }
    return int(std::floor(most));
}

/// So many in proportion, at least one each, the largest remainders first.
std::vector<int> inProportion(int layers, const std::vector<double> &speeds)
{
    const int stages = int(speeds.size());
    const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    std::vector<int> counts;
    std::vector<std::pair<double, int>> remainders;
    for (int i = 0; i < stages; ++i) {
        const double exact = layers * speeds[std::size_t(i)] / sum;
        counts.push_back(std::max(1, int(exact)));
        remainders.emplace_back(-(exact - std::floor(exact)), i);
    }
    std::ranges::sort(remainders);
    int left = layers - std::accumulate(counts.begin(), counts.end(), 0);
    for (std::size_t i = 0; left > 0; i = (i + 1) % remainders.size(), --left)
        ++counts[std::size_t(remainders[i].second)];
    while (left < 0) { // ones that were rounded up to: from whoever has most
        --*std::ranges::max_element(counts);
        ++left;
    }
    return counts;
}

/// False where memory is short however layers are moved.
bool balanceLayers(const PlannerInput &input, Choice &choice)
{
    std::vector<double> speeds;
    std::vector<int> most;
    for (std::size_t i = 0; i < choice.stages.size(); ++i) {
        speeds.push_back(layerSpeed(input, choice.stages[i], choice.microBatch));
        most.push_back(mostLayers(input, choice, i));
        if (most.back() < 1)
            return false;
    }
    for (int attempt = 0; attempt <= kMostTries; ++attempt) {
        const std::vector<int> counts = inProportion(input.layers, speeds);
        bool fits = true;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            choice.stages[i].layers = counts[i];
            if (counts[i] <= most[i])
                continue;
            fits = false;
            speeds[i] *= double(most[i]) / counts[i]; // as fast as what it has memory for
        }
        if (fits)
            return true;
    }
    return false;
}

bool isMixed(const PlannerInput &input, const ChosenStage &stage)
{
    return std::ranges::any_of(stage.replicas, [&](const Replicas &replicas) {
        return input.sites[std::size_t(replicas.site)].kind
            != input.sites[std::size_t(stage.replicas.front().site)].kind;
    });
}

/// Every order of the kinds, each as its sites.
std::vector<std::vector<int>> orders(const PlannerInput &input)
{
    std::vector<int> kinds(input.kinds.size());
    std::iota(kinds.begin(), kinds.end(), 0);
    std::vector<std::vector<int>> all;
    do {
        std::vector<int> &sites = all.emplace_back();
        for (const int kind : kinds)
            for (std::size_t s = 0; s < input.sites.size(); ++s)
                if (input.sites[s].kind == kind)
                    sites.push_back(int(s));
    } while (std::ranges::next_permutation(kinds).found && all.size() < 24);
    return all;
}

/// Of the links between neighbouring replicas of the stage, or inside its sites.
double slowestRate(const PlannerInput &input, const ChosenStage &stage, double message)
{
    double slowest = std::numeric_limits<double>::infinity();
    for (const Replicas &a : stage.replicas)
        for (const Replicas &b : stage.replicas)
            slowest = std::min(slowest, input.rate(a.site, b.site, message));
    return slowest;
}

} // namespace

double metisSeconds(const Choice &choice, const PlannerInput &input)
{
    std::vector<double> times;
    double crossing = 0, reduction = 0;
    const int stages = int(choice.stages.size()), d = choice.data;
    const double boundary = choice.microBatch * input.boundaryNumbers * input.bytesPerNumber;
    for (int i = 0; i < stages; ++i) {
        const ChosenStage &stage = choice.stages[std::size_t(i)];
        times.push_back(stageSeconds(input, stage, choice.microBatch, i == 0, i == stages - 1));
        if (i + 1 < stages)
            crossing += boundary
                / input.rate(
                    stage.replicas.back().site, choice.stages[std::size_t(i) + 1].replicas.front().site, boundary);
        const double gradients = input.stageParameters(stage.layers, i == 0, i == stages - 1) * input.bytesPerNumber
            / stage.replicas.front().tensor;
        if (d > 1)
            reduction = std::max(reduction, 2.0 * (d - 1) / d * gradients / slowestRate(input, stage, gradients));
    }
    return pipelineSeconds(times, microBatchesOf(input, d, choice.microBatch)) + crossing + reduction;
}

Ranking byMetis(const PlannerInput &input, const std::stop_token &stop)
{
    Ranking ranking;
    ranking.rule = "orders of the kinds of GPUs cut into equal groups, layers by the speed of a group, moved where "
                   "memory is short";
    for (const std::vector<int> &sites : orders(input)) {
        for (int group = 1; group <= input.gpus(); group *= 2) {
            const int stages = input.gpus() / group;
            if (stages > input.layers)
                continue;
            for (const int tensor : input.tensors) {
                const int data = group / tensor;
                if (data * tensor != group)
                    continue;
                for (const int microBatch : input.microBatches) {
                    if (stop.stop_requested())
                        return ranking;
                    if (input.batch % (data * microBatch) != 0)
                        continue;
                    ++ranking.looked;
                    Choice choice { microBatch, data, false, fillInOrder(input, sites, stages, data, tensor) };
                    if (choice.stages.empty() || !balanceLayers(input, choice))
                        continue;
                    choice.isBalanced = std::ranges::any_of(
                        choice.stages, [&](const ChosenStage &stage) { return isMixed(input, stage); });
                    choice.seconds = metisSeconds(choice, input);
                    if (std::isfinite(choice.seconds))
                        ranking.choices.push_back(std::move(choice));
                }
            }
        }
    }
    keepBest(ranking.choices, [](const Choice &choice) { return choice.seconds; });
    return ranking;
}

} // namespace trainyard::rivals
