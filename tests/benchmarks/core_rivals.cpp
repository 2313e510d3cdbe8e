// SPDX-License-Identifier: GPL-3.0-or-later
// Sailor's published cases: our search with the decisions that Sailor has, and the re-stated planners. The search is to
// take less than a second.
#include "core/plan/plan_io.h"
#include "core/rivals/rivals.h"
#include "core/search/search.h"
#include "tests/core/rivals/decisions.h"

#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>

namespace {

using namespace trainyard;

constexpr const char *kCases[] = { "a100-v100", "five-zones", "two-zones" };

PlanPtr caseOf(std::int64_t number)
{
    const std::string name =
        std::string(TRAINYARD_SOURCE_DIR "/tests/data/rivals/") + kCases[number] + ".trainyard.json";
    std::ifstream file(name);
    std::ostringstream text;
    text << file.rdbuf();
    auto plan = parsePlan(text.str(), name);
    return plan ? std::make_shared<const Plan>(std::move(*plan)) : nullptr;
}

/// Case; 1: for cost at 0.2 iterations a second.
void searchRivalsCase(benchmark::State &state)
{
    const PlanPtr plan = caseOf(state.range(0));
    RivalWishes wishes;
    if (state.range(1) > 0)
        wishes = { .wantsCheap = true, .mostSeconds = 5 };
    std::uint64_t looked = 0;
    for (auto _ : state) {
        const auto found = search(plan, builtinCatalogue(), test::sailorsDecisions(*plan, wishes));
        looked = found ? found->looked : 0;
    }
    state.SetLabel(kCases[state.range(0)]);
    state.counters["looked"] = double(looked);
}
BENCHMARK(searchRivalsCase)->ArgsProduct({ { 0, 1, 2 }, { 0, 1 } })->Unit(benchmark::kMillisecond)->UseRealTime();

/// Case, planner.
void planByRivals(benchmark::State &state)
{
    const PlanPtr plan = caseOf(state.range(0));
    const auto rival = Rival(state.range(1));
    for (auto _ : state)
        benchmark::DoNotOptimize(planBy(rival, plan, builtinCatalogue()).plan);
    state.SetLabel(std::string(kCases[state.range(0)]) + ", " + toString(rival));
}
BENCHMARK(planByRivals)->ArgsProduct({ { 0, 1, 2 }, { 0, 1, 2, 3 } })->Unit(benchmark::kMillisecond);

} // namespace
