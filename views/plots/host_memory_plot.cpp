// SPDX-License-Identifier: GPL-3.0-or-later
// Main memory that the jobs of a plan take of each host over time, against what the host has: models that do not run
// wait there, with the boundaries of their mini-batches.
#include "views/plots/curve_plots.h"

#include "models/text/format.h"
#include "views/plots/axis_tickers.h"
#include "views/plots/job_curves.h"
#include "views/plots/memory_steps.h"
#include "views/theme/theme.h"

#include <QCoreApplication>

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

class HostMemoryPlot : public CurvePlot {
    Q_DECLARE_TR_FUNCTIONS(HostMemoryPlot)
public:
    using CurvePlot::CurvePlot;

    [[nodiscard]] QString note() const override
    {
        const HostUse *fullest = emptyText().isEmpty() ? fullestOf(*evaluation()) : nullptr;
        if (!fullest)
            return {};
        const QString peak = formatBytes(double(fullest->peak));
        return fullest->capacity > 0 ? tr("at most %1 of %2").arg(peak, formatBytes(fullest->capacity))
                                     : tr("at most %1").arg(peak);
    }
    [[nodiscard]] std::vector<LegendEntry> legend() const override
    {
        std::vector<LegendEntry> entries;
        if (m_curves.size() < 2 || m_curves.size() > kMostInLegend)
            return entries;
        for (std::size_t h = 0; h < m_curves.size(); ++h)
            entries.push_back({ m_curves[h].name, theme().stage(int(h), int(m_curves.size())) });
        return entries;
    }
    [[nodiscard]] QString toTsv() const override
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

protected:
    [[nodiscard]] QString emptyText() const override
    {
        if (!evaluation())
            return tr("Not evaluated yet");
        if (!isOfJobs(*evaluation()))
            return tr("This plan trains one model: hosts of jobs show here");
        return evaluation()->metrics.jobs->hosts.empty() ? tr("No job keeps anything in host memory") : QString();
    }
    void draw(QCustomPlot &plot) override
    {
        m_curves = hostCurves(*evaluation(), buckets());
        double highest = 0;
        std::vector<double> capacities;
        for (std::size_t h = 0; h < m_curves.size(); ++h) {
            const HostCurve &curve = m_curves[h];
            const QPen pen(theme().stage(int(h), int(m_curves.size())), 1.4);
            highest = std::max(highest, addMemorySteps(plot, curve.points, seconds(), pen));
            if (curve.capacity > 0 && std::ranges::find(capacities, curve.capacity) == capacities.end())
                capacities.push_back(curve.capacity);
        }
        std::ranges::sort(capacities);
        for (const double bytes : capacities)
            highest = std::max(highest, addCapacity(plot, bytes, theme().text, font()));
        plot.yAxis->setTicker(
            QSharedPointer<TextTicker>::create([](double v) { return QString::number(std::round(v)); }));
        plot.yAxis->setRange(0, std::max(1e-3, highest) * 1.08);
    }
    [[nodiscard]] QString yTitle() const override { return tr("main memory of a host, GB"); }
    [[nodiscard]] QString describe(double x) const override
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

private:
    std::vector<HostCurve> m_curves; // as drawn
};

} // namespace

CurvePlot *makeHostMemoryPlot(QWidget *parent)
{
    return new HostMemoryPlot(parent);
}

} // namespace trainyard
