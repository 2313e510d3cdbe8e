// SPDX-License-Identifier: GPL-3.0-or-later
// A layer of experts: found among those remembered, which costing does for each stage and pass of each plan around a
// plan, and simulated anew.
#include "core/systems/experts/layer.h"

#include "core/evaluation/advice/evaluate.h"
#include "core/facts/cluster/edits.h"

#include <benchmark/benchmark.h>

namespace {

using namespace trainyard;

/// As DeepSeek-V3's on eight nodes: forwards over NICs and NVLink at once, shared experts beside, two ranks.
LayerWork layer(int pieces = 1)
{
    const Exchange dispatch {
        .legs = { { .way = Way::Nic, .bytes = 1.05e8, .start = microseconds(60), .moving = microseconds(2300) },
            { .way = Way::Nvlink, .bytes = 2.1e8, .start = microseconds(60), .moving = microseconds(1500) },
            { .way = Way::Memory, .bytes = 4.2e8, .moving = microseconds(200), .after = 0 } },
        .pieces = pieces,
        .logicalBytes = 2.35e8,
        .sms = 20
    };
    return { .fullest = { .before = microseconds(3000),
                 .router = microseconds(40),
                 .permute = microseconds(200),
                 .products = microseconds(2600),
                 .unpermute = microseconds(200),
                 .shared = microseconds(400) },
        .meanShare = 0.8,
        .dispatch = dispatch,
        .combine = dispatch,
        .productsInPieces = pieces > 1,
        .isSharedBeside = true,
        .memoryBandwidth = 2.8e12,
        .nicBandwidth = 45e9,
        .nvlinkBandwidth = 150e9,
        .multiprocessors = 132,
        .beside = {} };
}

PairWork pair()
{
    PairWork made { layer(), layer() };
    made.backward.isBackward = true;
    return made;
}

void aRememberedLayer(benchmark::State &state)
{
    const LayerWork work = layer();
    for (auto _ : state)
        benchmark::DoNotOptimize(layerTimes(work));
}
BENCHMARK(aRememberedLayer);

void aRememberedPair(benchmark::State &state)
{
    const PairWork work = pair();
    for (auto _ : state)
        benchmark::DoNotOptimize(pairTimes(work));
}
BENCHMARK(aRememberedPair);

void aNewLayer(benchmark::State &state)
{
    LayerWork work = layer(static_cast<int>(state.range(0)));
    for (auto _ : state) {
        work.fullest.products += microseconds(1);
        benchmark::DoNotOptimize(layerTimes(work));
    }
}
BENCHMARK(aNewLayer)->ArgName("pieces")->Arg(1)->Arg(4)->Arg(64)->Unit(benchmark::kMicrosecond);

void aNewPair(benchmark::State &state)
{
    PairWork work = pair();
    for (auto _ : state) {
        work.forward.fullest.products += microseconds(1);
        benchmark::DoNotOptimize(pairTimes(work));
    }
}
BENCHMARK(aNewPair)->Unit(benchmark::kMicrosecond);

/// DeepSeek-V3 as it was trained (arXiv 2412.19437): 16 stages under DualPipe, experts over 64 ranks, here on `gpus`
/// H100 in two datacenters.
Plan deepSeek(int gpus)
{
    Plan plan;
    for (const char *id : { "north", "south" }) {
        Datacenter datacenter;
        datacenter.id = id;
        Pool pool;
        pool.id = std::string(id) + "-h100";
        pool.gpu = "h100-sxm-80gb";
        pool.nodes = gpus / 2 / pool.gpusPerNode;
        datacenter.pools.push_back(pool);
        plan.cluster.datacenters.push_back(datacenter);
    }
    WanLink link;
    link.between = { "north", "south" };
    link.rttMs = 10;
    link.capacityGbps = 800;
    plan.cluster.wanLinks.push_back(link);
    plan.workload.model = "deepseek-v3";
    plan.workload.sequenceLength = 4096;
    plan.workload.globalBatch = 7680;
    plan.parallelism.pipeline = 16;
    plan.parallelism.expert = 64;
    plan.schedule = ScheduleKind::DualPipe;
    plan.moe.dispatch = MoeDispatch::Dedup;
    return plan;
}

/// One step of a drag: sixteen nodes, eight replicas, move between the datacenters and back, each time a new plan and
/// its numbers and timeline; fixes are looked for afterwards.
void fromEditToEvaluationOfDeepSeek(benchmark::State &state)
{
    const Plan plan = deepSeek(2048);
    EvaluationWorkspace workspace;
    bool isForth = true;
    double layerMs = 0;
    for (auto _ : state) {
        Plan next = plan;
        next.cluster = *moveGpus(plan.cluster, 0, isForth ? 128 : 256, 1);
        isForth = !isForth;
        const auto evaluation =
            evaluate(std::make_shared<const Plan>(std::move(next)), builtinCatalogue(), workspace, {}, Depth::Spans);
        if (!evaluation || !(*evaluation)->metrics.experts) {
            state.SkipWithError("the plan cannot be evaluated");
            return;
        }
        layerMs = (*evaluation)->metrics.experts->layerMs;
        benchmark::DoNotOptimize(evaluation);
    }
    state.counters["layer_ms"] = layerMs;
}
BENCHMARK(fromEditToEvaluationOfDeepSeek)->Unit(benchmark::kMillisecond);

} // namespace
