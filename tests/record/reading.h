#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// From an evaluation to its record, or to text that a person can read and `diff` can compare. The one place of the tool
// that knows what evaluations and timelines look like.

#include "core/evaluation/advice/evaluate.h"
#include "tests/record/record.h"
#include "tests/record/recorded_plans.h"

namespace trainyard::record {

/// `quick` is the same plan evaluated without its spans: what it says of time and memory is recorded too. May be null.
[[nodiscard]] PlanRecord recordOf(
    const std::string &name, const Evaluation &evaluation, const Evaluation *quick = nullptr);
/// Evaluates the plan: after a slower one in the same workspace, so that graphs take new durations, and without spans
/// in a new one. What cannot be evaluated has its errors as record. `coverage` counts what occurred; may be null.
[[nodiscard]] PlanRecord recordOf(
    const std::string &name, const PlanPtr &plan, EvaluationWorkspace &workspace, Coverage *coverage = nullptr);

/// Figures, labels, every span of every row and every point of the curves; rows in the order of their names, spans in
/// that of what they do, so that two texts differ where the evaluations do.
void writeText(std::ostream &out, const std::string &name, const Evaluation &evaluation, bool withCauses = false);

} // namespace trainyard::record
