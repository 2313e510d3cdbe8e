// SPDX-License-Identifier: GPL-3.0-or-later
// The shortest order of units by a solver, which runs as a program of its own: of sets as small as can be compared with
// brute force, and of twelve models.
#include "core/systems/jobs/shard_milp.h"

#include <benchmark/benchmark.h>

#include <random>

namespace {

using namespace trainyard;

/// Units of whole seconds, so that no schedule is better by a little.
JobSet drawn(std::mt19937 &random, int gpus, int jobs, int units)
{
    JobSet set;
    set.gpus.resize(std::size_t(gpus));
    set.nodes.resize(1);
    for (int i = 0; i < jobs; ++i) {
        JobSpec job { .name = "job", .seconds = { {} }, .gpus = {}, .node = 0 };
        for (int unit = 0; unit < units; ++unit) {
            job.units.push_back({ .shard = unit });
            job.seconds[0].push_back(1 + double(random() % 6));
        }
        set.jobs.push_back(std::move(job));
    }
    return set;
}

void theShortestOrder(benchmark::State &state)
{
    const int gpus = int(state.range(0)), jobs = int(state.range(1)), units = int(state.range(2));
    std::mt19937 random(18);
    SimulationWorkspace workspace;
    int proven = 0, searches = 0, sets = 0;
    for (auto _ : state) {
        state.PauseTiming();
        const JobSet set = drawn(random, gpus, jobs, units);
        state.ResumeTiming();
        const auto answer = shardMilp(set, {}, {}, workspace);
        if (!answer)
            return state.SkipWithError(toString(answer.error()).c_str());
        proven += answer->isProven;
        searches += answer->searches;
        ++sets;
    }
    state.counters["proven"] = double(proven) / sets;
    state.counters["searches"] = double(searches) / sets;
}
BENCHMARK(theShortestOrder)
    ->Args({ 3, 4, 8 })
    ->Args({ 8, 12, 15 })
    ->Iterations(20)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

} // namespace
