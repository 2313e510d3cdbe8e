// SPDX-License-Identifier: GPL-3.0-or-later
// How busy the GPUs are over the iteration: the mean of all, every stage, or one.
#include "views/plots/curve_plots.h"

#include "models/text/format.h"
#include "views/plots/axis_tickers.h"
#include "views/plots/column_graph.h"
#include "views/plots/curve_data.h"
#include "views/theme/theme.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

Metric utilizationOf(const Metrics &metrics)
{
    return metrics.jobs ? metrics.jobs->gpuUtilization : metrics.gpuUtilization;
}

class UtilizationPlot : public CurvePlot {
    Q_DECLARE_TR_FUNCTIONS(UtilizationPlot)
public:
    using CurvePlot::CurvePlot;

    [[nodiscard]] bool hasStages() const override { return true; }
    [[nodiscard]] QString note() const override
    {
        if (!evaluation() || !utilizationOf(evaluation()->metrics))
            return {};
        const Metrics &metrics = evaluation()->metrics;
        if (metrics.jobs)
            return tr("GPUs compute %1 of the time").arg(formatPercent(*utilizationOf(metrics)));
        const QString share = formatPercent(*metrics.gpuUtilization);
        return metrics.gpusUsed < metrics.gpusTotal
            ? tr("the %L1 GPUs in use compute %2 of the iteration").arg(metrics.gpusUsed).arg(share)
            : tr("GPUs compute %1 of the iteration").arg(share);
    }
    [[nodiscard]] std::vector<LegendEntry> legend() const override
    {
        std::vector<LegendEntry> entries;
        if (m_curves.size() > 8 || (stage() == -1 && m_curves.size() == 1))
            return entries;
        for (const Curve &curve : m_curves)
            entries.push_back({ curve.name, curve.color });
        return entries;
    }
    [[nodiscard]] QString toTsv() const override
    {
        QString text = tr("seconds");
        for (const Curve &curve : m_curves)
            text += u'\t' + curve.name;
        text += u'\n';
        const std::size_t count = m_curves.empty() ? 0 : m_curves.front().share.size();
        for (std::size_t i = 0; i < count; ++i) {
            text += QString::number((double(i) + 0.5) * seconds() / double(count), 'g', 9);
            for (const Curve &curve : m_curves)
                text += u'\t' + QString::number(curve.share[i], 'g', 6);
            text += u'\n';
        }
        return text;
    }

protected:
    [[nodiscard]] QString emptyText() const override
    {
        if (!evaluation())
            return tr("Not evaluated yet");
        return evaluation()->timeline.isEmpty() ? tr("Nothing runs: the plan could not be placed") : QString();
    }
    void draw(QCustomPlot &plot) override
    {
        m_curves.clear();
        const int stages = stageCount(*evaluation());
        if (stage() >= 0 && stage() < stages) {
            m_curves.push_back({ stageName(stage()), theme().stage(stage(), stages),
                stageUtilization(*evaluation(), stage(), buckets()) });
        } else if (stage() == kEveryStage) {
            for (int s = 0; s < stages; ++s)
                m_curves.push_back(
                    { stageName(s), theme().stage(s, stages), stageUtilization(*evaluation(), s, buckets()) });
        } else {
            if (std::vector<double> filled = filledUtilization(*evaluation(), buckets()); !filled.empty())
                m_curves.push_back(
                    { tr("with prefill in bubbles"), theme().work(WorkKind::Prefill), std::move(filled) });
            m_curves.push_back({ tr("training, mean of all GPUs"), theme().work(WorkKind::Forward),
                fleetUtilization(*evaluation(), buckets()) });
        }
        plot.yAxis->setTicker(QSharedPointer<TextTicker>::create(
            [](double v) { return QString::number(std::round(v * 100)); }, axisHeight() > 100 ? 0.25 : 0.5));
        plot.yAxis->setRange(0, 1.04);
        for (const Curve &curve : m_curves) {
            QVector<QCPGraphData> points(int(curve.share.size()));
            for (int i = 0; i < points.size(); ++i)
                points[i] = { (i + 0.5) * seconds() / double(points.size()), curve.share[i] };
            if (m_curves.size() == 1 || stage() == -1)
                fill(plot, points, curve.color);
            QCPGraph *graph = plot.addGraph();
            graph->data()->set(points, true);
            graph->setPen(QPen(curve.color, 1));
        }
    }
    [[nodiscard]] QString yTitle() const override { return tr("share of GPU time computing, %"); }
    [[nodiscard]] QString describe(double x) const override
    {
        QStringList lines { formatSeconds(x) };
        for (const Curve &curve : m_curves) {
            const auto i = static_cast<std::size_t>(std::clamp(x / seconds(), 0.0, 1.0) * double(curve.share.size()));
            if (lines.size() <= kMostInTooltip && i < curve.share.size())
                lines << QStringLiteral("%1: %2").arg(curve.name, formatPercent(curve.share[i]));
        }
        return lines.join(u'\n');
    }

private:
    struct Curve {
        QString name;
        QColor color;
        std::vector<double> share;
    };
    /// Opaque, as columns touch.
    void fill(QCustomPlot &plot, const QVector<QCPGraphData> &points, const QColor &color) const
    {
        const QColor panel = theme().panel;
        const auto mix = [](int from, int to) { return qRound(from + (to - from) * 0.22); };
        const double shown = plot.xAxis->range().size();
        const double width =
            std::max(1.0, std::ceil(plot.axisRect()->width() * seconds() / double(points.size()) / shown));
        auto *graph = new ColumnGraph(plot,
            QColor(mix(panel.red(), color.red()), mix(panel.green(), color.green()), mix(panel.blue(), color.blue())),
            width);
        graph->data()->set(points, true);
    }

    std::vector<Curve> m_curves;
};

} // namespace

CurvePlot *makeUtilizationPlot(QWidget *parent)
{
    return new UtilizationPlot(parent);
}

} // namespace trainyard
