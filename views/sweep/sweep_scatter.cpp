// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/sweep/sweep_scatter.h"

#include "views/plots/axis_tickers.h"
#include "views/plots/log_ticker.h"
#include "views/plots/qcustomplot_gateway.h"
#include "views/theme/theme.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kMarkSize = 6, kRingSize = 14; // pixels
constexpr double kMargin = 0.05; // of the span, beyond the outermost marks
constexpr std::size_t kManyPoints = 2000; // marks become translucent

QCPRange rangeOf(const SweepColumn &column)
{
    if (column.isLogarithmic()) {
        const double factor = std::pow(column.most / column.least, kMargin);
        return { column.least / factor, column.most * factor };
    }
    const double margin = kMargin * (column.most - column.least);
    return { column.least - margin, column.most + margin };
}

void dress(QCPAxis &axis, const SweepColumn &column, const QFont &font)
{
    // Tickers outlive the columns of a file, so they keep what texts need, without the values.
    const SweepColumn words { column.key, column.label, column.isVaried, column.better, column.choices };
    const auto text = [words](double value) { return words.textOf(value); };
    axis.setScaleType(column.isLogarithmic() ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    if (!column.choices.isEmpty()) {
        const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
        for (int i = 0; i < column.choices.size(); ++i)
            ticker->addTick(i, column.choices[i]);
        axis.setTicker(ticker);
    } else if (column.isLogarithmic()) {
        axis.setTicker(QSharedPointer<LogTicker>::create(text));
    } else {
        axis.setTicker(QSharedPointer<TextTicker>::create(text));
    }
    axis.setLabel(column.label);
    axis.setLabelFont(font);
    axis.setLabelColor(theme().textMuted);
    axis.setLabelPadding(2);
    axis.setBasePen(QPen(theme().border));
    axis.setRange(rangeOf(column));
}

} // namespace

SweepScatter::SweepScatter(const SweepResults &results, QWidget *parent)
    : PointPlot(kRingSize, { 220, 140 }, parent)
    , m_results(results)
{
    setAccessibleName(tr("Rows of the sweep as points"));
    SweepScatter::draw();
}

void SweepScatter::setColumns(int x, int y)
{
    m_x = x;
    m_y = y;
    draw();
}

void SweepScatter::setShown(std::vector<char> shown)
{
    m_shown = std::move(shown);
    const QCPRange x = m_plot->xAxis->range(), y = m_plot->yAxis->range();
    draw();
    m_plot->xAxis->setRange(x); // a filter moves nothing
    m_plot->yAxis->setRange(y);
}

bool SweepScatter::isDrawn(std::size_t row) const
{
    const auto has = [row](const SweepColumn &column) {
        const double value = column.values[row];
        return !std::isnan(value) && (!column.isLogarithmic() || value > 0);
    };
    return (m_shown.empty() || m_shown[row]) && has(m_results.columns()[std::size_t(m_x)])
        && has(m_results.columns()[std::size_t(m_y)]);
}

