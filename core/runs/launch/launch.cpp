// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/launch/launch.h"

#include "core/runs/launch/launch_internal.h"

#include <algorithm>

namespace trainyard {

namespace {

using launch::Draft;

/// What the evaluation found: a plan that does not run here does not run there.
void takeProblems(Draft &draft)
{
    const Evaluation &evaluation = draft.evaluation;
    for (const Problem &problem : evaluation.problems)
        if (problem.severity == Severity::Blocking)
            draft.note("The plan does not run as it is: " + problem.text);
    const Feasibility &verdict = evaluation.feasibility;
    if (evaluation.layout.data > 0 && verdict.isPlaced && verdict.isShaped && !evaluation.layout.classes.empty())
        return;
    const auto first = std::ranges::find(evaluation.problems, Severity::Blocking, &Problem::severity);
    std::string what = evaluation.layout.unplaced;
    if (what.empty())
        what = first != evaluation.problems.end() ? first->text : "the plan cannot be placed";
    const std::string where = first != evaluation.problems.end() && !first->where.empty() ? first->where : "placement";
    draft.refuse(where, std::move(what), "a plan that can be placed");
}

} // namespace

ExpectedAll<LaunchFile> launchFile(const Evaluation &evaluation, LaunchTarget target)
{
    const bool isTorchtitan = target == LaunchTarget::Torchtitan
        || (target == LaunchTarget::Slurm && launch::isTorchtitanStack(*evaluation.plan));
    Draft draft(evaluation, isTorchtitan ? "torchtitan" : "Megatron-LM");
    const Plan &plan = draft.plan;
    if (launch::hasModel(plan))
        takeProblems(draft);
    launch::refuseWhatNobodyRuns(draft);
    if (!launch::hasModel(plan) || evaluation.layout.classes.empty())
        return std::unexpected(std::move(draft.errors));
    if (isTorchtitan)
        launch::makeTorchtitan(draft);
    else
        launch::makeMegatron(draft);
    launch::orderNodes(draft);
    if (!draft.errors.empty())
        return std::unexpected(std::move(draft.errors));
    if (plan.cluster.datacenters.size() > 1)
        draft.note("Connections between datacenters, their congestion control and where gradients are reduced first "
                   "are NCCL's and the kernel's settings, not arguments of "
            + std::string(draft.name));
    if (launch::isTorchtitanStack(plan) != isTorchtitan)
        draft.note("The prediction has the habits of the plan's stack, " + plan.stack.name);
    std::string text = target == LaunchTarget::Slurm ? launch::slurmScriptOf(draft) : launch::scriptOf(draft);
    return LaunchFile { std::move(text), std::move(draft.notes) };
}

} // namespace trainyard
