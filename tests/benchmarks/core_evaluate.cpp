// SPDX-License-Identifier: GPL-3.0-or-later
// The way from a plan to its numbers on real plans: a whole evaluation, the closed form, and what a step of a drag
// costs.
#include "core/evaluation/advice/alternatives.h"
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/advice/run_pool.h"
#include "core/evaluation/evaluate/estimate.h"
#include "core/evaluation/selection/selection.h"
#include "core/facts/cluster/edits.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/placement/place.h"
#include "tests/support/samples.h"

#include <benchmark/benchmark.h>

#include <latch>

using namespace trainyard;
using test::sharedSample;

namespace {

/// The three-region sample with this many GPUs, a third of them in each region, and a batch to match.
PlanPtr threeRegions(int gpus)
{
    Plan plan = *sharedSample("llama-3-70b-three-regions");
    const int before = plan.cluster.gpus();
    for (Datacenter &datacenter : plan.cluster.datacenters)
        datacenter.pools.front().nodes = gpus / 3 / datacenter.pools.front().gpusPerNode;
    plan.workload.globalBatch = int(std::int64_t(plan.workload.globalBatch) * plan.cluster.gpus() / before);
    return std::make_shared<const Plan>(std::move(plan));
}

void evaluateOf(benchmark::State &state, const PlanPtr &plan, Depth options)
{
    EvaluationWorkspace workspace;
    std::size_t spans = 0;
    for (auto _ : state) {
        const auto evaluation = evaluate(plan, builtinCatalogue(), workspace, {}, options);
        if (!evaluation) {
            state.SkipWithError("the plan cannot be evaluated");
            return;
        }
        spans = (*evaluation)->metrics.spans;
        benchmark::DoNotOptimize(evaluation);
    }
    state.counters["spans"] = double(spans);
}

void evaluateGpt3On1024WithAllSpans(benchmark::State &state)
{
    evaluateOf(state, sharedSample("gpt3-175b-1024-a100"), Depth::Everything);
}
BENCHMARK(evaluateGpt3On1024WithAllSpans)->Unit(benchmark::kMicrosecond);

void evaluateGpt3On1024ForItsMetrics(benchmark::State &state)
{
    evaluateOf(state, sharedSample("gpt3-175b-1024-a100"), Depth::Score);
}
BENCHMARK(evaluateGpt3On1024ForItsMetrics)->Unit(benchmark::kMicrosecond);

void evaluateSixtyFourStagesOf512MicroBatches(benchmark::State &state)
{
    Plan plan = *sharedSample("megatron-1t-3072-a100");
    plan.workload.globalBatch = 512 * 6;
    plan.parallelism.data = 6;
    plan.parallelism.virtualPipeline = 1;
    plan.schedule = ScheduleKind::OneFOneB;
    evaluateOf(state, std::make_shared<const Plan>(std::move(plan)), Depth::Everything);
}
BENCHMARK(evaluateSixtyFourStagesOf512MicroBatches)->Unit(benchmark::kMicrosecond);

/// Operations cut into modules, a store and a load for each that leaves, and memory counted with and without.
void evaluateGpt3WithActivationsOnDrives(benchmark::State &state)
{
    evaluateOf(state, sharedSample("gpt3-offload-a100-40gb"), Depth::Everything);
}
BENCHMARK(evaluateGpt3WithActivationsOnDrives)->Unit(benchmark::kMicrosecond);

/// Every stream of an optimizer step on drives as rows of its own.
void evaluateGpt3WithStatesOnDrives(benchmark::State &state)
{
    Plan plan = *sharedSample("gpt3-offload-a100-40gb");
    plan.memory.activationOffload = ActivationOffload::None;
    plan.memory.optimizerOffload = OptimizerOffload::Ssd;
    evaluateOf(state, std::make_shared<const Plan>(std::move(plan)), Depth::Spans);
}
BENCHMARK(evaluateGpt3WithStatesOnDrives)->Unit(benchmark::kMicrosecond);

/// The ladder is climbed for the fixes of a plan that does not fit, when an edit has settled.
void evaluateGpt3ThatDoesNotFitWithFixes(benchmark::State &state)
{
    Plan plan = *sharedSample("gpt3-offload-a100-40gb");
    plan.memory.activationOffload = ActivationOffload::None;
    evaluateOf(state, std::make_shared<const Plan>(std::move(plan)), Depth::Everything);
}
BENCHMARK(evaluateGpt3ThatDoesNotFitWithFixes)->Unit(benchmark::kMicrosecond);

/// Greedy stages, eight members a cell, turns on the channels and a full link: all that needs the event loop.
void evaluateAtlasInCellsOfEight(benchmark::State &state)
{
    Plan plan = *threeRegions(1152);
    plan.schedule = ScheduleKind::Atlas;
    plan.wan.sharing = WanSharing::Temporal;
    plan.wan.cell = 8;
    evaluateOf(state, std::make_shared<const Plan>(std::move(plan)), Depth::Everything);
}
BENCHMARK(evaluateAtlasInCellsOfEight)->Unit(benchmark::kMicrosecond);

void estimateGpt3On1024(benchmark::State &state)
{
    const auto asked = resolve(sharedSample("gpt3-175b-1024-a100"), builtinCatalogue());
    if (!asked) {
        state.SkipWithError("the plan cannot be resolved");
        return;
    }
    const Workload workload = place(*asked, candidateModes(*asked->plan).front());
    for (auto _ : state)
        benchmark::DoNotOptimize(estimate(workload));
}
BENCHMARK(estimateGpt3On1024)->Unit(benchmark::kMicrosecond);

/// Placement and memory too, from a resolved workload.
void estimateGpt3On1024WithPlacementAndMemory(benchmark::State &state)
{
    auto workload = resolve(sharedSample("gpt3-175b-1024-a100"), builtinCatalogue());
    if (!workload) {
        state.SkipWithError("the plan cannot be resolved");
        return;
    }
    for (auto _ : state)
        benchmark::DoNotOptimize(placedEstimate(*workload));
}
BENCHMARK(estimateGpt3On1024WithPlacementAndMemory)->Unit(benchmark::kMicrosecond);

/// What every switch would do, as the window asks once edits have rested: by all searchers of a pool.
void effectsOfEveryStrategy(benchmark::State &state)
{
    const PlanPtr plan = threeRegions(int(state.range(0)));
    std::vector<Alternative> alternatives = strategyAlternatives(*plan, builtinCatalogue());
    std::erase_if(alternatives, [](const Alternative &a) { return a.isCurrent || !a.plan; });
    RunPool pool;
    for (auto _ : state) {
        std::latch done(1);
        pool.threads().submit(WorkPool::Rank::Search, [&] {
            pool.threads().each(alternatives.size(), [&](std::size_t i) {
                benchmark::DoNotOptimize(run(alternatives[i].plan, Depth::Score,
                    { .catalogue = builtinCatalogue(), .workspace = pool.workspace() }));
            });
            done.count_down();
        });
        done.wait();
    }
    state.counters["strategies"] = double(alternatives.size());
}
BENCHMARK(effectsOfEveryStrategy)->ArgName("gpus")->Arg(1152)->Arg(16416)->UseRealTime()->Unit(benchmark::kMillisecond);

/// Every set of datacenters and number of replicas screened, those that matter simulated.
void selectDatacentersOfThreeRegions(benchmark::State &state)
{
    const PlanPtr plan = threeRegions(int(state.range(0)));
    EvaluationWorkspace workspace;
    int screened = 0;
    std::size_t simulated = 0;
    for (auto _ : state) {
        const auto selection = selectDatacenters(plan, builtinCatalogue(), workspace);
        if (!selection) {
            state.SkipWithError("the plan has no selection");
            return;
        }
        screened = selection->screened;
        simulated = selection->options.size();
    }
    state.counters["screened"] = screened;
    state.counters["simulated"] = double(simulated);
}
BENCHMARK(selectDatacentersOfThreeRegions)->ArgName("gpus")->Arg(576)->Arg(16416)->Unit(benchmark::kMillisecond);

/// The first region of the three-region sample many times over, every pair linked.
PlanPtr manyDatacenters(int count)
{
    Plan plan = *sharedSample("llama-3-70b-three-regions");
    const Datacenter like = plan.cluster.datacenters.front();
    const WanLink wire = plan.cluster.wanLinks.front();
    plan.cluster.datacenters.clear();
    plan.cluster.wanLinks.clear();
    for (int d = 0; d < count; ++d) {
        Datacenter &site = plan.cluster.datacenters.emplace_back(like);
        site.id = site.name = "site-" + std::to_string(d);
        site.pools.front().id = "pool-" + std::to_string(d);
        for (int other = 0; other < d; ++other) {
            WanLink &link = plan.cluster.wanLinks.emplace_back(wire);
            link.between = { "site-" + std::to_string(other), site.id };
            link.rttMs = 20 + (d * 7 + other * 13) % 80;
        }
    }
    plan.placement = {};
    return std::make_shared<const Plan>(std::move(plan));
}

/// What a drag over a map of many datacenters costs: within a frame of 16 ms.
void evaluateManyLinkedDatacenters(benchmark::State &state)
{
    evaluateOf(state, manyDatacenters(int(state.range(0))), Depth::Spans);
}
BENCHMARK(evaluateManyLinkedDatacenters)->ArgName("datacenters")->Arg(7)->Arg(30)->Unit(benchmark::kMillisecond);

/// The ranking of `explain`: within two seconds.
void selectAmongManyLinkedDatacenters(benchmark::State &state)
{
    const PlanPtr plan = manyDatacenters(int(state.range(0)));
    EvaluationWorkspace workspace;
    for (auto _ : state)
        benchmark::DoNotOptimize(selectDatacenters(plan, builtinCatalogue(), workspace));
}
BENCHMARK(selectAmongManyLinkedDatacenters)->ArgName("datacenters")->Arg(30)->Unit(benchmark::kMillisecond);

/// What a better part would buy, as `explain` asks it over as many parts as it looks at.
void betterPartsOfManyLinkedDatacenters(benchmark::State &state)
{
    const PlanPtr plan = manyDatacenters(int(state.range(0)));
    EvaluationWorkspace workspace;
    const auto now = evaluate(plan, builtinCatalogue(), workspace);
    std::size_t tried = 0;
    for (auto _ : state) {
        const BetterParts parts = betterParts(*plan, builtinCatalogue(), now ? &(*now)->layout : nullptr);
        tried = parts.list.size();
        for (const Alternative &part : parts.list)
            benchmark::DoNotOptimize(evaluate(part.plan, builtinCatalogue(), workspace, {}, Depth::Score));
    }
    state.counters["tried"] = double(tried);
}
BENCHMARK(betterPartsOfManyLinkedDatacenters)->ArgName("datacenters")->Arg(30)->Unit(benchmark::kMillisecond);

/// A datacenter of a thousand pools of one node each.
void evaluateAThousandPools(benchmark::State &state)
{
    Plan plan = *sharedSample("llama-3-70b-three-regions");
    std::vector<Pool> &pools = plan.cluster.datacenters.front().pools;
    Pool like = pools.front();
    like.nodes = 1;
    pools.clear();
    for (int k = 0; k < 1000; ++k) {
        pools.push_back(like);
        pools.back().id = "q" + std::to_string(k);
    }
    plan.placement = {};
    evaluateOf(state, std::make_shared<const Plan>(std::move(plan)), Depth::Spans);
}
BENCHMARK(evaluateAThousandPools)->Unit(benchmark::kMillisecond);

/// One step of a drag: eight GPUs move between two regions and back, each time a new plan and its evaluation.
void fromEditToEvaluation(benchmark::State &state)
{
    const PlanPtr plan = threeRegions(int(state.range(0)));
    EvaluationWorkspace workspace;
    int gpus = 0;
    bool isForth = true;
    for (auto _ : state) {
        Plan next = *plan;
        next.cluster = *moveGpus(plan->cluster, 0, isForth ? 8 : 16, 2);
        isForth = !isForth;
        const auto evaluation = evaluate(std::make_shared<const Plan>(std::move(next)), builtinCatalogue(), workspace);
        if (!evaluation) {
            state.SkipWithError("the plan cannot be evaluated");
            return;
        }
        gpus = (*evaluation)->metrics.gpusTotal;
        benchmark::DoNotOptimize(evaluation);
    }
    state.counters["gpus"] = gpus;
}
BENCHMARK(fromEditToEvaluation)->ArgName("gpus")->Arg(1152)->Arg(16416)->Unit(benchmark::kMillisecond);

} // namespace
