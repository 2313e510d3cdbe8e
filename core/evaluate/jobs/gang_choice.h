#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The fastest of a job's plans that fits, by run(): closed forms say in which order to look, so few are simulated.
// Internal to core/evaluate/jobs.

#include "core/evaluate/jobs/gang_jobs.h"
#include "core/evaluate/jobs/gang_plans.h"

#include <optional>

namespace trainyard {

struct GangChoice {
    const GangPlan *plan = nullptr; // null: none fits
    EvaluationPtr evaluation; // of a mini-batch, with its time: Depth::Score
    EvaluationPtr judged; // with its memory: the same, but where times are measured
    std::string why; // none fits
};

/// Simulates at most `mostScores`. `unitMs`: measured times of the job's units, in place of modelled ones; may be
/// empty. Errors: Cancelled, Internal.
[[nodiscard]] ExpectedAll<GangChoice> fastestThatFits(
    const std::vector<GangPlan> &plans, const std::vector<double> &unitMs, int mostScores, const RunContext &context);

/// A plan whose stages take what was measured: 2K - 1 units of K shards dealt to its stages in order, over the plan's
/// micro-batches. The fused last unit is parted as the others are. Null where it has more stages than shards, or states
/// off the GPU, of which nothing was measured.
[[nodiscard]] PlanPtr withMeasuredUnits(const Plan &plan, const std::vector<double> &unitMs);

} // namespace trainyard
