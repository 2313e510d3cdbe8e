// SPDX-License-Identifier: GPL-3.0-or-later
// How busy the GPUs of two plans are over the iteration, and what their WAN links carry.
#include "views/plots/pair_plot.h"

#include "models/text/format.h"
#include "views/plots/axis_tickers.h"
#include "views/plots/qcustomplot_gateway.h"

#include <QCoreApplication>
#include <QPen>

#include <algorithm>
#include <cmath>
#include <string>

namespace trainyard {

namespace {

/// Means of equal parts of each side's own iteration.
class PairBucketPlot : public PairPlot {
    Q_DECLARE_TR_FUNCTIONS(PairBucketPlot)
public:
    using PairPlot::PairPlot;

    [[nodiscard]] QString toTsv() const override
    {
        QString text = tr("variant\tseconds\t%1\n").arg(yTitle());
        for (std::size_t i = 0; i < sides().size(); ++i)
            for (std::size_t k = 0; k < m_means[i].size(); ++k)
                text += QStringLiteral("%1\t%2\t%3\n")
                            .arg(sides()[i].name)
                            .arg(timeOf(i, k), 0, 'g', 9)
                            .arg(m_means[i][k], 0, 'g', 6);
        return text;
    }

protected:
    /// Empty where the side has none of it.
    [[nodiscard]] virtual std::vector<double> meansOf(const Evaluation &evaluation, int buckets) const = 0;
    [[nodiscard]] virtual QString valueText(double value) const = 0;
    /// Sets the axis up to `highest`.
    virtual void measure(QCPAxis &axis, double highest) const = 0;

    void draw(QCustomPlot &plot) override
    {
        double highest = 0;
        for (std::size_t i = 0; i < sides().size(); ++i) {
            m_means[i] = sides()[i].evaluation ? meansOf(*sides()[i].evaluation, buckets()) : std::vector<double>();
            if (m_means[i].empty())
                continue;
            highest = std::max(highest, *std::ranges::max_element(m_means[i]));
            QVector<QCPGraphData> points;
            points.reserve(int(m_means[i].size()) + 1);
            for (std::size_t k = 0; k < m_means[i].size(); ++k)
                points.append({ timeOf(i, k), m_means[i][k] });
            points.append({ lengthOf(*sides()[i].evaluation), 0 }); // then its iteration is over
            QCPGraph *graph = plot.addGraph();
            graph->data()->set(points, true);
            graph->setPen(penOf(i));
        }
        measure(*plot.yAxis, highest);
    }
    [[nodiscard]] QString describe(double x) const override
    {
        QStringList lines { formatSeconds(x) };
        for (std::size_t i = 0; i < sides().size(); ++i) {
            if (m_means[i].empty())
                continue;
            const double share = x / lengthOf(*sides()[i].evaluation);
            const auto k = std::size_t(std::clamp(share, 0.0, 1.0) * double(m_means[i].size()));
            lines << (k < m_means[i].size() ? tr("%1: %2").arg(sides()[i].name, valueText(m_means[i][k]))
                                            : tr("%1: its iteration is over").arg(sides()[i].name));
        }
        return lines.join(u'\n');
    }

private:
    /// The middle of a part, in seconds.
    [[nodiscard]] double timeOf(std::size_t side, std::size_t bucket) const
    {
        return (double(bucket) + 0.5) * lengthOf(*sides()[side].evaluation) / double(m_means[side].size());
    }

    std::array<std::vector<double>, 2> m_means; // as drawn
};

class PairUtilizationPlot : public PairBucketPlot {
    Q_DECLARE_TR_FUNCTIONS(PairUtilizationPlot)
public:
    using PairBucketPlot::PairBucketPlot;

    [[nodiscard]] std::vector<PlotPlace> places() const override
    {
        std::vector<PlotPlace> places { { tr("All GPUs"), -1 } };
        for (int stage = 0; stage < mostStages(); ++stage)
            places.push_back({ placeName(stage), stage });
        return places;
    }

protected:
    [[nodiscard]] QString whyEmpty() const override
    {
        return mostStages() > 0 ? QString() : tr("Nothing runs: neither plan could be placed");
    }
    [[nodiscard]] std::vector<double> meansOf(const Evaluation &evaluation, int buckets) const override
    {
        if (stage() >= stageCount(evaluation))
            return {};
        return stage() < 0 ? fleetUtilization(evaluation, buckets) : stageUtilization(evaluation, stage(), buckets);
    }
    [[nodiscard]] QString valueText(double value) const override { return formatPercent(value); }
    void measure(QCPAxis &axis, double) const override
    {
        axis.setTicker(QSharedPointer<TextTicker>::create(
            [](double v) { return QString::number(std::round(v * 100)); }, axisHeight() > 100 ? 0.25 : 0.5));
        axis.setRange(0, 1.04);
    }
    [[nodiscard]] QString yTitle() const override { return tr("share of GPU time computing, %"); }
};

class PairWanPlot : public PairBucketPlot {
    Q_DECLARE_TR_FUNCTIONS(PairWanPlot)
public:
    using PairBucketPlot::PairBucketPlot;

    [[nodiscard]] std::vector<PlotPlace> places() const override
    {
        std::vector<PlotPlace> places { { tr("All links"), -1 } };
        for (std::size_t i = 0; i < m_directions.size(); ++i)
            places.push_back({ QString::fromStdString(m_directions[i]), int(i) });
        return places;
    }

protected:
    void takeSides() override
    {
        m_directions.clear();
        for (const PairSide &side : sides())
            if (side.evaluation)
                for (const WanFlow &flow : wanFlows(*side.evaluation, 1))
                    if (std::ranges::find(m_directions, flow.name) == m_directions.end())
                        m_directions.push_back(flow.name);
    }
    [[nodiscard]] QString whyEmpty() const override
    {
        return m_directions.empty() ? tr("No traffic between datacenters") : QString();
    }
    [[nodiscard]] std::vector<double> meansOf(const Evaluation &evaluation, int buckets) const override
    {
        std::vector<double> sum;
        for (const WanFlow &flow : wanFlows(evaluation, buckets)) {
            if (stage() >= 0
                && (stage() >= int(m_directions.size()) || flow.name != m_directions[std::size_t(stage())]))
                continue;
            sum.resize(flow.gbps.size());
            for (std::size_t i = 0; i < sum.size(); ++i)
                sum[i] += flow.gbps[i];
        }
        return sum;
    }
    [[nodiscard]] QString valueText(double value) const override { return formatGbps(value); }
    void measure(QCPAxis &axis, double highest) const override
    {
        axis.setTicker(QSharedPointer<TextTicker>::create([](double v) { return QString::number(v, 'g', 4); }));
        axis.setRange(0, std::max(1e-6, highest) * 1.08);
    }
    [[nodiscard]] QString yTitle() const override { return tr("rate, Gbps"); }

private:
    /// "Oregon → Iowa": those that carry anything in either.
    std::vector<std::string> m_directions;
};

} // namespace

PairPlot *makePairUtilizationPlot(QWidget *parent)
{
    return new PairUtilizationPlot(parent);
}

PairPlot *makePairWanPlot(QWidget *parent)
{
    return new PairWanPlot(parent);
}

} // namespace trainyard
