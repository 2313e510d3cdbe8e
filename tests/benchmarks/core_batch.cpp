// SPDX-License-Identifier: GPL-3.0-or-later
// Event-accurate evaluations in bulk: the pass in lanes, and candidates of GPT-3's space on 1,024 A100 with memory and
// verdict, on one core. "cold" begins knowing nothing and looks at every candidate once, as a search does; "warm" has
// looked at as many others of the space before.
#include "core/engine/timeline/simd_batch.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/graph/pipeline_graph.h"
#include "core/planner/score/batch_runner.h"
#include "tests/core/planner/score/spaces.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

namespace {

using namespace trainyard;

/// `isEven`: all stages alike, so that the pipeline soon repeats itself.
IterationCosts costsOf(ScheduleKind kind, int devices, int microBatches, int chunks, bool isEven)
{
    PipelineCosts made;
    made.program = *makeProgram(kind, { devices, microBatches, chunks, {} });
    const auto stages = static_cast<std::size_t>(devices * chunks);
    for (std::size_t q = 0; q < stages; ++q) {
        const Nanoseconds forward = 1'000'003 + (isEven ? 0 : static_cast<Nanoseconds>(q * 7919 % 100'003));
        made.ops.push_back(
            { .forward = forward, .backward = 2 * forward, .inputGrad = forward, .weightGrad = forward });
    }
    BoundaryTimes local;
    local.serialization[0] = local.serialization[1] = 20'011;
    made.boundaries.assign(stages - 1, local);
    made.syncAndStep.assign(
        static_cast<std::size_t>(devices), { .reduce = 5'000'000, .reduceEarly = 900'000, .optimizer = 800'000 });
    IterationCosts costs;
    costs.classes.push_back(std::move(made));
    return costs;
}

void passOf(benchmark::State &state, ScheduleKind kind, int devices, int microBatches, int chunks, bool isEven)
{
    const TaskGraph graph = *buildPipelineGraph(costsOf(kind, devices, microBatches, chunks, isEven));
    const LaneSteps steps = *laneSteps(graph);
    LaneTable table(steps);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
        table.set(lane, steps, graph.table);
    LaneWorkspace workspace;
    for (auto _ : state)
        benchmark::DoNotOptimize(endsOfLanes(steps, table, workspace));
    const auto ops = static_cast<double>(graph.taskCount() * kLanes);
    state.counters["ops"] = ops / kLanes;
    state.counters["per_op"] =
        benchmark::Counter(ops, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(passOf, evenStages32x256, ScheduleKind::OneFOneB, 32, 256, 1, true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(passOf, unevenStages32x256, ScheduleKind::OneFOneB, 32, 256, 1, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(passOf, interleaved32x256, ScheduleKind::Interleaved, 32, 256, 3, true)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(passOf, splitBackward32x256, ScheduleKind::ZbH1, 32, 256, 1, true)->Unit(benchmark::kMicrosecond);

void stepsOfATopology(benchmark::State &state)
{
    const TaskGraph graph = *buildPipelineGraph(costsOf(ScheduleKind::OneFOneB, 32, 256, 1, true));
    for (auto _ : state)
        benchmark::DoNotOptimize(laneSteps(graph));
}
BENCHMARK(stepsOfATopology)->Unit(benchmark::kMicrosecond);

SearchSpace gpt3Space()
{
    using namespace spaces;
    Plan plan = *readPlan(TRAINYARD_SOURCE_DIR "/samples/gpt3-175b-1024-a100.trainyard.json");
    plan.parallelism.data = {};
    return space(plan,
        { tensor({ 1, 2, 4, 8, 16 }), pipeline({ 1, 2, 4, 8, 16, 32 }), context({ 1, 2, 4 }),
            microBatch({ 1, 2, 4, 8 }), chunks({ 1, 2, 3, 6 }),
            schedule({ ScheduleKind::OneFOneB, ScheduleKind::Interleaved, ScheduleKind::GPipe, ScheduleKind::ZbH1 }),
            recompute({ Recompute::None, Recompute::Selective, Recompute::Full }), sequenceParallel(),
            zeroStage({ 0, 1, 2, 3 }) });
}

/// Those that run() runs, in the order of their numbers.
const std::vector<Candidate> &gpt3Candidates(const SearchSpace &space)
{
    static const std::vector<Candidate> kValid = [&] {
        BatchRunner runner(space, builtinCatalogue());
        std::vector<Candidate> all, valid;
        for (std::uint64_t i = 0; i < space.size(); ++i)
            all.push_back(space.candidate(i));
        std::vector<Outcome> outcomes(all.size());
        runner.run(all, outcomes);
        for (std::size_t i = 0; i < all.size(); ++i)
            if (outcomes[i].isRun)
                valid.push_back(std::move(all[i]));
        return valid;
    }();
    return kValid;
}

const SearchSpace &gpt3()
{
    static const SearchSpace kSpace = gpt3Space();
    return kSpace;
}

void tell(benchmark::State &state, std::size_t plans, const BatchRunner &runner)
{
    state.counters["plans"] = static_cast<double>(plans);
    state.counters["plans_per_s"] =
        benchmark::Counter(static_cast<double>(plans), benchmark::Counter::kIsIterationInvariantRate);
    state.counters["in_lanes"] = static_cast<double>(runner.inLanes());
    state.counters["topologies"] = static_cast<double>(runner.kept().topologies);
    state.counters["frames"] = static_cast<double>(runner.kept().frames);
}

void gpt3Cold(benchmark::State &state)
{
    const std::vector<Candidate> &candidates = gpt3Candidates(gpt3());
    std::vector<Outcome> outcomes(candidates.size());
    for (auto _ : state) {
        BatchRunner runner(gpt3(), builtinCatalogue());
        runner.run(candidates, outcomes);
        tell(state, candidates.size(), runner);
    }
}
BENCHMARK(gpt3Cold)->Unit(benchmark::kMillisecond);

/// Every second of the candidates, after the others.
void gpt3Warm(benchmark::State &state)
{
    std::vector<Candidate> candidates = gpt3Candidates(gpt3());
    std::ranges::shuffle(candidates, std::mt19937(22));
    const std::size_t half = candidates.size() / 2;
    std::vector<Outcome> outcomes(candidates.size());
    for (auto _ : state) {
        state.PauseTiming();
        BatchRunner runner(gpt3(), builtinCatalogue());
        runner.run(std::span(candidates).first(half), std::span(outcomes).first(half));
        state.ResumeTiming();
        runner.run(std::span(candidates).subspan(half), std::span(outcomes).subspan(half));
        tell(state, candidates.size() - half, runner);
    }
}
BENCHMARK(gpt3Warm)->Unit(benchmark::kMillisecond);

} // namespace
