#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What somebody asks the planner for: objective, constraints, worlds, keys that stay, how long. A value; kept in the
// program's settings between sessions, but for the limits, which are of one plan. Ids of datacenters and names of
// worlds that a plan lacks are left out of its search and kept for the next plan that has them.

#include "core/planner/search/search.h"

#include <set>
#include <string>

namespace trainyard {

struct PlannerSettings {
    Objective objective = Objective::Throughput;
    /// these five as in Constraints
    std::optional<double> mostUsdPerHour;
    std::optional<int> mostGpus;
    std::optional<double> leastTokensPerSecond;
    std::optional<double> mostDays;
    std::optional<double> memoryMargin;
    /// ids
    std::set<std::string> avoidedDatacenters;
    /// texts of namedScenarios()
    std::set<std::string> scenarios;
    Robustness robustness = Robustness::WorstCase;
    /// dotted keys that stay as they are
    std::set<std::string> pins;
    bool mayTrainOtherwise = false;
    /// as in SearchOptions; with scenarios or jobs they are kept always
    bool keepsIdle = false;
    /// empty: until all is looked at
    std::optional<double> seconds = 10;
    std::uint64_t seed = 1;

    [[nodiscard]] bool operator==(const PlannerSettings &) const = default;
};

/// Seeds that the window offers; the command line takes any.
inline constexpr int kMostSeed = 999'999'999;

/// What search() is asked for this plan. `known`: the worlds that the plan may meet.
[[nodiscard]] SearchOptions searchOptions(
    const PlannerSettings &settings, const Plan &plan, const std::vector<NamedScenario> &known);

/// The same without budget, GPUs, rate and days: those are of one plan.
[[nodiscard]] PlannerSettings withoutLimits(PlannerSettings settings);

/// As they were left, without limits; the standard ones where nothing was, and in place of what cannot be used.
[[nodiscard]] PlannerSettings rememberedPlannerSettings();
void remember(const PlannerSettings &settings);

} // namespace trainyard
