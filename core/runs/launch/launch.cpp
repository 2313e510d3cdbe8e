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

/// In the order in which a reader has to know: what no setting mends, machines, settings.
void sortRefusals(Errors &errors)
{
    const auto rank = [](const Error &error) {
        const std::string &key = error.where;
        if (key == "profile" || key == "jobs" || key == "job_grid" || key == "workload.model")
            return 0;
        return key.starts_with("cluster") || key.starts_with("placement") ? 1 : 2;
    };
    std::ranges::stable_sort(errors, {}, rank);
}

struct Framework {
    const char *name;
    void (*make)(Draft &draft);
};

Framework frameworkOf(const Plan &plan, LaunchTarget target)
{
    switch (target) {
    case LaunchTarget::DeepSpeed:
        return { "DeepSpeed", launch::makeDeepSpeed };
    case LaunchTarget::MegatronBridge:
        return { "Megatron-Bridge", launch::makeBridge };
    case LaunchTarget::Megatron:
        return { "Megatron-LM", launch::makeMegatron };
    case LaunchTarget::Torchtitan:
        return { "torchtitan", launch::makeTorchtitan };
    default:
        return launch::isTorchtitanStack(plan) ? Framework { "torchtitan", launch::makeTorchtitan }
                                               : Framework { "Megatron-LM", launch::makeMegatron };
    }
}

/// Whose habits the prediction has, where these are another software's.
void noteStack(Draft &draft, LaunchTarget target)
{
    const Plan &plan = draft.plan;
    const bool isOwn = target == LaunchTarget::DeepSpeed
        ? plan.stack.name.find("deepspeed") != std::string::npos
        : launch::isTorchtitanStack(plan) == (std::string_view(draft.name) == "torchtitan");
    if (!isOwn)
        draft.note("The prediction has the habits of the plan's stack, " + plan.stack.name);
}

std::string textOf(Draft &draft, LaunchTarget target)
{
    switch (target) {
    case LaunchTarget::DeepSpeed:
        return draft.text;
    case LaunchTarget::Slurm:
        return launch::slurmScriptOf(draft);
    case LaunchTarget::TrainJob:
        return launch::trainJobOf(draft);
    case LaunchTarget::JobSet:
        return launch::jobSetOf(draft);
    case LaunchTarget::SkyPilot:
        return launch::skyPilotTaskOf(draft);
    default:
        return launch::scriptOf(draft);
    }
}

} // namespace

ExpectedAll<LaunchFile> launchFile(const Evaluation &evaluation, LaunchTarget target)
{
    const Framework framework = frameworkOf(*evaluation.plan, target);
    Draft draft(evaluation, framework.name);
    const Plan &plan = draft.plan;
    const bool hasModel = launch::hasModel(plan);
    if (hasModel)
        takeProblems(draft);
    launch::refuseWhatNobodyRuns(draft);
    if (hasModel && !evaluation.layout.classes.empty()) {
        framework.make(draft);
        launch::orderNodes(draft);
    }
    std::string text;
    if (draft.errors.empty()) {
        if (plan.cluster.datacenters.size() > 1)
            draft.note("Congestion control between datacenters and where gradients are reduced first are NCCL's and "
                       "the kernel's settings, not arguments of "
                + std::string(draft.name));
        launch::addSockets(draft);
        noteStack(draft, target);
        text = textOf(draft, target);
    }
    if (!draft.errors.empty()) {
        sortRefusals(draft.errors);
        return std::unexpected(std::move(draft.errors));
    }
    return LaunchFile { std::move(text), std::move(draft.notes), target == LaunchTarget::DeepSpeed };
}

} // namespace trainyard