void SweepScatter::draw()
{
    m_points.clear();
    m_front.clear();
    const bool isEmpty = m_x < 0 || m_y < 0;
    beginDrawing(isEmpty);
    if (!isEmpty) {
        for (std::size_t row = 0; row < m_results.rows(); ++row)
            if (isDrawn(row))
                m_points.push_back(row);
        styleAxes();
        drawMarks();
        drawFront();
        addRing();
    }
    setAccessibleDescription(tr("%1 points, %2 on the front").arg(m_points.size()).arg(m_front.size()));
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void SweepScatter::styleAxes()
{
    m_plot->axisRect()->setAutoMargins(QCP::msAll);
    m_plot->axisRect()->setMinimumMargins(QMargins(8, 8, 14, 4));
    dress(*m_plot->xAxis, m_results.columns()[std::size_t(m_x)], font());
    dress(*m_plot->yAxis, m_results.columns()[std::size_t(m_y)], font());
}

void SweepScatter::drawMarks()
{
    const auto &x = m_results.columns()[std::size_t(m_x)].values, &y = m_results.columns()[std::size_t(m_y)].values;
    struct Kind {
        SweepState state;
        QCPScatterStyle::ScatterShape shape;
        QColor ink;
        bool isFilled;
    };
    const std::array kinds { Kind { SweepState::Refused, QCPScatterStyle::ssCross, theme().textFaint, false },
        Kind { SweepState::Infeasible, QCPScatterStyle::ssCircle, theme().warning, false },
        Kind { SweepState::Feasible, QCPScatterStyle::ssDisc, theme().accent, true } }; // these on top
    for (const Kind &kind : kinds) {
        QVector<double> xs, ys;
        for (const std::size_t row : m_points)
            if (m_results.state(row) == kind.state) {
                xs << x[row];
                ys << y[row];
            }
        QColor ink = kind.ink;
        if (m_points.size() > kManyPoints && !kind.isFilled)
            ink.setAlphaF(0.35f);
        QCPGraph *graph = m_plot->addGraph();
        graph->setLineStyle(QCPGraph::lsNone);
        graph->setAdaptiveSampling(true);
        graph->setScatterStyle(
            QCPScatterStyle(kind.shape, QPen(ink, 1.2), kind.isFilled ? QBrush(ink) : QBrush(Qt::NoBrush), kMarkSize));
        graph->setData(xs, ys);
    }
}

void SweepScatter::drawFront()
{
    m_front = m_results.front(m_x, m_y, m_shown);
    if (m_front.empty())
        return;
    const auto &x = m_results.columns()[std::size_t(m_x)].values, &y = m_results.columns()[std::size_t(m_y)].values;
    auto *curve = new QCPCurve(m_plot->xAxis, m_plot->yAxis);
    QVector<double> xs, ys;
    for (const std::size_t row : m_front) {
        xs << x[row];
        ys << y[row];
    }
    curve->setData(xs, ys);
    curve->setPen(QPen(theme().good, 1.6));
    curve->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssDiamond, QPen(theme().good, 1.2), QBrush(theme().good), kMarkSize + 3));
}

void SweepScatter::showAll()
{
    if (m_x < 0 || m_y < 0)
        return;
    m_plot->xAxis->setRange(rangeOf(m_results.columns()[std::size_t(m_x)]));
    m_plot->yAxis->setRange(rangeOf(m_results.columns()[std::size_t(m_y)]));
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

std::optional<QPointF> SweepScatter::positionOf(int row) const
{
    if (m_x < 0 || m_y < 0 || row < 0 || std::size_t(row) >= m_results.rows() || !isDrawn(std::size_t(row)))
        return std::nullopt;
    return QPointF(m_plot->xAxis->coordToPixel(m_results.columns()[std::size_t(m_x)].values[std::size_t(row)]),
        m_plot->yAxis->coordToPixel(m_results.columns()[std::size_t(m_y)].values[std::size_t(row)]));
}

int SweepScatter::nearest(QPointF position) const
{
    // What lies on top is meant first: feasible rows.
    int best = -1;
    double bestDistance = kReach * kReach;
    bool isBestFeasible = false;
    for (const std::size_t row : m_points) {
        const QPointF at = *positionOf(int(row)) - position;
        const double distance = QPointF::dotProduct(at, at);
        const bool isFeasible = m_results.state(row) == SweepState::Feasible;
        if (distance >= kReach * kReach || (isBestFeasible && !isFeasible))
            continue;
        if (distance < bestDistance || (isFeasible && !isBestFeasible)) {
            bestDistance = distance;
            isBestFeasible = isFeasible;
            best = int(row);
        }
    }
    return best;
}

std::vector<int> SweepScatter::keyOrder() const
{
    const std::vector<std::size_t> &line = m_front.empty() ? m_points : m_front;
    return { line.begin(), line.end() };
}

QString SweepScatter::tipOf(int row) const
{
    return m_results.describe(std::size_t(row));
}

} // namespace trainyard
