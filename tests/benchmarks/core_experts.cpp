// SPDX-License-Identifier: GPL-3.0-or-later
// A layer of experts: found among those remembered, which costing does for each stage and pass of each plan around a
// plan, and simulated anew.
#include "core/experts/layer.h"

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

} // namespace
