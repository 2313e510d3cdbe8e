// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluate/jobs/job_fill.h"

#include "core/evaluate/problems/fill_problems.h"
#include "core/prefill/bubble_fill.h"

namespace trainyard {

namespace {

/// GPUs, networks and layout of a plan whose jobs each have a model of their own: that of the first stands in.
ExpectedAll<Workload> viewOf(const Evaluation &evaluation, const Catalogue &catalogue)
{
    const Plan &whole = *evaluation.plan;
    auto plan = std::make_shared<Plan>();
    plan->cluster = whole.cluster;
    plan->baseDir = whole.baseDir;
    plan->stack = whole.stack;
    plan->wan = whole.wan;
    plan->bubbleFill = whole.bubbleFill;
    plan->workload.model = allJobs(whole, 1).front().model;
    plan->workload.globalBatch = 1;
    auto workload = resolve(std::move(plan), catalogue);
    if (workload)
        workload->layout = evaluation.layout;
    return workload;
}

} // namespace

ExpectedAll<void> addJobFill(Evaluation &evaluation, const RunContext &context)
{
    const Plan &plan = *evaluation.plan;
    Metrics &metrics = evaluation.metrics;
    if (!plan.bubbleFill.enabled || !metrics.jobs || evaluation.layout.classes.empty())
        return {};
    const auto service = resolveBubbleService(plan, context.catalogue);
    if (!service)
        return std::unexpected(service.error());
    const auto workload = viewOf(evaluation, context.catalogue);
    if (!workload)
        return std::unexpected(workload.error());
    if (*service) {
        const auto filled = fillBubbles(evaluation.timeline, *workload,
            metrics.memory ? metrics.memory->perStage : std::vector<StageMemory>(), **service, context.stop,
            Afterwards::Nothing);
        if (context.stop.stop_requested())
            return std::unexpected(Errors { { ErrorCode::Cancelled, {}, "the evaluation was stopped", {} } });
        if (filled) {
            const double all = double(evaluation.layout.classes.front().locations.size())
                * toSeconds(evaluation.timeline.duration).value;
            metrics.bubbleFill = filled->metrics;
            metrics.gpuUtilizationWithFill = metrics.jobs->gpuUtilization.value_or(0) + filled->gpuSeconds / all;
        }
    }
    for (Problem &problem : bubbleFillProblems(evaluation, *workload, context.catalogue))
        evaluation.problems.push_back(std::move(problem));
    return {};
}

} // namespace trainyard
