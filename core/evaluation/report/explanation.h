#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Why an iteration takes as long as it does: the breakdown, every stage's own seconds, the critical path, what fills
// the fullest GPU, what one more of each resource would buy, what binds, and how other datacenters would do.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/evaluation/selection/selection.h"

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// What a little more of a resource buys (core/planner/sensitivity/shadow_prices.h, whose members these are).
struct PartPrice {
    std::string kind, unit; // "node-pair", "Gbit/s"
    double amount = 0, secondsSaved = 0, gain = 0, gainPerUnit = 0, elasticity = 0;
    Metric lossOfLess, usdPerHour, gainPerUsd;
    bool isLessFeasible = true, isKink = false, isReplanned = false;
};

/// The iteration with one part bettered (core/planner/sensitivity/shadow_prices.h,
/// core/evaluation/advice/alternatives.h), as someone evaluated it.
struct PartEffect {
    std::string id, label; // "link:oregon-iowa:pair", "+1 Gbps per node pair, Oregon–Iowa"
    double iterationTime = 0; // seconds
    bool feasible = true;
    std::string because; // what makes the difference (because.h)
    std::optional<PartPrice> price = {}; // of a resource; not of what is only put elsewhere
};

/// GPUs that the plan would do without (core/planner/sensitivity/shadow_prices.h).
struct RetiredGpus {
    std::string sentence;
    int gpus = 0;
    bool feasible = true;
    double iterationTime = 0, usdPerMillionTokens = 0; // seconds, USD
    double slowdown = 0, saving = 0;
};

struct PartEffects {
    std::vector<PartEffect> parts;
    std::vector<PartEffect> fixes; // of the plan's problems, in their order: the label is the fix's
    std::size_t leftOut = 0; // further parts that nobody evaluated
    std::vector<std::string> binding; // sentences: what holds the plan back
    std::vector<RetiredGpus> retired;
};

/// The parts are ranked here, most useful first; those that change nothing or make it worse are left out of the table.
[[nodiscard]] std::string explanationTable(
    const Evaluation &evaluation, PartEffects effects = {}, const Selection *selection = nullptr);
[[nodiscard]] std::string explanationJson(
    const Evaluation &evaluation, PartEffects effects = {}, const Selection *selection = nullptr);

} // namespace trainyard
