#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What `--set` set for nothing, and which settings of a plan change nothing: each is evaluated without it. Main thread
// only.

#include "app/cli/command.h"
#include "core/evaluation/report/idle_changes.h"

namespace trainyard::cli {

/// A plan as it was read, and as it is with the settings.
struct SetPlan {
    PlanPtr written, set;
};
[[nodiscard]] ExpectedAll<SetPlan> loadSetPlan(const std::string &path, const std::vector<std::string> &settings);

/// The evaluation with a note for each key in which its plan differs from `before` that changes nothing.
[[nodiscard]] EvaluationPtr withIdleNotes(const EvaluationPtr &evaluation, const PlanPtr &before);

/// Of a plan: its switches that could as well be at their defaults, and what was set for nothing besides.
[[nodiscard]] std::vector<IdleChange> idleSettings(const Evaluation &evaluation, const PlanPtr &written);

} // namespace trainyard::cli
