#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Published planners re-stated as rules: what each would choose for a plan's model and cluster, with its own simple
// input of times and memory (planners.h says which rules and what is left out). Their answers are plans like any other,
// so that one evaluator judges all of them: of what a planner ranks, the first that the evaluator lets run counts, as
// whoever uses such a planner goes down its list. Sources: docs/planner-rivals.md.

#include "core/evaluation/evaluate/run.h"

#include <array>
#include <optional>
#include <stop_token>
#include <string>

namespace trainyard {

enum class Rival : std::uint8_t { Sailor, Amp, Metis, FlashFlex };
inline constexpr std::array kRivals { Rival::Sailor, Rival::Amp, Rival::Metis, Rival::FlashFlex };
/// as people read it
[[nodiscard]] const char *toString(Rival rival);

/// What is asked of a planner. Sailor searches by it; the others' lists are put in order by it, as in Sailor's
/// comparison with them.
struct RivalWishes {
    /// least USD an iteration instead of least time
    bool wantsCheap = false;
    /// an iteration, of the GPUs that are used and egress
    std::optional<double> mostUsd;
    /// an iteration
    std::optional<double> mostSeconds;
};

struct RivalAnswer {
    /// null: it finds none
    PlanPtr plan;
    /// of that plan, Depth::Score
    EvaluationPtr evaluation;
    /// what it went by, what the plan does not say of its answer, or why it finds none
    std::string why;
    /// an iteration by its own formula
    double predictedSeconds = 0;
    /// combinations
    std::size_t looked = 0;
    /// that it ranks before this one and that cannot run or break a wish
    std::size_t passedOver = 0;
};

/// Pure but for time; deterministic. Each of a planner's ranking is evaluated until one runs, at most kMostTried.
[[nodiscard]] RivalAnswer planBy(Rival rival, const PlanPtr &plan, const Catalogue &catalogue,
    std::stop_token stop = {}, const RivalWishes &wishes = {});
inline constexpr std::size_t kMostTried = 100;

} // namespace trainyard
