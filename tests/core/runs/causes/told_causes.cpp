// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/runs/causes/told_causes.h"

#include "core/base/median.h"
#include "core/runs/overlay/planned_times.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/support/plans.h"

#include <fstream>

namespace trainyard::test {

namespace {

/// Median duration of one kind of work on a stage, seconds.
double secondsOf(const Evaluation &plan, int stage, WorkKind kind)
{
    std::vector<double> seconds;
    for (const Track &track : plan.timeline.tracks)
        for (std::uint32_t span = track.first; track.stage == stage && span < track.last; ++span)
            if (plan.timeline.kind[span] == kind)
                seconds.push_back(double(plan.timeline.end[span] - plan.timeline.start[span]) * 1e-9);
    return medianOf(std::move(seconds));
}

double between(std::uint64_t seed, std::uint64_t salt, double low, double high)
{
    std::uint64_t x = (seed * 0x9e3779b97f4a7c15u) ^ (salt * 0xd1b54a32d192ed03u);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return low + (high - low) * double(x >> 11) * 0x1p-53;
}

} // namespace

Plan denseJob()
{
    Plan plan = oneSite(8, 4);
    plan.cluster.datacenters.front().pools.front().gpusPerNode = 4;
    plan.cluster.datacenters.front().fabricGbpsPerGpu = 40;
    plan.parallelism.tensor = 2;
    plan.parallelism.data = 4;
    plan.workload.globalBatch = 128;
    plan.workload.microBatch = 4;
    plan.workload.sequenceLength = 2048;
    plan.workload.model = "gpt-3-1.3b";
    plan.stack.name = "ideal";
    return plan;
}

Plan expertJob()
{
    Plan plan = oneSite(2, 2);
    plan.parallelism.tensor = 1;
    plan.parallelism.data = 8;
    plan.parallelism.expert = 4;
    plan.workload.globalBatch = 64;
    plan.workload.sequenceLength = 2048;
    plan.workload.model = "mixtral-8x7b";
    plan.stack.name = "ideal";
    return plan;
}

MachineJob machineOf(const EvaluationPtr &plan)
{
    const auto planned = plannedTimes(*plan, builtinCatalogue());
    if (!planned)
        qFatal("the plan has no times");
    MachineJob job;
    job.tensor = plan->plan->parallelism.tensor;
    job.stages = int(planned->stages.front().size());
    job.data = plan->layout.data;
    job.gpusPerNode = planned->domain;
    job.microBatches = plan->metrics.devices.front().microBatches;
    job.expert = plan->plan->parallelism.expert;
    job.stepOfHost = std::max(1e-4, planned->overhead);
    double exchanges = 0;
    for (int stage = 0; stage < job.stages; ++stage) {
        const PlannedStage &of = planned->stages.front()[std::size_t(stage)];
        const double forward = secondsOf(*plan, stage, WorkKind::Forward),
                     backward = secondsOf(*plan, stage, WorkKind::Backward),
                     optimizer = secondsOf(*plan, stage, WorkKind::Optimizer);
        const double computing = (of.compute - optimizer) / job.microBatches;
        const double share = forward / (forward + backward);
        exchanges += (forward + backward - computing) / (4.0 * job.layers) / job.stages;
        job.of.push_back({ .forward = computing * share,
            .backward = computing * (1 - share),
            .optimizer = optimizer,
            .gradients = of.gradients,
            .transfer = of.transfers / (2 * job.microBatches) });
    }
    (job.expert > 1 ? job.expertExchange : job.tensorExchange) = std::max(1e-5, exchanges);
    return job;
}

DrawnRun drawRun(const MachineJob &job, MachineCause cause, std::uint64_t seed)
{
    DrawnRun drawn { .noise = { .seed = seed + 1 } };
    drawn.healthySeconds = runMachine(job, {}, drawn.noise, false).stepSeconds;
    for (std::uint64_t draw = 0;; ++draw) {
        const std::uint64_t own = seed * 1000 + draw;
        const auto upTo = [&](std::uint64_t salt, int count) { return int(between(own, salt, 0, count)); };
        drawn.trouble = { .cause = cause,
            .severity = between(own, 1, 0.05, 0.4),
            .stage = upTo(2, cause == MachineCause::SlowLink ? job.stages - 1 : job.stages),
            .replica = upTo(3, job.data),
            .tensor = upTo(4, job.tensor),
            .wanders = upTo(5, 2) == 1 };
        if (cause == MachineCause::None)
            return drawn;
        drawn.moreSeconds = runMachine(job, drawn.trouble, drawn.noise, false).stepSeconds - drawn.healthySeconds;
        if (drawn.moreSeconds >= 0.02 * (drawn.healthySeconds + drawn.moreSeconds))
            return drawn;
        if (++drawn.tooSmall >= 60)
            return drawn;
    }
}

RunVerdict judgedText(const std::string &text, const PlanPtr &plan, const QTemporaryDir &folder)
{
    const std::string path = folder.filePath(QStringLiteral("run.trainyard-recording")).toStdString();
    std::ofstream(path, std::ios::binary) << text;
    auto recording = readSource(path, {});
    if (!recording)
        qFatal("%s", toString(recording.error()).c_str());
    auto judged = judgeRun(*std::move(recording), builtinCatalogue(), { .plan = plan });
    if (!judged || !judged->verdict)
        qFatal("no verdict");
    return *std::move(judged->verdict);
}

bool isNamed(const RankedCause &named, const MachineTrouble &trouble, const MachineJob &job)
{
    const int rank = rankAt(job, trouble.stage, trouble.replica, trouble.tensor);
    switch (trouble.cause) {
    case MachineCause::SlowStage:
        return named.kind == CauseKind::SlowStage && named.stage == trouble.stage;
    case MachineCause::SlowRank:
        return named.kind == CauseKind::SlowRank && named.rank == rank;
    case MachineCause::Throttling:
        return named.kind == CauseKind::Throttling && named.rank == rank;
    case MachineCause::SlowLink:
        return named.kind == CauseKind::SlowLink
            && named.where
            == "stages " + std::to_string(trouble.stage + 1) + " and " + std::to_string(trouble.stage + 2)
                + " of pipeline " + std::to_string(trouble.replica + 1);
    case MachineCause::CongestedFabric:
        return named.kind == CauseKind::CongestedFabric;
    case MachineCause::HostBound:
        return named.kind == CauseKind::HostBound && named.rank < 0;
    case MachineCause::Experts:
        return named.kind == CauseKind::ExpertImbalance;
    case MachineCause::WrongPlan:
        return named.kind == CauseKind::OptimisticPlan;
    case MachineCause::None:
        return false;
    }
    return false;
}

} // namespace trainyard::test
