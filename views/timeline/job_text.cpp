// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/job_text.h"

#include "models/text/duration.h"
#include "models/text/format.h"

#include <QCoreApplication>

#include <algorithm>

namespace trainyard {

namespace {

QString jobText(const char *text)
{
    return QCoreApplication::translate("trainyard::JobText", text);
}

/// What the unit or the transfer is, in lower case.
QString workText(const Evaluation &evaluation, std::uint32_t span)
{
    switch (evaluation.timeline.kind[span]) {
    case WorkKind::ForwardBackward:
        return jobText("forward and backward");
    case WorkKind::WeightsToGpu:
        return jobText("weights to the GPU");
    case WorkKind::StatesToHost:
        return jobText("weights to the host");
    default:
        return QString::fromUtf8(toString(evaluation.timeline.kind[span]));
    }
}

int gpuOf(const Evaluation &evaluation, std::uint32_t span)
{
    return evaluation.timeline.tracks[evaluation.timeline.trackOf[span]].stage;
}

/// Empty where the model is not cut.
QString shardText(const Evaluation &evaluation, std::uint32_t span)
{
    const JobResult *job = resultOf(evaluation, span);
    return job && job->shards > 1 ? jobText("shard %1").arg(evaluation.timeline.chunk[span] + 1) : QString();
}

QString nameOf(const Evaluation &evaluation, std::uint32_t span)
{
    const JobResult *job = resultOf(evaluation, span);
    return job ? QString::fromStdString(job->name) : QString();
}

} // namespace

QString minibatchText(const Evaluation &evaluation, std::uint32_t span)
{
    const int index = evaluation.timeline.microBatch[span];
    if (index < 0 || !isOfJobs(evaluation))
        return {};
    const int each = std::max(1, evaluation.metrics.jobs->minibatchesPerSpan);
    qint64 last = qint64(index) + each;
    if (const int job = jobOfSpan(evaluation, span); each > 1 && job >= 0 && evaluation.plan) {
        const std::vector<Job> jobs = allJobs(*evaluation.plan);
        if (job < int(jobs.size()))
            last = std::min(last, qint64(jobs[std::size_t(job)].minibatches) * jobs[std::size_t(job)].epochs);
    }
    return last <= index + 1 ? jobText("mini-batch %1").arg(index + 1)
                             : jobText("mini-batches %1–%2").arg(index + 1).arg(last);
}

QString jobSpanTitle(const Evaluation &evaluation, std::uint32_t span)
{
    QString work = workText(evaluation, span);
    work[0] = work[0].toUpper();
    QStringList parts { work, nameOf(evaluation, span), minibatchText(evaluation, span), shardText(evaluation, span),
        jobText("GPU %1").arg(gpuOf(evaluation, span)) };
    parts.removeAll(QString());
    return parts.join(QStringLiteral(" · "));
}

QString jobSpanName(const Evaluation &evaluation, std::uint32_t span)
{
    const QString name = nameOf(evaluation, span), work = workText(evaluation, span);
    QStringList parts { minibatchText(evaluation, span), shardText(evaluation, span),
        name.isEmpty() ? work : jobText("%1 of %2").arg(work, name),
        jobText("on GPU %1").arg(gpuOf(evaluation, span)) };
    parts.removeAll(QString());
    return parts.join(QStringLiteral(", "));
}

QString jobSpanBeside(const Evaluation &evaluation, std::uint32_t span, std::uint32_t other)
{
    const QString work = workText(evaluation, span);
    if (jobOfSpan(evaluation, span) != jobOfSpan(evaluation, other))
        return jobText("%1 of %2").arg(work, nameOf(evaluation, span));
    QStringList parts { work, minibatchText(evaluation, span), shardText(evaluation, span) };
    parts.removeAll(QString());
    return parts.join(QStringLiteral(", "));
}

QStringList jobSpanFacts(const Evaluation &evaluation, std::uint32_t span)
{
    const JobResult *job = resultOf(evaluation, span);
    if (!job || !job->end)
        return {};
    QStringList facts { jobText("its job ends after %1").arg(formatDuration(*job->end)) };
    if (job->deadline)
        facts.front() += *job->end <= *job->deadline
            ? jobText(", in time")
            : jobText(", %1 after its deadline").arg(formatDuration(*job->end - *job->deadline));
    if (job->isMeasured)
        facts << jobText("unit times measured, from the plan");
    return facts;
}

QString jobsSummary(const Evaluation &evaluation)
{
    if (!isOfJobs(evaluation))
        return {};
    const JobMetrics &metrics = *evaluation.metrics.jobs;
    QString text = countOf(qint64(metrics.perJob.size()), jobText("job"), jobText("jobs"));
    if (metrics.makespan)
        text += QStringLiteral(" · ") + formatDuration(*metrics.makespan);
    if (metrics.bound)
        text += jobText(", bound %1").arg(formatDuration(*metrics.bound));
    return text;
}

} // namespace trainyard
