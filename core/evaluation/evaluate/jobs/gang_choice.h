#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The fastest of a job's plans that fits, by run(): closed forms say in which order to look, so few are simulated.
// Internal to core/evaluation/evaluate/jobs.

#include "core/evaluation/evaluate/jobs/gang_jobs.h"
#include "core/evaluation/evaluate/jobs/gang_plans.h"

#include <optional>

namespace trainyard {

struct GangChoice {
    /// null: none fits
    const GangPlan *plan = nullptr;
    /// of a mini-batch, with its time: Depth::Score
    EvaluationPtr evaluation;
    /// with its memory: the same, but where times are measured
    EvaluationPtr judged;
    /// none fits
    std::string why;
};

/// Simulates at most `mostScores`. `unitMs`: measured times of the job's units, in place of modelled ones; may be
/// empty. Errors: Cancelled, Internal.
[[nodiscard]] ExpectedAll<GangChoice> fastestThatFits(
    const std::vector<GangPlan> &plans, const std::vector<double> &unitMs, int mostScores, const RunContext &context);

} // namespace trainyard
