// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluate/jobs/job_fill.h"

#include "core/evaluate/problems/fill_problems.h"
#include "core/prefill/bubble_fill.h"

namespace trainyard {

namespace {

/// GPUs, networks and layout, with what the plan says of filling: no model of a job is read.
Workload viewOf(const Evaluation &evaluation, const Workload &cluster)
{
    Workload view = cluster;
    auto plan = std::make_shared<Plan>(*cluster.plan);
    plan->bubbleFill = evaluation.plan->bubbleFill;
    view.setPlan(std::move(plan));
    view.layout = evaluation.layout;
    return view;
}

} // namespace

ExpectedAll<void> addJobFill(Evaluation &evaluation, const Workload &cluster, const RunContext &context)
{
    const Plan &plan = *evaluation.plan;
    Metrics &metrics = evaluation.metrics;
    if (!plan.bubbleFill.enabled || !metrics.jobs || evaluation.layout.classes.empty())
        return {};
    const auto service = resolveBubbleService(plan, context.catalogue);
    if (!service)
        return std::unexpected(service.error());
    const Workload workload = viewOf(evaluation, cluster);
    if (*service) {
        const auto filled = fillBubbles(evaluation.timeline, workload,
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
    for (Problem &problem : bubbleFillProblems(evaluation, workload, context.catalogue))
        evaluation.problems.push_back(std::move(problem));
    return {};
}

} // namespace trainyard
