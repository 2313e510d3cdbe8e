// SPDX-License-Identifier: GPL-3.0-or-later
// The controller of prefill in bubbles on the size that a live view asks for: 10,000 requests over an iteration of
// 1,024 GPUs.
#include "core/iteration/prefill/backlog.h"

#include <benchmark/benchmark.h>

namespace {

using namespace trainyard;

constexpr Nanoseconds kMs = 1'000'000;

/// 8 stages of 128 GPUs each, 20 bubbles of 0.1 to 1.2 s in 20 s, half of the time; groups of `p`.
ServingPlan thousandGpus(int p, int sizes)
{
    ServingPlan plan;
    plan.period = 20'000 * kMs;
    for (int stage = 0; stage < 8; ++stage) {
        auto &windows = plan.windows.emplace_back();
        for (int i = 0; i < 20; ++i) {
            const Nanoseconds start = i * 1000 * kMs + stage * 40 * kMs;
            windows.push_back({ start, start + (100 + (i * 7 + stage) % 12 * 65) * kMs });
        }
        for (int g = 0; g < 128 / p; ++g)
            plan.groups.push_back({ std::vector<ServingGroup::Member>(std::size_t(p), { stage, 0 }), 0 });
    }
    for (int s = 0; s < sizes; ++s)
        plan.sizes.push_back({ { { (200 + 40 * s) * kMs / p, kMs / 2, kMs } }, 0, 1 });
    plan.slo = 1000 * kMs;
    return plan;
}

void admitTenThousandRequests(benchmark::State &state)
{
    const ServingPlan plan = thousandGpus(int(state.range(0)), int(state.range(1)));
    std::vector<SizedRequest> requests;
    for (int i = 0; i < 10'000 * int(state.range(2)); ++i)
        requests.push_back(
            { i * plan.period / (10'000 * state.range(2)), int(std::size_t(i) * 7919 % plan.sizes.size()) });
    std::size_t accepted = 0;
    for (auto _ : state) {
        const AdmittedRequests book = admitRequests(plan, requests);
        accepted = book.accepted.size();
        benchmark::DoNotOptimize(book.slices.data());
    }
    state.counters["requests"] = double(requests.size());
    state.counters["accepted"] = double(accepted);
}
BENCHMARK(admitTenThousandRequests)
    ->ArgNames({ "p", "lengths", "times" })
    ->Args({ 8, 1, 1 })
    ->Args({ 1, 1, 1 })
    ->Args({ 8, 1, 10 })
    ->Args({ 8, 32, 1 })
    ->Args({ 1, 32, 10 })
    ->Unit(benchmark::kMillisecond);

} // namespace
