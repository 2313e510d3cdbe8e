#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One drop: what a run left behind, a log alone may do, becomes the plan that it tells of, what that plan predicts, the
// steps that were measured, and the verdict on both.

#include "core/runs/imports/plan_from_recording.h"
#include "core/runs/overlay/verdict.h"

#include <functional>

namespace trainyard {

struct JudgeOptions {
    /// that the run is judged by; null: the one that its sources tell of
    PlanPtr plan;
    /// has what the sources do not tell; null: one node of eight H100
    PlanPtr base;
    /// what is known better than the sources tell; may be empty
    std::function<ExpectedAll<Plan>(Plan)> amend;
    OverlayOptions overlay;
    std::stop_token stop = {};
};

struct JudgedRun {
    /// empty: the plan was given. As the sources tell it, before `amend`
    std::optional<ImportedPlan> imported;
    EvaluationPtr evaluation;
    RunPtr run;
    RunOverlayPtr overlay;
    /// Its doubts begin with what the plan assumes. An error, of this plan or of a run without steps: all else holds.
    Expected<RunVerdict> verdict = std::unexpected(Error {});
};

/// Errors: the sources tell of no plan, or of one that cannot be evaluated; those of `amend`; Cancelled.
[[nodiscard]] ExpectedAll<JudgedRun> judgeRun(
    Recording recording, const Catalogue &catalogue, const JudgeOptions &options = {});

} // namespace trainyard
