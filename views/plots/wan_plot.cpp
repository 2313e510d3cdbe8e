// SPDX-License-Identifier: GPL-3.0-or-later
// What each WAN link carries over the iteration: one direction above the axis, the other below.
#include "views/plots/curve_plots.h"

#include "models/text/format.h"
#include "views/plots/axis_tickers.h"
#include "views/plots/curve_data.h"
#include "views/theme/theme.h"
#include "views/theme/turn_colors.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

/// The links of a plan are told apart by hue, the two directions of one by the side of the axis.
QColor flowColor(const WanFlow &flow)
{
    static constexpr std::array kHues { WorkKind::WanTransfer, WorkKind::Forward, WorkKind::GradientReduce,
        WorkKind::Prefill, WorkKind::Collective, WorkKind::Optimizer };
    return theme().work(kHues[flow.link % kHues.size()]);
}

class WanPlot : public CurvePlot {
    Q_DECLARE_TR_FUNCTIONS(WanPlot)
public:
    using CurvePlot::CurvePlot;

    [[nodiscard]] QString note() const override
    {
        if (!evaluation() || evaluation()->metrics.wanLinks.empty())
            return {};
        if (std::ranges::any_of(m_flows, [](const WanFlow &flow) { return !flow.turns.empty(); }))
            return tr("%1 per iteration · a shade for each pipeline's turn")
                .arg(formatBytes(evaluation()->metrics.wanBytesPerIteration));
        return tr("%1 per iteration · the way back below zero")
            .arg(formatBytes(evaluation()->metrics.wanBytesPerIteration));
    }
    [[nodiscard]] std::vector<LegendEntry> legend() const override
    {
        std::vector<LegendEntry> entries;
        for (const WanFlow &flow : m_flows)
            if (&flow == &m_flows.front() || flow.link != (&flow - 1)->link)
                entries.push_back({ QString::fromStdString(flow.name), flowColor(flow) });
        return entries;
    }
    [[nodiscard]] QString toTsv() const override
    {
        QString text = tr("seconds");
        for (const WanFlow &flow : m_flows)
            text += tr("\t%1 Gbps").arg(QString::fromStdString(flow.name));
        text += u'\n';
        const std::size_t count = m_flows.empty() ? 0 : m_flows.front().gbps.size();
        for (std::size_t i = 0; i < count; ++i) {
            text += QString::number(double(i) * seconds() / double(count), 'g', 9);
            for (const WanFlow &flow : m_flows)
                text += u'\t' + QString::number(flow.gbps[i], 'g', 6);
            text += u'\n';
        }
        return text;
    }

protected:
    [[nodiscard]] QString emptyText() const override
    {
        if (!evaluation())
            return tr("Not evaluated yet");
        const auto &links = evaluation()->metrics.wanLinks;
        const bool any = std::ranges::any_of(links, [](const WanLinkUse &use) { return use.totalBytes() > 0; });
        return any && !evaluation()->timeline.isEmpty() ? QString() : tr("No traffic between datacenters");
    }
    void draw(QCustomPlot &plot) override
    {
        m_flows = wanFlows(*evaluation(), buckets());
        double highest = 0;
        const double shown = plot.xAxis->range().size();
        const double bucketWidth = std::max(1.0, std::ceil(plot.axisRect()->width() * seconds() / buckets() / shown));
        const auto impulses = [&](const std::vector<double> &gbps, int direction, const QColor &color) {
            QCPGraph *graph = plot.addGraph();
            graph->setLineStyle(
                QCPGraph::lsImpulse); // a bucket is about a pixel: impulses fill, at a quarter of a polygon's price
            graph->setAntialiased(false);
            QVector<QCPGraphData> points(int(gbps.size()));
            for (int i = 0; i < points.size(); ++i)
                points[i] = { (i + 0.5) * seconds() / double(points.size()),
                    direction == 0 ? gbps[std::size_t(i)] : -gbps[std::size_t(i)] };
            graph->data()->set(points, true);
            graph->setPen(QPen(color, bucketWidth));
        };
        for (const WanFlow &flow : m_flows) {
            highest = std::max(highest, *std::ranges::max_element(flow.gbps));
            QColor color = flowColor(flow);
            if (flow.turns.empty()) {
                color.setAlphaF(0.6f); // two links at once show through one another
                impulses(flow.gbps, flow.direction, color);
                continue;
            }
            // Turns stand on one another: the whole first, then less and less of it in front.
            std::vector<double> left = flow.gbps;
            for (const WanFlow::Turn &turn : flow.turns) {
                impulses(left, flow.direction, turnShade(color, turn.member));
                for (std::size_t i = 0; i < left.size(); ++i)
                    left[i] = std::max(0.0, left[i] - turn.gbps[i]);
            }
        }
        plot.yAxis->setTicker(
            QSharedPointer<TextTicker>::create([](double v) { return QString::number(std::abs(v), 'g', 4); }));
        const double reach = std::max(1e-6, highest) * 1.08;
        const bool both = std::ranges::any_of(m_flows, [](const WanFlow &f) { return f.direction == 1; });
        plot.yAxis->setRange(both ? -reach : 0, reach);
    }
    [[nodiscard]] QString yTitle() const override { return tr("rate per link, Gbps"); }
    [[nodiscard]] QString describe(double x) const override
    {
        QStringList lines { formatSeconds(x) };
        for (const WanFlow &flow : m_flows) {
            const auto i = static_cast<std::size_t>(std::clamp(x / seconds(), 0.0, 1.0) * double(flow.gbps.size()));
            if (i < flow.gbps.size())
                lines << tr("%1: %2 of %3")
                             .arg(QString::fromStdString(flow.name), formatGbps(flow.gbps[i]),
                                 formatGbps(flow.capacityGbps));
        }
        return lines.join(u'\n');
    }

private:
    std::vector<WanFlow> m_flows;
};

} // namespace

CurvePlot *makeWanPlot(QWidget *parent)
{
    return new WanPlot(parent);
}

} // namespace trainyard
