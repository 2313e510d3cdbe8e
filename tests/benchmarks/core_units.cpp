// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/units.h"

#include <benchmark/benchmark.h>

static void aQuantityCostsWhatADoubleCosts(benchmark::State &state)
{
    trainyard::Seconds t { 1 };
    for (auto _ : state) {
        t += trainyard::Bytes { 2e9 } / trainyard::gbytesPerSecond(25);
        benchmark::DoNotOptimize(t);
    }
}
BENCHMARK(aQuantityCostsWhatADoubleCosts);
