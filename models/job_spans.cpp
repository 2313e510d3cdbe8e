// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/job_spans.h"

#include "models/text/gpu_name.h"

#include <QCoreApplication>
#include <QMimeData>

#include <algorithm>

namespace trainyard {

int JobSpans::indexOf(const QString &name) const
{
    const auto found = std::ranges::find(names, name);
    return found == names.end() ? kNone : int(found - names.begin());
}

bool isOfJobs(const Evaluation &evaluation)
{
    return evaluation.metrics.jobs.has_value();
}

JobSpans jobSpans(const Evaluation &evaluation)
{
    JobSpans spans;
    if (!isOfJobs(evaluation))
        return spans;
    for (const JobResult &job : evaluation.metrics.jobs->perJob) {
        spans.names.push_back(QString::fromStdString(job.name));
        spans.runs.push_back(job.state == JobState::Runs);
    }
    for (const TaskClass &of : evaluation.timeline.classes)
        spans.ofClass.push_back(of.job < spans.names.size() ? int(of.job) : JobSpans::kNone);
    return spans;
}

int jobOfSpan(const Evaluation &evaluation, std::uint32_t span)
{
    if (!isOfJobs(evaluation))
        return JobSpans::kNone;
    const std::uint32_t job = evaluation.timeline.classOf(span).job;
    return job < evaluation.metrics.jobs->perJob.size() ? int(job) : JobSpans::kNone;
}

const JobResult *resultOf(const Evaluation &evaluation, std::uint32_t span)
{
    const int job = jobOfSpan(evaluation, span);
    return job < 0 ? nullptr : &evaluation.metrics.jobs->perJob[std::size_t(job)];
}

QString draggedJob(const QMimeData &mime)
{
    return QString::fromUtf8(mime.data(QStringLiteral("application/x-trainyard-job")));
}

int gpuNumber(const Cluster &cluster, int datacenter, int pool, int gpu)
{
    int number = gpu;
    for (int d = 0; d <= datacenter && d < int(cluster.datacenters.size()); ++d) {
        const auto &pools = cluster.datacenters[std::size_t(d)].pools;
        for (int p = 0; p < int(pools.size()) && (d < datacenter || p < pool); ++p)
            number += pools[std::size_t(p)].gpus();
    }
    return number;
}

std::optional<GpuSelection> gpuOfNumber(const Cluster &cluster, int number)
{
    for (int d = 0; number >= 0 && d < int(cluster.datacenters.size()); ++d) {
        const auto &pools = cluster.datacenters[std::size_t(d)].pools;
        for (int p = 0; p < int(pools.size()); ++p) {
            const int gpus = pools[std::size_t(p)].gpus();
            if (number < gpus)
                return GpuSelection { d, p, number, 1 };
            number -= gpus;
        }
    }
    return std::nullopt;
}

QString jobGpuName(const Evaluation &evaluation, int gpu)
{
    const QString number = QCoreApplication::translate("trainyard::JobSpans", "GPU %1").arg(gpu);
    const QString type = gpuNameAt(evaluation, 0, gpu);
    return type.isEmpty() ? number : number + QStringLiteral(" · ") + type;
}

double busyShare(const Evaluation &evaluation, int gpu)
{
    const Timeline &timeline = evaluation.timeline;
    double busy = 0;
    for (const Track &track : timeline.tracks) {
        if (track.stage != gpu || track.stream != Stream::Compute)
            continue;
        for (std::uint32_t span = track.first; span < track.last; ++span)
            busy += double(timeline.end[span] - timeline.start[span]);
    }
    return timeline.duration > 0 ? busy / double(timeline.duration) : 0;
}

} // namespace trainyard
