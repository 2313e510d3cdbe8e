// SPDX-License-Identifier: GPL-3.0-or-later
// The engine on the sizes that a planner asks for. "ops" counts tasks: forwards, backwards, transfers.
#include "core/engine/timeline/analysis.h"
#include "core/engine/timeline/event_loop.h"
#include "core/engine/timeline/graph_cache.h"
#include "core/iteration/graph/pipeline_graph.h"

#include <benchmark/benchmark.h>

#include <random>

namespace {

using namespace trainyard;

IterationCosts pipeline(ScheduleKind kind, int devices, int microBatches, int chunks = 1, int wanCuts = 0)
{
    PipelineCosts made;
    made.program = *makeProgram(kind, { devices, microBatches, chunks, {} });
    const auto stages = static_cast<std::size_t>(devices * chunks);
    for (std::size_t q = 0; q < stages; ++q)
        made.ops.push_back({ .forward = 1'000'003 + static_cast<Nanoseconds>(q % 5) * 1009, .backward = 2'037'101 });
    BoundaryTimes local;
    local.serialization[0] = local.serialization[1] = 20'011;
    made.boundaries.assign(stages - 1, local);
    for (int cut = 1; cut <= wanCuts; ++cut) {
        BoundaryTimes &wan = made.boundaries[static_cast<std::size_t>(devices * cut / (wanCuts + 1) - 1)];
        wan = { .isWan = true,
            .wanLink = 0,
            .linkDirection = { 0, 1 },
            .serialization = { 900'001, 900'001 },
            .latency = { 30'000'000, 30'000'000 },
            .bytes = { 5e5, 5e5 },
            .rateCap = { 6e8, 6e8 } };
    }
    made.syncAndStep.assign(
        static_cast<std::size_t>(devices), { .reduce = 5'000'000, .reduceEarly = 900'000, .optimizer = 800'000 });
    IterationCosts costs;
    costs.classes.push_back(std::move(made));
    return costs;
}

void report(benchmark::State &state, const TaskGraph &graph)
{
    const auto ops = static_cast<double>(graph.taskCount());
    state.counters["ops"] = ops;
    state.counters["per_op"] =
        benchmark::Counter(ops, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void simulateKept(benchmark::State &state, const TaskGraph &graph)
{
    SimulationWorkspace workspace;
    Timeline timeline;
    for (auto _ : state) {
        benchmark::DoNotOptimize(simulateInto(timeline, graph, workspace).has_value());
        benchmark::DoNotOptimize(timeline.duration);
    }
    report(state, graph);
}

void sixtyFourStagesOf512MicroBatchesWithAllSpans(benchmark::State &state)
{
    simulateKept(state, *buildPipelineGraph(pipeline(ScheduleKind::OneFOneB, 64, 512)));
}
BENCHMARK(sixtyFourStagesOf512MicroBatchesWithAllSpans)->Unit(benchmark::kMicrosecond);

void sixtyFourStagesOf512MicroBatchesIntoAFreshTimeline(benchmark::State &state)
{
    const TaskGraph graph = *buildPipelineGraph(pipeline(ScheduleKind::OneFOneB, 64, 512));
    SimulationWorkspace workspace;
    for (auto _ : state)
        benchmark::DoNotOptimize(simulate(graph, workspace)->duration);
    report(state, graph);
}
BENCHMARK(sixtyFourStagesOf512MicroBatchesIntoAFreshTimeline)->Unit(benchmark::kMicrosecond);

void newDurationsThenSixtyFourStagesOf512(benchmark::State &state)
{
    IterationCosts costs = pipeline(ScheduleKind::OneFOneB, 64, 512);
    GraphCache graphs;
    graphs.giveBack(*buildPipelineGraph(costs));
    SimulationWorkspace workspace;
    Timeline timeline;
    for (auto _ : state) {
        costs.classes[0].ops[7].forward += 11;
        TaskGraph graph = *pipelineGraph(costs, graphs);
        benchmark::DoNotOptimize(simulateInto(timeline, graph, workspace).has_value());
        graphs.giveBack(std::move(graph));
    }
    report(state, *pipelineGraph(costs, graphs));
}
BENCHMARK(newDurationsThenSixtyFourStagesOf512)->Unit(benchmark::kMicrosecond);

void theProgramOfSixtyFourStagesOf512(benchmark::State &state)
{
    for (auto _ : state)
        benchmark::DoNotOptimize(makeProgram(ScheduleKind::OneFOneB, { 64, 512, 1, {} }));
}
BENCHMARK(theProgramOfSixtyFourStagesOf512)->Unit(benchmark::kMicrosecond);

void theTopologyOfSixtyFourStagesOf512(benchmark::State &state)
{
    const IterationCosts costs = pipeline(ScheduleKind::OneFOneB, 64, 512);
    TaskGraph graph;
    for (auto _ : state)
        graph = *buildPipelineGraph(costs);
    report(state, graph);
}
BENCHMARK(theTopologyOfSixtyFourStagesOf512)->Unit(benchmark::kMicrosecond);

void gpt3OnEightStagesOf96MicroBatches(benchmark::State &state)
{
    const auto chunks = static_cast<int>(state.range(0));
    simulateKept(state,
        *buildPipelineGraph(pipeline(chunks == 1 ? ScheduleKind::OneFOneB : ScheduleKind::Interleaved, 8, 96, chunks)));
}
BENCHMARK(gpt3OnEightStagesOf96MicroBatches)->ArgName("chunks")->Arg(1)->Arg(2)->Arg(4)->Unit(benchmark::kMicrosecond);

void threeDatacentersByTheSinglePass(benchmark::State &state)
{
    simulateKept(state, *buildPipelineGraph(pipeline(ScheduleKind::OneFOneB, 12, 128, 1, 2)));
}
BENCHMARK(threeDatacentersByTheSinglePass)->Unit(benchmark::kMicrosecond);

void threeDatacentersByEvents(benchmark::State &state)
{
    IterationCosts costs = pipeline(ScheduleKind::OneFOneB, 12, 128, 1, 2);
    costs.linkCapacity = { 1e12, 1e12 };
    const TaskGraph graph = *buildPipelineGraph(costs);
    SimulationWorkspace workspace;
    Timeline timeline;
    for (auto _ : state) {
        prepareTimeline(timeline, graph);
        benchmark::DoNotOptimize(runEvents(graph, workspace, timeline, {}).has_value());
        finishTimeline(timeline, graph);
    }
    report(state, graph);
}
BENCHMARK(threeDatacentersByEvents)->Unit(benchmark::kMicrosecond);

void eightClassesOnOneFullWanLink(benchmark::State &state)
{
    IterationCosts costs = pipeline(ScheduleKind::OneFOneB, 12, 128, 1, 2);
    for (int c = 1; c < 8; ++c) {
        costs.classes.push_back(costs.classes[0]);
        for (OpTimes &times : costs.classes.back().ops)
            times.forward += 1013 * c;
    }
    costs.linkCapacity = { 3e9, 3e9 };
    simulateKept(state, *buildPipelineGraph(costs));
}
BENCHMARK(eightClassesOnOneFullWanLink)->Unit(benchmark::kMicrosecond);

void maxMinFairRatesOf(benchmark::State &state)
{
    const auto flows = static_cast<std::size_t>(state.range(0)), links = static_cast<std::size_t>(state.range(1));
    std::mt19937 random(3);
    std::vector<double> capacity, cap, weight(flows, 1), rate;
    std::vector<std::uint32_t> begin, index;
    for (std::size_t l = 0; l < links; ++l)
        capacity.push_back(10 + static_cast<double>(random() % 1000));
    for (std::size_t f = 0; f < flows; ++f) {
        cap.push_back(5 + static_cast<double>(random() % 400));
        begin.push_back(static_cast<std::uint32_t>(index.size()));
        std::uint32_t link = static_cast<std::uint32_t>(random() % links);
        for (int hops = 0; hops < 4;
             ++hops, link = (link + 1 + static_cast<std::uint32_t>(random() % 7)) % static_cast<std::uint32_t>(links))
            index.push_back(link);
    }
    begin.push_back(static_cast<std::uint32_t>(index.size()));
    FairShareWorkspace workspace;
    for (auto _ : state) {
        maxMinFairRates(capacity, cap, weight, begin, index, {}, rate, workspace);
        benchmark::DoNotOptimize(rate.data());
    }
}
BENCHMARK(maxMinFairRatesOf)->ArgNames({ "flows", "links" })->Args({ 20, 10 })->Args({ 200, 50 })->Args({ 1000, 200 });

void whereTheSecondsOfSixtyFourStagesWent(benchmark::State &state)
{
    const TaskGraph graph = *buildPipelineGraph(pipeline(ScheduleKind::OneFOneB, 64, 512));
    SimulationWorkspace workspace;
    const Timeline timeline = *simulate(graph, workspace);
    for (auto _ : state)
        benchmark::DoNotOptimize(stageTimes(timeline).data());
    report(state, graph);
}
BENCHMARK(whereTheSecondsOfSixtyFourStagesWent)->Unit(benchmark::kMicrosecond);

} // namespace
