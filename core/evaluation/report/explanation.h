#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Why an iteration takes as long as it does: the breakdown, every stage's own seconds, the critical path, what fills
// the fullest GPU, what one more of each resource would buy, what binds, which settings change nothing, and how other
// datacenters would do.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/evaluation/report/idle_changes.h"
#include "core/evaluation/selection/selection.h"

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// What a little more of a resource buys (core/planner/sensitivity/shadow_prices.h, whose members these are).
struct PartPrice {
    /// "node-pair", "Gbit/s"
    std::string kind, unit;
    double amount = 0, secondsSaved = 0, gain = 0, gainPerUnit = 0, elasticity = 0;
    Metric lossOfLess, usdPerHour, gainPerUsd;
    bool isLessFeasible = true, isKink = false, isReplanned = false;
};

/// The iteration with one part bettered (core/planner/sensitivity/shadow_prices.h,
/// core/evaluation/advice/alternatives.h), as someone evaluated it.
struct PartEffect {
    /// "link:oregon-iowa:pair", "+1 Gbps per node pair, Oregon–Iowa"
    std::string id, label;
    /// seconds
    double iterationTime = 0;
    bool feasible = true;
    /// what makes the difference (because.h)
    std::string because;
    /// of a resource; not of what is only put elsewhere
    std::optional<PartPrice> price = {};
};

/// GPUs that the plan would do without (core/planner/sensitivity/shadow_prices.h).
struct RetiredGpus {
    std::string sentence;
    int gpus = 0;
    bool feasible = true;
    /// seconds, USD
    double iterationTime = 0, usdPerMillionTokens = 0;
    double slowdown = 0, saving = 0;
};

struct PartEffects {
    std::vector<PartEffect> parts;
    /// of the plan's problems, in their order: the label is the fix's
    std::vector<PartEffect> fixes;
    /// further parts that nobody evaluated
    std::size_t leftOut = 0;
    /// sentences: what holds the plan back
    std::vector<std::string> binding;
    std::vector<RetiredGpus> retired;
    /// settings of the plan that change nothing
    std::vector<IdleChange> idle = {};
};

/// The parts are ranked here, most useful first; those that change nothing or make it worse are left out of the table.
[[nodiscard]] std::string explanationTable(
    const Evaluation &evaluation, PartEffects effects = {}, const Selection *selection = nullptr);
[[nodiscard]] std::string explanationJson(
    const Evaluation &evaluation, PartEffects effects = {}, const Selection *selection = nullptr);

} // namespace trainyard
