// SPDX-License-Identifier: GPL-3.0-or-later
// Shares of unequal GPUs, planned anew at every step of a drag: the lab cluster of Cephalo's profile by both searches,
// 64 GPUs of up to four types with 512 samples, and 512 GPUs with 2,048.
#include "core/systems/unequal_gpus/profile_tables.h"
#include "core/systems/unequal_gpus/shares.h"

#include <benchmark/benchmark.h>

namespace {

using namespace trainyard;

constexpr double kGiB = 1024.0 * 1024 * 1024;

RankKind kind(int ranks, double usableGiB, double forward, double backward, int size)
{
    RankKind kind;
    kind.ranks = ranks;
    kind.forward = lineTable(forward, 1.2, size);
    kind.backward = lineTable(backward, 3.1, size);
    kind.compute = extrapolated({ 1.120 * kGiB, 1.490 * kGiB, 1.863 * kGiB, 2.233 * kGiB }, size);
    kind.room = usableGiB * kGiB;
    return kind;
}

ShareProblem problem(const std::vector<RankKind> &kinds, int batch, double statesGiB)
{
    ShareProblem problem;
    problem.kinds = kinds;
    problem.batch = batch;
    problem.gather = 20;
    problem.reduceScatter = 40;
    problem.overhead = 10;
    problem.stateBytes = statesGiB * kGiB;
    return problem;
}

ShareProblem labCluster()
{
    return problem({ kind(2, 14.9, 7.4, 10.9, 64), kind(1, 34, 2.8, 4.2, 64), kind(1, 14.9, 15.6, 28, 64) }, 64, 41.3);
}

void planTheLabCluster(benchmark::State &state)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(fastShares(labCluster()));
}
BENCHMARK(planTheLabCluster)->Unit(benchmark::kMicrosecond);

void planTheLabClusterAsReleased(benchmark::State &state)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(releasedShares(labCluster()));
}
BENCHMARK(planTheLabClusterAsReleased)->Unit(benchmark::kMillisecond);

/// GPUs, samples, types; percent of the memory of all that states take.
void planManyGpus(benchmark::State &state)
{
    const int types = int(state.range(2)), each = int(state.range(0)) / types, batch = int(state.range(1));
    std::vector<RankKind> kinds;
    double room = 0;
    for (int t = 0; t < types; ++t) {
        kinds.push_back(kind(each, 12.0 + 9 * t, 16.3 / (1 + 1.3 * t), 29.1 / (1 + 1.2 * t), batch));
        for (double &bytes : kinds.back().compute)
            bytes *= 1 + 0.07 * t; // no two types alike in memory either
        room += each * kinds.back().room / kGiB;
    }
    const ShareProblem many = problem(kinds, batch, room * double(state.range(3)) / 100);
    double layer = 0;
    for (auto _ : state) {
        const auto shares = fastShares(many);
        layer = shares ? shares->layerTime : -1;
        benchmark::DoNotOptimize(layer);
    }
    state.counters["layer_ms"] = layer;
}
BENCHMARK(planManyGpus)
    ->ArgNames({ "gpus", "samples", "types", "states" })
    ->Unit(benchmark::kMillisecond)
    ->Args({ 64, 512, 1, 40 })
    ->Args({ 64, 512, 2, 40 })
    ->Args({ 64, 512, 4, 40 })
    ->Args({ 64, 512, 4, 93 })
    ->Args({ 512, 2048, 2, 40 });

} // namespace
