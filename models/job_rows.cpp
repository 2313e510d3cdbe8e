// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/job_rows.h"

#include "core/facts/plan/enum_names.h"
#include "models/gpu_numbers.h"
#include "models/text/duration.h"
#include "models/text/format.h"
#include "models/text/job_names.h"

#include <QLocale>
#include <QObject>

#include <algorithm>
#include <unordered_map>

namespace trainyard {

namespace {

constexpr double kAtBound = 0.0005; // a smaller share above it is none

QString grouped(qint64 number)
{
    return QLocale(QLocale::English).toString(number);
}

DeadlineState deadlineOf(const Job &job, const JobResult *result)
{
    if (!job.deadlineS)
        return DeadlineState::None;
    if (!result || !result->end)
        return DeadlineState::Unknown;
    return *result->end <= *job.deadlineS ? DeadlineState::Met : DeadlineState::Missed;
}

QString gpuTextOf(const JobResult &result)
{
    if (result.gpus <= 0)
        return {};
    return result.ranOn.size() > 1 && int(result.ranOn.size()) != result.gpus
        ? QObject::tr("%1 of %2").arg(result.gpus).arg(result.ranOn.size())
        : QString::number(result.gpus);
}

QStringList factsOf(const Job &job, const JobResult &result)
{
    QStringList facts;
    if (result.start && result.end)
        facts << QObject::tr("Runs from %1 to %2 on %3.")
                     .arg(formatDuration(*result.start), formatDuration(*result.end),
                         result.ranOn.size() == 1   ? QObject::tr("GPU %1").arg(result.ranOn.front())
                             : result.ranOn.empty() ? gpusText(result.gpus)
                                                    : QObject::tr("GPUs %1").arg(gpuNumbersText(result.ranOn)));
    if (result.shards > 1)
        facts << QObject::tr("Its model is cut into %1 shards.").arg(result.shards);
    if (result.work > 0)
        facts << QObject::tr("%1 of work.").arg(formatDuration(result.work));
    if (result.slowdown)
        facts << QObject::tr("%1 × what it would take alone.").arg(QString::number(*result.slowdown, 'g', 3));
    if (result.bytesLoaded > 0)
        facts << QObject::tr("%1 to GPUs and %2 back.")
                     .arg(formatBytes(result.bytesLoaded), formatBytes(result.bytesStored));
    if (result.hostBytes > 0)
        facts << QObject::tr("%1 of host memory.").arg(formatBytes(result.hostBytes));
    if (result.usd)
        facts << QObject::tr("It costs %1.").arg(formatUsd(*result.usd));
    if (result.isMeasured)
        facts << QObject::tr("Its times are measured.");
    if (job.priority != 0)
        facts << QObject::tr("Priority %1.").arg(job.priority);
    return facts;
}

void tell(JobRow &row, const Job &job, const JobResult &result, const JobMetrics &metrics)
{
    row.isKnown = true;
    row.state = result.state;
    row.isMeasured = result.isMeasured;
    row.why = QString::fromStdString(result.why);
    const double makespan = metrics.makespan.value_or(0);
    if (result.start && result.end && makespan > 0) {
        row.from = std::clamp(*result.start / makespan, 0.0, 1.0);
        row.to = std::clamp(*result.end / makespan, row.from, 1.0);
    }
    if (job.deadlineS && makespan > 0)
        row.deadlineAt = *job.deadlineS / makespan;
    if (result.end)
        row.endText = formatDuration(*result.end);
    if (result.usd)
        row.priceText = formatUsd(*result.usd);
    if (result.state == JobState::Runs) {
        row.shardText = QString::number(result.shards);
        row.gpuText = gpuTextOf(result);
    }
    row.facts = factsOf(job, result).join(u' ');
}

JobRow jobRow(const Job &job, bool isOfGrid)
{
    JobRow row;
    row.name = QString::fromStdString(job.name);
    row.model = QString::fromStdString(job.model);
    row.batch = job.batch;
    row.minibatches = job.minibatches;
    row.epochs = job.epochs;
    row.learningRate = job.learningRate;
    row.deadline = job.deadlineS;
    row.isPaused = job.paused;
    row.isPinned = !job.pinnedGpus.empty();
    row.isOfGrid = isOfGrid;
    row.state = job.paused ? JobState::Paused : JobState::Runs;
    row.minibatchText = job.epochs > 1 ? grouped(job.minibatches) + QStringLiteral(" × ") + grouped(job.epochs)
                                       : grouped(job.minibatches);
    if (job.deadlineS)
        row.deadlineText = formatDuration(*job.deadlineS);
    return row;
}

QString countsOf(const JobSummary &summary, qint64 jobs)
{
    QStringList parts { countOf(jobs, QObject::tr("job"), QObject::tr("jobs")) };
    if (summary.paused > 0)
        parts << QObject::tr("%1 paused").arg(summary.paused);
    if (summary.cannotRun > 0)
        parts << QObject::tr("%1 cannot run").arg(summary.cannotRun);
    if (summary.missed > 0)
        parts << QObject::tr("%1 late").arg(summary.missed);
    return parts.join(QStringLiteral(", "));
}

} // namespace

std::optional<double> aboveBound(const JobMetrics &metrics)
{
    if (!metrics.makespan || !metrics.bound || *metrics.bound <= 0)
        return std::nullopt;
    return std::max(0.0, *metrics.makespan / *metrics.bound - 1);
}

double fullestHostCapacity(const JobMetrics &metrics)
{
    const auto fullest = std::ranges::max_element(metrics.hosts, {}, &HostUse::peak);
    return fullest == metrics.hosts.end() ? 0 : fullest->capacity;
}

JobSummary jobSummary(const JobMetrics &metrics)
{
    JobSummary summary;
    if (metrics.makespan)
        summary.makespan = formatDuration(*metrics.makespan);
    if (metrics.bound)
        summary.bound = formatDuration(*metrics.bound);
    if (metrics.boundShared && metrics.boundLongest)
        summary.boundFacts = QObject::tr("All work over all GPUs takes %1, the compute of the longest job %2.")
                                 .arg(formatDuration(*metrics.boundShared), formatDuration(*metrics.boundLongest));
    if (const std::optional<double> above = aboveBound(metrics))
        summary.distance = *above < kAtBound ? QObject::tr("at the bound")
                                             : QObject::tr("%1 above the bound").arg(formatPercent(*above));
    if (metrics.gpuUtilization)
        summary.utilization = formatPercent(*metrics.gpuUtilization);
    if (metrics.usd)
        summary.price = formatUsd(*metrics.usd);
    const double capacity = fullestHostCapacity(metrics);
    if (metrics.hostPeak > 0)
        summary.host = capacity > 0
            ? QObject::tr("%1 of %2").arg(formatBytes(double(metrics.hostPeak)), formatBytes(capacity))
            : formatBytes(double(metrics.hostPeak));
    summary.isHostOverfull = capacity > 0 && double(metrics.hostPeak) > capacity;
    return summary;
}

JobTable jobTable(const Plan &plan, const Evaluation *evaluation)
{
    const JobMetrics *metrics = evaluation && evaluation->metrics.jobs ? &*evaluation->metrics.jobs : nullptr;
    std::unordered_map<std::string_view, const JobResult *> results;
    if (metrics)
        for (const JobResult &result : metrics->perJob)
            results.emplace(result.name, &result);
    JobTable table;
    if (metrics)
        table.summary = jobSummary(*metrics);
    for (const Job &job : allJobs(plan, kMostJobRows)) {
        JobRow row = jobRow(job, table.rows.size() >= plan.jobs.size());
        const auto found = results.find(job.name);
        const JobResult *result = found == results.end() ? nullptr : found->second;
        if (result)
            tell(row, job, *result, *metrics);
        row.deadlineState = deadlineOf(job, result);
        table.summary.paused += row.isPaused;
        table.summary.cannotRun += row.state == JobState::CannotRun;
        table.summary.runs += row.state == JobState::Runs;
        table.summary.missed += row.deadlineState == DeadlineState::Missed;
        table.rows.push_back(std::move(row));
    }
    QStringList names;
    for (const JobRow &row : table.rows)
        names << row.name;
    names = shortJobNames(names);
    for (std::size_t i = 0; i < table.rows.size(); ++i)
        table.rows[i].shortName = names[qsizetype(i)];
    table.summary.counts = countsOf(table.summary, qint64(jobCount(plan)));
    return table;
}

} // namespace trainyard
