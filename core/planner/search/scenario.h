#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// ScenarioJudge that a plan may meet: the plan's own with some keys changed. A robust search judges each candidate in
// all of them. A scenario may make a plan infeasible (a datacenter lost): by WorstCase such a candidate is out.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"

#include <string>
#include <utility>
#include <vector>

namespace trainyard {

enum class Robustness : std::uint8_t { WorstCase, Expectation };

struct Scenario {
    /// "Oregon–Ohio at half", "Ohio lost", "prices +30 %"
    std::string name;
    /// of an expectation; the plan's own world has 1
    double weight = 1;
    /// dotted keys and values, as --set takes them
    std::vector<std::pair<std::string, std::string>> settings;
    /// Prices of pools, by their ids, wherever a candidate has them; of those that it has no more nothing changes.
    struct PoolPrices {
        std::string datacenter, pool;
        /// 0: as they are
        double usdPerGpuHour = 0, usdOfDrives = 0;
        bool operator==(const PoolPrices &) const = default;
    };
    std::vector<PoolPrices> prices;
    /// id; empty: none. Its GPUs and links are gone
    std::string lostDatacenter;
    /// the iteration takes as long as the upper end of each plan's own range of confidence
    bool isSlowEnd = false;
};

/// "KEY=VALUE,KEY=VALUE" (brackets and quotes keep their commas), or a name: "half:oregon-ohio", "lost:ohio",
/// "prices+30%" (any change of more than −100 %; of GPUs and power, egress stays), "slow". Either may end with
/// ",weight=0.1".
/// Errors: names and keys with the nearest known one; values that no plan can have; a plan without a price or a range.
[[nodiscard]] ExpectedAll<Scenario> parseScenario(const Plan &plan, const Catalogue &catalogue, std::string_view text);

/// Those that everybody asks about: each link at half, each datacenter lost, prices up and down by 30 %, the upper end
/// of the range of confidence ("slow"). What would leave nothing, or has no price or range, is not among them.
struct NamedScenario {
    /// as parseScenario takes it
    std::string text;
    Scenario scenario;
};
[[nodiscard]] std::vector<NamedScenario> namedScenarios(const Plan &plan, const Catalogue &catalogue);

/// What the iteration of a plan is multiplied by there.
[[nodiscard]] double timeFactorOf(const Scenario &scenario, const Metrics &metrics);

/// The plan, or a candidate around it, in that world; valid. Pins of stages go where one of them names a lost
/// datacenter. Errors: a key or value that is not one; a plan that contradicts itself then; nothing left to train on.
[[nodiscard]] ExpectedAll<PlanPtr> inScenario(const PlanPtr &plan, const Scenario &scenario);

} // namespace trainyard
