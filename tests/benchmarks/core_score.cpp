// SPDX-License-Identifier: GPL-3.0-or-later
// Both tiers of the search, on one core: candidates a second with memory, scored and event by event, in the plan space
// of llm-cluster-simulator's optimiser and in a larger one. New: a scorer or runner that knows nothing yet, its tables
// included.
#include "tests/support/optimizer_space.h"
#include "tests/support/samples.h"

#include "core/planner/score/batch_runner.h"
#include "core/planner/score/scorer.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <optional>

using namespace trainyard;
using namespace trainyard::test;

namespace {

OptimizerSpace gpt3()
{
    return OptimizerSpace(samplePlan("gpt3-175b-1024-a100"));
}

void scoreList(benchmark::State &state, bool isNew)
{
    const CandidateList list = gpt3().list();
    std::optional<Scorer> scorer;
    scorer.emplace(list.space, builtinCatalogue());
    std::size_t open = 0;
    const auto scoreAll = [&] {
        open = 0;
        for (const Candidate &candidate : list.candidates) {
            const Score score = scorer->score(candidate);
            open += score.state == ScoreState::Open;
            benchmark::DoNotOptimize(score);
        }
    };
    scoreAll();
    for (auto _ : state) {
        if (isNew)
            scorer.emplace(list.space, builtinCatalogue());
        scoreAll();
    }
    state.SetItemsProcessed(std::int64_t(state.iterations()) * std::int64_t(list.candidates.size()));
    state.counters["candidates"] = double(list.candidates.size());
    state.counters["open"] = double(open);
}

void scoreOptimizersPlansNew(benchmark::State &state)
{
    scoreList(state, true);
}
BENCHMARK(scoreOptimizersPlansNew)->Unit(benchmark::kMillisecond);

void scoreOptimizersPlansAgain(benchmark::State &state)
{
    scoreList(state, false);
}
BENCHMARK(scoreOptimizersPlansAgain)->Unit(benchmark::kMillisecond);

void scoreRangeOf(benchmark::State &state, bool isNew)
{
    const SearchSpace space = gpt3().larger();
    std::vector<Score> scores(space.size());
    std::optional<Scorer> scorer;
    scorer.emplace(space, builtinCatalogue());
    scorer->scoreRange(0, scores);
    for (auto _ : state) {
        if (isNew)
            scorer.emplace(space, builtinCatalogue());
        scorer->scoreRange(0, scores);
        benchmark::DoNotOptimize(scores.data());
    }
    state.SetItemsProcessed(std::int64_t(state.iterations()) * std::int64_t(scores.size()));
    state.counters["candidates"] = double(scores.size());
    state.counters["open"] = double(std::ranges::count(scores, ScoreState::Open, &Score::state));
}

void scoreALargerSpaceNew(benchmark::State &state)
{
    scoreRangeOf(state, true);
}
BENCHMARK(scoreALargerSpaceNew)->Unit(benchmark::kMillisecond);

void scoreALargerSpaceAgain(benchmark::State &state)
{
    scoreRangeOf(state, false);
}
BENCHMARK(scoreALargerSpaceAgain)->Unit(benchmark::kMillisecond);

void runList(benchmark::State &state, bool isNew)
{
    const CandidateList list = gpt3().list();
    std::optional<BatchRunner> runner;
    runner.emplace(list.space, builtinCatalogue());
    std::vector<Outcome> outcomes(list.candidates.size());
    runner->run(list.candidates, outcomes);
    for (auto _ : state) {
        if (isNew)
            runner.emplace(list.space, builtinCatalogue());
        runner->run(list.candidates, outcomes);
        benchmark::DoNotOptimize(outcomes.data());
    }
    state.SetItemsProcessed(std::int64_t(state.iterations()) * std::int64_t(outcomes.size()));
    state.counters["candidates"] = double(outcomes.size());
    state.counters["run"] = double(std::ranges::count(outcomes, true, &Outcome::isRun));
    state.counters["feasible"] = double(std::ranges::count(outcomes, true, &Outcome::isFeasible));
    state.counters["in_lanes"] = double(runner->inLanes());
}

void runOptimizersPlansNew(benchmark::State &state)
{
    runList(state, true);
}
BENCHMARK(runOptimizersPlansNew)->Unit(benchmark::kMillisecond);

void runOptimizersPlansAgain(benchmark::State &state)
{
    runList(state, false);
}
BENCHMARK(runOptimizersPlansAgain)->Unit(benchmark::kMillisecond);

} // namespace
