// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/host_memory_plot.h"

#include "models/text/format.h"
#include "views/plots/axis_tickers.h"
#include "views/plots/plot_style.h"
#include "views/theme/theme.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

const HostUse *fullestOf(const Evaluation &evaluation)
{
    const auto &hosts = evaluation.metrics.jobs->hosts;
    const auto fullest = std::ranges::max_element(
        hosts, {}, [](const HostUse &host) { return host.capacity > 0 ? double(host.peak) / host.capacity : 0; });
    return fullest == hosts.end() ? nullptr : &*fullest;
}

} // namespace

QString HostMemoryPlot::note() const
{
    const HostUse *fullest = emptyText().isEmpty() ? fullestOf(*evaluation()) : nullptr;
    if (!fullest)
        return {};
    const QString peak = formatBytes(double(fullest->peak));
    return fullest->capacity > 0 ? tr("at most %1 of %2").arg(peak, formatBytes(fullest->capacity))
                                 : tr("at most %1").arg(peak);
}

std::vector<CurvePlot::LegendEntry> HostMemoryPlot::legend() const
{
    std::vector<LegendEntry> entries;
    if (m_curves.size() < 2 || m_curves.size() > kMostInLegend)
        return entries;
    for (std::size_t h = 0; h < m_curves.size(); ++h)
        entries.push_back({ m_curves[h].name, theme().stage(int(h), int(m_curves.size())) });
    return entries;
}

QString HostMemoryPlot::emptyText() const
{
    if (!evaluation())
        return tr("Not evaluated yet");
    if (!isOfJobs(*evaluation()))
        return tr("This plan trains one model: hosts of jobs show here");
    return evaluation()->metrics.jobs->hosts.empty() ? tr("No job keeps anything in host memory") : QString();
}

void HostMemoryPlot::draw(QCustomPlot &plot)
{
    m_curves = hostCurves(*evaluation(), buckets());
    double highest = 0;
    std::vector<double> capacities;
    for (std::size_t h = 0; h < m_curves.size(); ++h) {
        const HostCurve &curve = m_curves[h];
        QCPGraph *graph = plot.addGraph();
        graph->setLineStyle(QCPGraph::lsStepLeft);
        graph->setPen(QPen(theme().stage(int(h), int(m_curves.size())), 1.4));
        for (const MemoryPoint &point : curve.points) {
            graph->addData(point.seconds, point.bytes / 1e9);
            highest = std::max(highest, point.bytes / 1e9);
        }
        if (!curve.points.empty())
            graph->addData(seconds(), curve.points.back().bytes / 1e9);
        if (curve.capacity > 0 && std::ranges::find(capacities, curve.capacity) == capacities.end())
            capacities.push_back(curve.capacity);
    }
    std::ranges::sort(capacities);
    for (const double bytes : capacities) {
        const double capacity = bytes / 1e9;
        auto *line = new QCPItemStraightLine(&plot);
        line->point1->setCoords(0, capacity);
        line->point2->setCoords(1, capacity);
        line->setPen(QPen(theme().text, 1.5, Qt::DashLine));
        addLineLabel(plot, capacity, tr("%1 capacity").arg(formatBytes(bytes)), theme().textMuted, font());
        highest = std::max(highest, capacity);
    }
    plot.yAxis->setTicker(QSharedPointer<TextTicker>::create([](double v) { return QString::number(std::round(v)); }));
    plot.yAxis->setRange(0, std::max(1e-3, highest) * 1.08);
}

QString HostMemoryPlot::describe(double x) const
{
    QStringList lines { formatSeconds(x) };
    for (const HostCurve &curve : m_curves) {
        const auto after = std::ranges::upper_bound(curve.points, x, {}, &MemoryPoint::seconds);
        const double bytes = after == curve.points.begin() ? 0 : std::prev(after)->bytes;
        if (lines.size() <= kMostInTooltip)
            lines << (curve.capacity > 0
                    ? tr("%1: %2 of %3").arg(curve.name, formatBytes(bytes), formatBytes(curve.capacity))
                    : tr("%1: %2").arg(curve.name, formatBytes(bytes)));
    }
    return lines.join(u'\n');
}

QString HostMemoryPlot::toTsv() const
{
    QString text = tr("host\tseconds\tbytes\n");
    for (const HostCurve &curve : m_curves)
        for (const MemoryPoint &point : curve.points)
            text += QStringLiteral("%1\t%2\t%3\n")
                        .arg(curve.name)
                        .arg(point.seconds, 0, 'g', 9)
                        .arg(point.bytes, 0, 'f', 0);
    return text;
}

} // namespace trainyard
