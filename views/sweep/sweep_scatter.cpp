// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/sweep/sweep_scatter.h"

#include "models/text/format.h"
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
constexpr double kEdge = 0.02; // of an axis, where marks lie that have no value of it
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
    for (QCPAxis *edge : { m_plot->xAxis2, m_plot->yAxis2 }) {
        edge->setVisible(false);
        edge->setRange(0, 1); // neither dragged nor zoomed
    }
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

bool SweepScatter::has(int column, std::size_t row) const
{
    const SweepColumn &c = m_results.columns()[std::size_t(column)];
    const double value = c.values[row];
    return !std::isnan(value) && (!c.isLogarithmic() || value > 0);
}

void SweepScatter::draw()
{
    m_points.clear();
    m_front.clear();
    m_note.clear();
    m_neither = 0;
    const bool isEmpty = m_x < 0 || m_y < 0;
    beginDrawing(isEmpty);
    if (!isEmpty) {
        for (std::size_t row = 0; row < m_results.rows(); ++row) {
            if (!isShown(row))
                continue;
            if (has(m_x, row) || has(m_y, row))
                m_points.push_back(row);
            else
                ++m_neither;
        }
        styleAxes();
        drawMarks();
        drawFront();
        drawNote();
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
        QVector<double> xs, ys, lowXs, lowYs, leftXs, leftYs;
        for (const std::size_t row : m_points) {
            if (m_results.state(row) != kind.state)
                continue;
            const bool hasX = has(m_x, row), hasY = has(m_y, row);
            (hasX && hasY ? xs : hasX ? lowXs : leftXs) << (hasX ? x[row] : kEdge);
            (hasX && hasY ? ys : hasX ? lowYs : leftYs) << (hasY ? y[row] : kEdge);
        }
        QColor ink = kind.ink;
        if (m_points.size() > kManyPoints && !kind.isFilled)
            ink.setAlphaF(0.35f);
        const auto add = [&](QCPAxis *across, QCPAxis *up, const QVector<double> &keys, const QVector<double> &values) {
            if (keys.isEmpty())
                return;
            QCPGraph *graph = m_plot->addGraph(across, up);
            graph->setLineStyle(QCPGraph::lsNone);
            graph->setAdaptiveSampling(true);
            graph->setScatterStyle(QCPScatterStyle(
                kind.shape, QPen(ink, 1.2), kind.isFilled ? QBrush(ink) : QBrush(Qt::NoBrush), kMarkSize));
            graph->setData(keys, values);
        };
        add(m_plot->xAxis, m_plot->yAxis, xs, ys);
        add(m_plot->xAxis, m_plot->yAxis2, lowXs, lowYs); // at an edge whatever is zoomed to
        add(m_plot->xAxis2, m_plot->yAxis, leftXs, leftYs);
    }
}

void SweepScatter::drawNote()
{
    const auto lacking = [this](int column) {
        return std::ranges::count_if(m_points, [&](std::size_t row) { return !has(column, row); });
    };
    QStringList parts;
    for (const int column : { m_x, m_y })
        if (const auto many = lacking(column); many > 0)
            parts << tr("%1 without “%2”: along the edge")
                         .arg(countOf(many, tr("row"), tr("rows")), m_results.columns()[std::size_t(column)].label);
    if (m_neither > 0)
        parts << tr("%1 with neither figure").arg(countOf(qint64(m_neither), tr("row"), tr("rows")));
    m_note = parts.join(QStringLiteral(" · "));
    if (m_note.isEmpty())
        return;
    auto *text = new QCPItemText(m_plot);
    text->setText(m_note);
    text->setFont(font());
    text->setColor(theme().textMuted);
    text->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
    text->setClipToAxisRect(false); // below the axis, where no marks are
    text->position->setType(QCPItemPosition::ptViewportRatio);
    text->position->setCoords(0.99, 0.99);
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
    if (m_x < 0 || m_y < 0 || row < 0 || std::size_t(row) >= m_results.rows() || !isShown(std::size_t(row)))
        return std::nullopt;
    const std::size_t at = std::size_t(row);
    const bool hasX = has(m_x, at), hasY = has(m_y, at);
    if (!hasX && !hasY)
        return std::nullopt;
    const auto value = [&](int column) { return m_results.columns()[std::size_t(column)].values[at]; };
    return QPointF(hasX ? m_plot->xAxis->coordToPixel(value(m_x)) : m_plot->xAxis2->coordToPixel(kEdge),
        hasY ? m_plot->yAxis->coordToPixel(value(m_y)) : m_plot->yAxis2->coordToPixel(kEdge));
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
