// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/job_progress_plot.h"

#include "models/text/format.h"
#include "views/plots/axis_tickers.h"
#include "views/theme/job_colors.h"
#include "views/theme/theme.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kMostPoints = 1 << 17; // of all curves together
constexpr float kPale = 0.25F;

} // namespace

void JobProgressPlot::setJob(int job)
{
    if (std::exchange(m_job, job) != job)
        markDirty();
}

int JobProgressPlot::steps() const
{
    const int jobs = std::max<int>(1, int(evaluation()->metrics.jobs->perJob.size()));
    return std::clamp(kMostPoints / jobs, 64, buckets());
}

QString JobProgressPlot::note() const
{
    if (!emptyText().isEmpty())
        return {};
    const JobMetrics &metrics = *evaluation()->metrics.jobs;
    const JobResult *last = nullptr;
    for (const JobResult &job : metrics.perJob)
        if (job.end && (!last || *job.end > *last->end))
            last = &job;
    return last ? tr("last: %1, after %2").arg(QString::fromStdString(last->name), formatSeconds(*last->end))
                : QString();
}

std::vector<CurvePlot::LegendEntry> JobProgressPlot::legend() const
{
    std::vector<LegendEntry> entries;
    for (const JobProgress &of : m_progress)
        if (m_job == of.job || (m_job < 0 && m_progress.size() <= kMostInLegend))
            entries.push_back({ of.name, jobColor(of.job) });
    return entries;
}

QString JobProgressPlot::emptyText() const
{
    if (!evaluation())
        return tr("Not evaluated yet");
    if (!isOfJobs(*evaluation()))
        return tr("This plan trains one model: jobs show here");
    return evaluation()->timeline.isEmpty() ? tr("No job runs") : QString();
}

void JobProgressPlot::draw(QCustomPlot &plot)
{
    m_progress = jobProgress(*evaluation(), steps());
    std::ranges::stable_partition(m_progress, [&](const JobProgress &of) { return of.job != m_job; }); // in front
    for (const JobProgress &of : m_progress) {
        const double step = seconds() / double(of.done.size());
        QVector<QCPGraphData> points { { 0, 0 } };
        double before = -1;
        for (std::size_t i = 0; i < of.done.size(); ++i) // the corners alone
            if (i + 1 == of.done.size() || of.done[i] != before) {
                points.append({ double(i + 1) * step, of.done[i] });
                before = of.done[i];
            }
        QCPGraph *graph = plot.addGraph();
        graph->data()->set(points, true);
        graph->setLineStyle(QCPGraph::lsStepLeft);
        QColor color = jobColor(of.job);
        if (m_job >= 0 && of.job != m_job)
            color.setAlphaF(kPale);
        graph->setPen(QPen(color, of.job == m_job ? 2 : 1.2));
    }
    plot.yAxis->setTicker(QSharedPointer<TextTicker>::create(
        [](double v) { return QString::number(std::round(v * 100)); }, axisHeight() > 100 ? 0.25 : 0.5));
    plot.yAxis->setRange(0, 1.04);
}

QString JobProgressPlot::describe(double x) const
{
    QStringList lines { formatSeconds(x) };
    std::vector<const JobProgress *> shown;
    for (const JobProgress &of : m_progress)
        if (m_job < 0 || of.job == m_job)
            shown.push_back(&of);
    const auto at = [&](const JobProgress &of) {
        const auto bucket = std::size_t(std::clamp(x / std::max(1e-12, seconds()), 0.0, 1.0) * double(of.done.size()));
        return bucket == 0 ? 0 : of.done[std::min(bucket, of.done.size()) - 1];
    };
    std::ranges::stable_sort(shown, std::greater {}, [&](const JobProgress *of) { return at(*of); });
    for (const JobProgress *of : shown)
        if (lines.size() <= kMostInTooltip)
            lines << QStringLiteral("%1: %2").arg(of->name, formatPercent(at(*of)));
    if (shown.size() > std::size_t(kMostInTooltip))
        lines << tr("and %1 more").arg(shown.size() - std::size_t(kMostInTooltip));
    return lines.join(u'\n');
}

QString JobProgressPlot::toTsv() const
{
    QString text = tr("job\tseconds\tunits_done\n");
    for (const JobProgress &of : m_progress)
        for (std::size_t i = 0; i < of.done.size(); ++i)
            if (i == 0 || of.done[i] != of.done[i - 1])
                text += QStringLiteral("%1\t%2\t%3\n")
                            .arg(of.name)
                            .arg(double(i + 1) * seconds() / double(of.done.size()), 0, 'g', 9)
                            .arg(of.done[i], 0, 'g', 6);
    return text;
}

} // namespace trainyard
