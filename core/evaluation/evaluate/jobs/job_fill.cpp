// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/jobs/job_fill.h"

#include "core/evaluation/evaluate/problems/fill_problems.h"
#include "core/iteration/prefill/bubble_fill.h"

#include <algorithm>

namespace trainyard {

namespace {

/// GPUs, networks and layout, with what the plan says of filling: no model of a job is read.
Workload viewOf(const Evaluation &evaluation, const Requested &cluster)
{
    auto plan = std::make_shared<Plan>(*cluster.plan);
    plan->bubbleFill = evaluation.plan->bubbleFill;
    return { cluster.askedBy(std::move(plan)), evaluation.layout };
}

} // namespace

ExpectedAll<void> addJobFill(Evaluation &evaluation, const Requested &cluster, const RunContext &context)
{
    const Plan &plan = *evaluation.plan;
    Metrics &metrics = evaluation.metrics;
    if (!plan.bubbleFill.enabled || !metrics.jobs || evaluation.layout.classes.empty())
        return {};
    const auto service = resolveBubbleService(plan, context.catalogue);
    if (!service)
        return std::unexpected(service.error());
    const Workload workload = viewOf(evaluation, cluster);
    Timeline &timeline = evaluation.timeline;
    if (*service) {
        const Nanoseconds all = timeline.duration; // what goes back to hosts may go on after the last job
        timeline.duration = std::min(all, toNanoseconds(Seconds { metrics.jobs->makespan.value_or(0) }));
        const auto filled =
            fillBubbles(timeline, workload, metrics.memory ? metrics.memory->perStage : std::vector<StageMemory>(),
                **service, context.stop, Afterwards::Nothing);
        const double gpuSeconds =
            double(evaluation.layout.classes.front().locations.size()) * toSeconds(timeline.duration).value;
        timeline.duration = all;
        if (context.stop.stop_requested())
            return std::unexpected(Errors { { ErrorCode::Cancelled, {}, "the evaluation was stopped", {} } });
        if (filled) {
            metrics.bubbleFill = filled->metrics;
            metrics.gpuUtilizationWithFill = metrics.jobs->gpuUtilization.value_or(0) + filled->gpuSeconds / gpuSeconds;
        }
    }
    for (Problem &problem : bubbleFillProblems(evaluation, workload, context.catalogue))
        evaluation.problems.push_back(std::move(problem));
    return {};
}

} // namespace trainyard
