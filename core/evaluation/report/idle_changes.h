#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Settings that change nothing, and why: "Precision bf16 → fp16 has no effect: both have elements of 2 bytes". What
// changes nothing is found by evaluating, never by rules: a setting is idle where the plan without it comes to the same
// outcome (outcome.h). Why is told of the plan and its evaluation; where no rule knows it, it is looked for by leaving
// out one other setting at a time, and where that finds nothing either, the setting is still named. Any thread.
//
//   for (const IdleChange &change : idleChanges(before, *after, builtinCatalogue(), score))
//       puts(change.sentence().c_str());

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"

#include <functional>
#include <string>
#include <vector>

namespace trainyard {

struct IdleChange {
    /// dotted key of the plan
    std::string key;
    /// "Precision bf16 → fp16"
    std::string change;
    /// half a sentence; empty where nobody knows
    std::string why;
    /// a problem of the evaluation says so already
    bool isSaid = false;

    /// "Precision bf16 → fp16 has no effect: …"; without a reason "… has no effect on this plan"
    [[nodiscard]] std::string sentence() const;
};

/// Time, memory, cost and problems of a plan (Depth::Score); null where it cannot be evaluated.
using ScorePlan = std::function<EvaluationPtr(PlanPtr)>;

/// Of the keys in which the plan of `after` differs from `before`, those without which it comes to the same, in the
/// order of the file. Each takes one score, one without a known reason up to kMostMasks more.
[[nodiscard]] std::vector<IdleChange> idleChanges(
    const PlanPtr &before, const Evaluation &after, const Catalogue &catalogue, const ScorePlan &score);
inline constexpr int kMostMasks = 8;

/// Why the plan of `after` comes to the same as that of `before`, as far as rules know it: the reason of the first
/// changed key that has one. Half a sentence, or empty. The two must have the same outcome.
[[nodiscard]] std::string whyIdle(const Evaluation &before, const Evaluation &after, const Catalogue &catalogue);

/// What is looked at where the plan itself is asked which of its settings do nothing: the plan with every switch at its
/// default; hardware, model, batch, degrees, schedule, placement and measured times stay.
[[nodiscard]] Plan withSwitchesAtDefault(const Plan &plan);

/// The settings as notes about their keys, those left out that a problem says already.
[[nodiscard]] std::vector<Problem> idleNotes(const std::vector<IdleChange> &changes);

} // namespace trainyard
