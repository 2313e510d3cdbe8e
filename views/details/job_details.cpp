// SPDX-License-Identifier: GPL-3.0-or-later
// Details of GPUs that serve jobs.
#include "models/job_spans.h"
#include "models/text/format.h"
#include "views/details/details.h"

#include <QObject>

#include <algorithm>

namespace trainyard {

namespace {

constexpr std::size_t kMostJobs = 12;

} // namespace

std::vector<DetailFact> jobFacts(const Evaluation &evaluation, const std::vector<int> &gpus)
{
    std::vector<DetailFact> facts;
    if (!isOfJobs(evaluation) || gpus.empty())
        return facts;
    double busy = 0;
    std::int64_t peak = 0;
    for (const int gpu : gpus) {
        busy += busyShare(evaluation, gpu) / double(gpus.size());
        if (gpu >= 0 && gpu < int(evaluation.memoryCurves.size()))
            for (const MemoryStep &step : evaluation.memoryCurves[std::size_t(gpu)])
                peak = std::max(peak, step.bytes);
    }
    if (gpus.size() > 1)
        facts.push_back({ QObject::tr("GPUs"), QObject::tr("%1 to %2").arg(gpus.front()).arg(gpus.back()),
            QObject::tr("As jobs are pinned to them.") });
    facts.push_back({ QObject::tr("Computes"), formatPercent(busy),
        gpus.size() == 1 ? QObject::tr("Of the time until all jobs have ended.")
                         : QObject::tr("Of the time until all jobs have ended, mean of these GPUs.") });
    if (peak > 0)
        facts.push_back({ QObject::tr("Memory"), formatBytes(double(peak)), QObject::tr("At its fullest.") });
    std::vector<const JobResult *> ran;
    for (const JobResult &job : evaluation.metrics.jobs->perJob)
        if (std::ranges::any_of(job.ranOn, [&](int gpu) { return std::ranges::find(gpus, gpu) != gpus.end(); }))
            ran.push_back(&job);
    facts.push_back({ QObject::tr("Ran"),
        ran.empty() ? QObject::tr("no job") : countOf(qint64(ran.size()), QObject::tr("job"), QObject::tr("jobs")),
        {} });
    for (std::size_t i = 0; i < std::min(ran.size(), kMostJobs); ++i)
        facts.push_back({ QObject::tr("  %1").arg(QString::fromStdString(ran[i]->name)),
            ran[i]->end ? QObject::tr("ends after %1").arg(formatSeconds(*ran[i]->end)) : QString(), {} });
    if (ran.size() > kMostJobs)
        facts.push_back({ QObject::tr("  and %1 more").arg(ran.size() - kMostJobs), {}, {} });
    return facts;
}

Details jobGpuDetails(const Evaluation &evaluation, int gpu)
{
    Details details;
    details.title = jobGpuName(evaluation, gpu);
    if (const auto at = evaluation.plan ? gpuOfNumber(evaluation.plan->cluster, gpu) : std::nullopt)
        details.subtitle =
            QString::fromStdString(evaluation.plan->cluster.datacenters[std::size_t(at->datacenter)].label());
    details.facts = jobFacts(evaluation, { gpu });
    return details;
}

} // namespace trainyard
