// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/objective.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/metrics/chip_power.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/cluster/wan.h"
#include "core/planner/search/idle_nodes.h"

#include <algorithm>
#include <vector>

namespace trainyard {

namespace {

struct Hourly { // of GPUs that are used; money of their nodes
    double usd = 0, kilowatts = 0;
};

/// Of the GPUs that are used. Jobs' own is a share of all GPUs.
double utilizationOf(const Metrics &metrics)
{
    if (!metrics.jobs)
        return metrics.gpuUtilization.value_or(0);
    const double share = double(metrics.gpusTotal) / std::max(1, metrics.gpusUsed);
    return std::min(1.0, metrics.jobs->gpuUtilization.value_or(0) * share);
}

Hourly hourly(const Evaluation &evaluation, const Catalogue &catalogue)
{
    const double utilization = utilizationOf(evaluation.metrics);
    const auto &datacenters = evaluation.plan->cluster.datacenters;
    const bool areJobs = evaluation.metrics.jobs.has_value();
    const std::vector<PoolNodes> idleIn = idleNodes(*evaluation.plan, evaluation.layout);
    Hourly sum;
    for (std::size_t d = 0; d < datacenters.size(); ++d) {
        for (std::size_t p = 0; p < datacenters[d].pools.size(); ++p) {
            const Pool &pool = datacenters[d].pools[p];
            const GpuSpec *gpu = gpuOf(pool, catalogue);
            if (!gpu)
                continue;
            int used = 0;
            for (const GpuRun &run : evaluation.layout.runs)
                used += run.datacenter == int(d) && run.pool == int(p) ? run.gpus : 0;
            const auto idle = std::ranges::find_if(
                idleIn, [&](const PoolNodes &nodes) { return nodes.datacenter == int(d) && nodes.pool == int(p); });
            const int paid = areJobs ? used : pool.gpus() - (idle == idleIn.end() ? 0 : idle->nodes * pool.gpusPerNode);
            sum.kilowatts += chipKilowatts(*gpu, used, used, utilization);
            const double price = pool.usdPerGpuHour.value_or(gpu->usdPerHour);
            // A rental price includes power; hardware of one's own (price 0) pays for it.
            sum.usd += price > 0 ? price * paid
                                 : chipKilowatts(*gpu, used, paid, utilization) * datacenters[d].usdPerKwh.value_or(0);
        }
    }
    return sum;
}

double egressUsd(const Evaluation &evaluation, const Catalogue &catalogue)
{
    double usd = 0;
    for (const WanLinkUse &use : evaluation.metrics.wanLinks) {
        if (use.bytes[0] <= 0 && use.bytes[1] <= 0)
            continue;
        const std::array<double, 2> price = egressUsdPerGb(*evaluation.plan, catalogue, use.link);
        usd += (use.bytes[0] * price[0] + use.bytes[1] * price[1]) / 1e9;
    }
    return usd;
}

} // namespace

namespace {

/// Of those that run.
double tokensOfJobs(const Plan &plan, const JobMetrics &metrics)
{
    const std::vector<Job> jobs = allJobs(plan);
    double tokens = 0;
    for (std::size_t i = 0; i < jobs.size() && i < metrics.perJob.size(); ++i)
        if (const Job &job = jobs[i]; metrics.perJob[i].state == JobState::Runs)
            tokens += double(job.batch) * job.sequenceLength * job.minibatches * job.epochs;
    return tokens;
}

} // namespace

std::optional<ObjectiveFigures> figuresOf(const Evaluation &evaluation, const Catalogue &catalogue)
{
    const Metrics &metrics = evaluation.metrics;
    const Metric seconds = metrics.jobs ? metrics.jobs->makespan : metrics.iterationTime;
    if (!seconds || !(*seconds > 0))
        return std::nullopt;
    const Hourly hour = hourly(evaluation, catalogue);
    ObjectiveFigures figures;
    figures.seconds = *seconds;
    figures.tokensPerSecond =
        metrics.jobs ? tokensOfJobs(*evaluation.plan, *metrics.jobs) / *seconds : metrics.tokensPerSecond.value_or(0);
    if (!(figures.tokensPerSecond > 0))
        return std::nullopt;
    figures.egressUsd = egressUsd(evaluation, catalogue);
    figures.usdPerHour = hour.usd + figures.egressUsd * 3600 / figures.seconds;
    figures.usdPerMillionTokens = figures.usdPerHour / 3600 / figures.tokensPerSecond * 1e6;
    figures.clusterUsdPerHour = figures.usdPerHour;
    if (const Metric usd = metrics.jobs ? metrics.jobs->usd : metrics.cost.usdPerIteration) // never less, also rounded
        figures.clusterUsdPerHour = std::max(figures.usdPerHour, *usd * 3600 / figures.seconds);
    figures.clusterUsdPerMillionTokens = figures.clusterUsdPerHour / 3600 / figures.tokensPerSecond * 1e6;
    figures.joulesPerToken = hour.kilowatts * 1e3 / figures.tokensPerSecond;
    figures.days = metrics.jobs ? Metric(*seconds / 86400) : metrics.cost.daysTotal;
    if (metrics.memory)
        for (const StageMemory &stage : metrics.memory->perStage)
            figures.fill =
                std::max(figures.fill, stage.capacity > 0 ? double(stage.device) / double(stage.capacity) : 0);
    figures.gpus = metrics.gpusUsed;
    return figures;
}

ObjectiveFigures priced(ObjectiveFigures figures, bool keepsIdle)
{
    if (keepsIdle) {
        figures.usdPerHour = figures.clusterUsdPerHour;
        figures.usdPerMillionTokens = figures.clusterUsdPerMillionTokens;
    }
    return figures;
}

std::string jobsLeftOut(const Metrics &metrics)
{
    if (!metrics.jobs)
        return {};
    const auto left = std::ranges::count(metrics.jobs->perJob, JobState::CannotRun, &JobResult::state);
    return left == 0
        ? std::string()
        : std::to_string(left) + " of " + counted(std::int64_t(metrics.jobs->perJob.size()), "job") + " cannot run";
}

ObjectiveFigures slowed(ObjectiveFigures figures, double factor)
{
    const double egress = figures.egressUsd * 3600 / figures.seconds, perHour = figures.usdPerHour - egress,
                 clusterPerHour = figures.clusterUsdPerHour - egress;
    figures.seconds *= factor;
    figures.tokensPerSecond /= factor;
    figures.usdPerHour = perHour + figures.egressUsd * 3600 / figures.seconds;
    figures.usdPerMillionTokens = figures.usdPerHour / 3600 / figures.tokensPerSecond * 1e6;
    figures.clusterUsdPerHour = clusterPerHour + figures.egressUsd * 3600 / figures.seconds;
    figures.clusterUsdPerMillionTokens = figures.clusterUsdPerHour / 3600 / figures.tokensPerSecond * 1e6;
    figures.joulesPerToken *= factor;
    if (figures.days)
        *figures.days *= factor;
    return figures;
}

double objectiveValue(Objective objective, const ObjectiveFigures &figures)
{
    switch (objective) {
    case Objective::Throughput:
        break;
    case Objective::Cost:
        return figures.usdPerMillionTokens;
    case Objective::Energy:
        return figures.joulesPerToken;
    case Objective::Time:
        if (figures.days)
            return *figures.days;
        break;
    case Objective::Gpus:
        return figures.gpus + figures.seconds / (1 + figures.seconds);
    }
    return 1 / figures.tokensPerSecond;
}

} // namespace trainyard
