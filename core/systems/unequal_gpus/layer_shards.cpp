// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/unequal_gpus/layer_shards.h"

#include "core/systems/unequal_gpus/layer_time.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace trainyard {

namespace {

constexpr double kOfLayer = 1e-9; // less of a layer is rounding

struct Quota {
    double left = 0; // layers
    int ranks = 1;
};

/// One layer's shards: the smallest quotas are used up first, the others take as much each.
std::vector<double> oneLayer(const std::vector<Quota> &quotas)
{
    std::vector<std::size_t> order(quotas.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::ranges::stable_sort(order, {}, [&quotas](std::size_t i) { return quotas[i].left; });
    int ranks = 0;
    for (const Quota &quota : quotas)
        ranks += quota.ranks;
    std::vector<double> shards(quotas.size());
    double layer = 1;
    for (const std::size_t i : order) {
        shards[i] = ranks > 0 ? std::min(quotas[i].left, layer / ranks) : 0;
        layer -= quotas[i].ranks * shards[i];
        ranks -= quotas[i].ranks;
    }
    return shards;
}

bool areEqual(const std::vector<double> &a, const std::vector<double> &b)
{
    return std::ranges::equal(a, b, [](double x, double y) { return std::abs(x - y) < kOfLayer; });
}

} // namespace

std::vector<LayerShards> layerShards(const Shares &shares, int layers)
{
    std::vector<Quota> quotas;
    int ranks = 0;
    for (const RankShare &rank : shares.ranks) {
        quotas.push_back({ rank.stateShare * layers, rank.ranks });
        ranks += rank.ranks;
    }
    const std::vector<double> even(quotas.size(), ranks > 0 ? 1.0 / ranks : 0);
    std::vector<LayerShards> runs;
    for (int layer = 0; layer < layers; ++layer) {
        const std::vector<double> shards = oneLayer(quotas);
        for (std::size_t i = 0; i < quotas.size(); ++i)
            if (quotas[i].left -= shards[i]; quotas[i].left < kOfLayer)
                quotas[i].left = 0;
        if (!runs.empty() && areEqual(runs.back().shards, shards))
            ++runs.back().layers;
        else
            runs.push_back({ 1, shards, areEqual(shards, even) });
    }
    return runs;
}

double layersTime(const ShareProblem &problem, const Shares &shares, const std::vector<LayerShards> &layers)
{
    double time = 0;
    for (const LayerShards &run : layers) {
        const double penalty = run.isEven ? 1 : problem.unevenPenalty;
        double slowest = 0;
        for (const RankShare &rank : shares.ranks)
            slowest = std::max(slowest,
                layerTimeAt(
                    problem, problem.kinds[std::size_t(rank.kind)], rank.microBatch, rank.microBatches, penalty));
        time += run.layers * slowest;
    }
    return time;
}

} // namespace trainyard
