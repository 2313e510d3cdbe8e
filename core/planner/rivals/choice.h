#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a re-stated planner chooses, in its own terms, and the plan that says so. A plan cannot say everything: all
// stages have one data-parallel degree, a stage of a pipeline across datacenters lies in one of them, and inside a
// datacenter tensor degrees differ between whole pipelines only. Where a choice is more than that, the nearest plan is
// made and told.

#include "core/planner/rivals/planner_input.h"

#include <optional>

namespace trainyard::rivals {

struct Replicas { // equal ones of a stage
    /// of PlannerInput::sites
    int site = 0;
    int tensor = 1;
    int count = 0;
    bool operator==(const Replicas &) const = default;
};

struct ChosenStage {
    int layers = 0;
    std::vector<Replicas> replicas;
    bool operator==(const ChosenStage &) const = default;
};

struct Choice {
    int microBatch = 1;
    int data = 1;
    /// replicas of a stage get micro-batches by their speed
    bool isBalanced = false;
    std::vector<ChosenStage> stages;
    /// of an iteration, by the planner's own formula
    double seconds = 0;
    /// of an iteration, likewise; 0 where it counts none
    double usd = 0;
};

struct ChoiceAsPlan {
    /// null: no plan comes near
    PlanPtr plan;
    /// what of the choice the plan does not say, one clause; empty: nothing
    std::string lost;
};

/// The plan with the choice in it: schedule 1F1B, machines that the choice leaves out are not there, all else as it
/// was.
[[nodiscard]] ChoiceAsPlan choiceToPlan(const Choice &choice, const PlannerInput &input, const PlanPtr &plan);

/// GPUs that the choice uses.
[[nodiscard]] int gpusOf(const Choice &choice);
/// Of those, what a second costs.
[[nodiscard]] double usdPerSecond(const Choice &choice, const PlannerInput &input);

} // namespace trainyard::rivals
