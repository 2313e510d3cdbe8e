// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/measured_stages.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/problems/fix_of.h"
#include "core/facts/plan/plan_diff.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/location_book.h"

#include <cmath>

namespace trainyard {

namespace {

/// Replicas in two datacenters would exchange nothing.
void addUnsizedGradients(std::vector<Problem> &problems, const Workload &workload)
{
    const auto unsized = unsizedGradients(workload);
    if (!unsized)
        return;
    const Plan &plan = *workload.plan;
    const auto label = [&](int datacenter) { return plan.cluster.datacenters[std::size_t(datacenter)].label(); };
    std::vector<Fix> fixes;
    const double megabytes =
        std::round(workload.stack.gradientBytes * totalParameters(workload.model) / workload.degrees.pipeline / 1e6);
    if (megabytes >= 1) // the plan names its model too
        fixes.push_back(
            fixOf(plan, formatted("Gradients of %.0f MB per stage, as of ", megabytes) + workload.model.name,
                [&](Plan &p) { stateGradients(p, megabytes); }));
    fixes.push_back(fixOf(plan, "Stages across datacenters, replicas inside them", [](Plan &p) {
        p.placement = {};
        p.placement.mode = PlacementMode::PipelineAcross;
    }));
    problems.push_back({ Severity::Blocking,
        "Replicas in " + label(unsized->from) + " and " + label(unsized->to)
            + " exchange gradients, and the measured stage times do not say how large they are: profile.parameters_mb "
              "is missing",
        "profile.parameters_mb", std::move(fixes) });
}

/// Settings that act on what layers keep: measured times count no memory and stay as they are.
void addIdleSettings(std::vector<Problem> &problems, const Plan &plan)
{
    Plan without = plan;
    without.memory = {};
    without.memory.recompute = plan.memory.recompute; // which the times have apart
    without.workload.optimizer = {};
    without.parallelism.zeroStage = Parallelism {}.zeroStage;
    std::string settings;
    for (const std::string &setting : describeDifferences(without, plan))
        settings += (settings.empty() ? "" : "; ") + setting;
    if (!settings.empty())
        problems.push_back(
            { Severity::Note, settings + ": nothing changes, since stage times were measured and count no memory",
                "profile", { fixOf(plan, "Leave it out", [&](Plan &p) { p = without; }) } });
}

/// Measured times that no GPU of this kind reaches.
void addTooFast(std::vector<Problem> &problems, const Metrics &metrics, const Workload &workload)
{
    if (metrics.mfu.value_or(0) <= 1)
        return;
    problems.push_back({ Severity::Warning,
        "The model FLOPs utilization is " + formatted("%.0f", 100 * *metrics.mfu)
            + " %: the times are shorter than the GPUs' peak allows, so that they were measured with another GPU, "
              "model or micro-batch",
        workload.plan->layerProfiles ? "layer_profiles" : workload.source.keys.forward, {} });
}

} // namespace

void addMeasuredStages(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload)
{
    addTooFast(problems, evaluation.metrics, workload);
    if (workload.source.hasLayers)
        return;
    addUnsizedGradients(problems, workload);
    addIdleSettings(problems, *workload.plan);
}

} // namespace trainyard
