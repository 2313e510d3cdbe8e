// SPDX-License-Identifier: GPL-3.0-or-later
// Sailor's published cases: our search with the decisions that Sailor has, and the re-stated planners. The search is to
// take less than a second.
#include "core/facts/plan/plan_io.h"
#include "core/planner/rivals/rivals.h"
#include "core/planner/search/search.h"
#include "tests/core/planner/rivals/decisions.h"

#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>

namespace {

using namespace trainyard;

struct Case {
    const char *file, *asked;
    bool wantsCheap;
    double mostUsd; // an iteration; 0: any
};
/// The rows of docs/planner-rivals.md.
constexpr Case kAsked[] = { { "a100-v100", "least time", false, 0 }, { "five-zones", "least time", false, 0 },
    { "two-zones", "least time within 1.20 USD", false, 1.2 }, { "two-zones", "least cost", true, 0 },
    { "five-zones", "least cost", true, 0 } };

constexpr const char *kCases[] = { "a100-v100", "five-zones", "two-zones" };

PlanPtr caseOf(const char *file)
{
    const std::string name = std::string(TRAINYARD_SOURCE_DIR "/tests/data/rivals/") + file + ".trainyard.json";
    std::ifstream stream(name);
    std::ostringstream text;
    text << stream.rdbuf();
    auto plan = parsePlan(text.str(), name);
    return plan ? std::make_shared<const Plan>(std::move(*plan)) : nullptr;
}

/// scripts/rivals-time runs it.
void searchRivalsCase(benchmark::State &state)
{
    const Case &of = kAsked[state.range(0)];
    const PlanPtr plan = caseOf(of.file);
    RivalWishes wishes;
    if (of.wantsCheap) // at 0.2 iterations a second
        wishes = { .wantsCheap = true, .mostSeconds = 5 };
    if (of.mostUsd > 0)
        wishes.mostUsd = of.mostUsd;
    std::uint64_t looked = 0, simulated = 0;
    for (auto _ : state) {
        const auto found = search(plan, builtinCatalogue(), test::sailorsDecisions(*plan, wishes));
        looked = found ? found->looked : 0;
        simulated = found ? found->simulated : 0;
    }
    state.SetLabel(std::string(of.file) + ", " + of.asked);
    state.counters["looked"] = double(looked);
    state.counters["simulated"] = double(simulated);
}
BENCHMARK(searchRivalsCase)
    ->DenseRange(0, std::ssize(kAsked) - 1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

/// Case, planner.
void planByRivals(benchmark::State &state)
{
    const PlanPtr plan = caseOf(kCases[state.range(0)]);
    const auto rival = Rival(state.range(1));
    for (auto _ : state)
        benchmark::DoNotOptimize(planBy(rival, plan, builtinCatalogue()).plan);
    state.SetLabel(std::string(kCases[state.range(0)]) + ", " + toString(rival));
}
BENCHMARK(planByRivals)->ArgsProduct({ { 0, 1, 2 }, { 0, 1, 2, 3 } })->Unit(benchmark::kMillisecond);

} // namespace
