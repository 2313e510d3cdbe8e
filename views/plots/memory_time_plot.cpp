// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/memory_time_plot.h"

#include "models/text/format.h"
#include "views/plots/axis_tickers.h"
#include "views/plots/curve_data.h"
#include "views/plots/plot_style.h"
#include "views/theme/theme.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

using Curves = std::vector<std::vector<Evaluation::MemoryStep>>;

/// Bytes of a stage at a time, as the curve says exactly.
double bytesAt(const Curves &curves, int stage, double seconds)
{
    const auto &steps = curves[std::size_t(stage)];
    const auto time = Nanoseconds(std::llround(seconds * 1e9));
    const auto after = std::ranges::upper_bound(steps, time, {}, &Evaluation::MemoryStep::time);
    return after == steps.begin() ? 0 : double(std::prev(after)->bytes);
}

} // namespace

QString MemoryTimePlot::note() const
{
    if (!emptyText().isEmpty())
        return {};
    const QString text = evaluation()->metrics.jobs
        ? stage() >= 0 ? tr("allocated on %1").arg(stageName(stage())) : tr("allocated on each GPU")
        : stage() >= 0 ? tr("allocated on a GPU of stage %1").arg(stage() + 1)
                       : tr("allocated on a GPU of each stage");
    return hasGhost() ? text + tr(", dashed without offload") : text;
}

bool MemoryTimePlot::hasGhost() const
{
    return evaluation() && evaluation()->memoryCurvesKept.size() == evaluation()->memoryCurves.size()
        && !evaluation()->memoryCurves.empty();
}

std::vector<int> MemoryTimePlot::shownStages() const
{
    std::vector<int> stages;
    for (int s = 0; evaluation() && s < int(evaluation()->memoryCurves.size()); ++s)
        if (stage() < 0 || stage() == s)
            stages.push_back(s);
    return stages;
}

std::vector<CurvePlot::LegendEntry> MemoryTimePlot::legend() const
{
    std::vector<LegendEntry> entries;
    const std::vector<int> stages = shownStages();
    if (stages.size() > 8)
        return entries;
    for (const int s : stages)
        entries.push_back({ stageName(s), theme().stage(s, int(evaluation()->memoryCurves.size())) });
    return entries;
}

QString MemoryTimePlot::emptyText() const
{
    if (!evaluation())
        return tr("Not evaluated yet");
    return evaluation()->memoryCurves.empty() ? tr("No memory is modelled for this plan") : QString();
}

void MemoryTimePlot::draw(QCustomPlot &plot)
{
    double highest = 0;
    const int all = int(evaluation()->memoryCurves.size());
    const auto add = [&](const std::vector<MemoryPoint> &points, const QPen &pen) {
        QCPGraph *graph = plot.addGraph();
        graph->setLineStyle(QCPGraph::lsStepLeft);
        graph->setPen(pen);
        for (const MemoryPoint &point : points) {
            graph->addData(point.seconds, point.bytes / 1e9);
            highest = std::max(highest, point.bytes / 1e9);
        }
        if (!points.empty())
            graph->addData(seconds(), points.back().bytes / 1e9);
    };
    for (const int s : shownStages()) {
        QColor faint = theme().stage(s, all);
        faint.setAlphaF(0.55F);
        if (hasGhost())
            add(memoryCurveKept(*evaluation(), s, buckets()), QPen(faint, 1, Qt::DashLine));
        add(memoryCurve(*evaluation(), s, buckets()), QPen(theme().stage(s, all), 1));
    }
    if (const auto &memory = evaluation()->metrics.memory; memory && memory->capacity > 0) {
        const double capacity = double(memory->capacity) / 1e9;
        auto *line = new QCPItemStraightLine(&plot);
        line->point1->setCoords(0, capacity);
        line->point2->setCoords(1, capacity);
        line->setPen(QPen(memory->fits ? theme().text : theme().bad, 1.5, Qt::DashLine));
        addLineLabel(
            plot, capacity, tr("%1 capacity").arg(formatBytes(double(memory->capacity))), theme().textMuted, font());
        highest = std::max(highest, capacity);
    }
    plot.yAxis->setTicker(QSharedPointer<TextTicker>::create([](double v) { return QString::number(std::round(v)); }));
    plot.yAxis->setRange(0, highest * 1.08);
}

QString MemoryTimePlot::describe(double x) const
{
    QStringList lines { formatSeconds(x) };
    for (const int s : shownStages())
        if (lines.size() <= kMostInTooltip)
            lines << tr("%1: %2").arg(stageName(s), formatBytes(bytesAt(evaluation()->memoryCurves, s, x)))
                    + (hasGhost()
                            ? tr(", without offload %1").arg(formatBytes(bytesAt(evaluation()->memoryCurvesKept, s, x)))
                            : QString());
    return lines.join(u'\n');
}

QString MemoryTimePlot::toTsv() const
{
    QString text = tr("stage\tseconds\tbytes\n");
    for (const int s : shownStages())
        for (const Evaluation::MemoryStep &step : evaluation()->memoryCurves[s])
            text += QStringLiteral("%1\t%2\t%3\n").arg(s + 1).arg(double(step.time) * 1e-9, 0, 'g', 9).arg(step.bytes);
    return text;
}

} // namespace trainyard
