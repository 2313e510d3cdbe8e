// SPDX-License-Identifier: GPL-3.0-or-later
// Many models on the same GPUs: 1,000 jobs, which a planner waits for, and 50, which it moves. "units" counts those
// that compute; with transfers each has up to two more spans.
#include "core/systems/jobs/run_jobs.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

namespace {

using namespace trainyard;

enum class Moves : std::uint8_t { Nothing, Alone, Shared };

/// Jobs of unlike sizes in 8 shards on 8 equal GPUs, 100 mini-batches each.
JobSet jobs(int count, Moves moves, int minibatches = 100)
{
    constexpr std::size_t kShards = 8, kUnits = 2 * kShards - 1;
    std::mt19937 random(7);
    JobSet set;
    set.gpus.resize(8, { .memory = 24e9 });
    set.nodes.resize(1);
    for (int j = 0; j < count; ++j) {
        JobSpec job { .name = "job " + std::to_string(j), .minibatches = minibatches, .gpus = {}, .node = 0 };
        const double layer = 0.05 + 1e-4 * (random() % 1000);
        job.seconds.emplace_back();
        for (std::size_t u = 0; u < kUnits; ++u) {
            const bool isForward = u + 1 < kShards, isLast = u + 1 == kShards;
            JobUnit unit { .shard = static_cast<int>(std::min(u, kUnits - 1 - u)) };
            unit.kind = isForward ? WorkKind::Forward : isLast ? WorkKind::ForwardBackward : WorkKind::Backward;
            if (moves != Moves::Nothing) {
                unit.weights = isForward ? 1e9 : 4e9;
                unit.writeBack = isForward ? 0 : 4e9;
                unit.input = unit.output = 5e7;
                unit.running = unit.weights + 2e9;
            }
            job.units.push_back(unit);
            job.seconds.back().push_back(isForward ? layer : isLast ? 3 * layer : 2.5 * layer);
        }
        set.jobs.push_back(std::move(job));
    }
    if (moves != Moves::Nothing) {
        set.routeOf.emplace_back();
        for (std::uint32_t g = 0; g < 8; ++g) {
            JobRoute route { .toGpu = 25e9, .toHost = 25e9, .linksToGpu = {}, .linksToHost = {} };
            if (moves == Moves::Shared) { // two GPUs behind a switch, all on the host's memory
                route.linksToGpu = { g / 2, 8 };
                route.linksToHost = { 4 + g / 2, 8 };
            }
            set.routes.push_back(route);
            set.routeOf.back().push_back(static_cast<int>(g));
        }
        if (moves == Moves::Shared) {
            set.links.assign(8, 40e9);
            set.links.push_back(180e9);
        }
    }
    return set;
}

void report(benchmark::State &state, const JobSet &set, const JobRules &rules)
{
    SimulationWorkspace workspace;
    std::size_t spans = 0;
    for (auto _ : state) {
        const auto run = runJobs(set, rules, workspace);
        spans = run->timeline.spanCount();
        benchmark::DoNotOptimize(run->timeline.duration);
    }
    double units = 0;
    for (const JobSpec &job : set.jobs)
        units += static_cast<double>(job.units.size()) * static_cast<double>(job.minibatches);
    state.counters["units"] = units;
    state.counters["spans"] = static_cast<double>(spans);
    state.counters["per_unit"] =
        benchmark::Counter(units, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void aThousandJobsOf100MinibatchesIn8Shards(benchmark::State &state)
{
    const auto moves = static_cast<Moves>(state.range(0));
    report(state, jobs(1000, moves), { .doubleBuffer = moves != Moves::Nothing });
}
BENCHMARK(aThousandJobsOf100MinibatchesIn8Shards)
    ->ArgName("moves")
    ->Arg(static_cast<int>(Moves::Nothing))
    ->Arg(static_cast<int>(Moves::Alone))
    ->Arg(static_cast<int>(Moves::Shared))
    ->Unit(benchmark::kMillisecond);

void fiftyJobsWhileOneMoves(benchmark::State &state)
{
    const auto moves = static_cast<Moves>(state.range(0));
    report(state, jobs(50, moves, 10), { .doubleBuffer = moves != Moves::Nothing });
}
BENCHMARK(fiftyJobsWhileOneMoves)
    ->ArgName("moves")
    ->Arg(static_cast<int>(Moves::Nothing))
    ->Arg(static_cast<int>(Moves::Alone))
    ->Arg(static_cast<int>(Moves::Shared))
    ->Unit(benchmark::kMicrosecond);

/// Nobody asks GPUs that may take none of the jobs.
void fiftyPinnedJobsAmongTenThousandGpus(benchmark::State &state)
{
    JobSet set = jobs(50, Moves::Nothing, 10);
    set.gpus.resize(10'000, set.gpus[0]);
    for (JobSpec &job : set.jobs)
        job.gpus = { 0, 1 };
    report(state, set, { .doubleBuffer = false });
}
BENCHMARK(fiftyPinnedJobsAmongTenThousandGpus)->Unit(benchmark::kMicrosecond);

void fiftyJobsOnAThousandGpus(benchmark::State &state)
{
    JobSet set = jobs(50, Moves::Nothing, 10);
    set.gpus.resize(1000, set.gpus[0]);
    report(state, set, { .doubleBuffer = false });
}
BENCHMARK(fiftyJobsOnAThousandGpus)->Unit(benchmark::kMicrosecond);

void dealingAThousandJobs(benchmark::State &state)
{
    JobSet set = jobs(1000, Moves::Alone);
    for (JobSpec &job : set.jobs)
        job.node = -1;
    for (auto _ : state) {
        JobSet dealt = set;
        dealJobs(dealt);
        benchmark::DoNotOptimize(jobBounds(dealt).shared);
    }
}
BENCHMARK(dealingAThousandJobs)->Unit(benchmark::kMicrosecond);

} // namespace
