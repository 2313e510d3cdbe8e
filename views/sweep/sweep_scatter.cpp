// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/sweep/sweep_scatter.h"

#include "views/plots/axis_tickers.h"
#include "views/plots/log_ticker.h"
#include "views/plots/plot_style.h"
#include "views/plots/qcustomplot_gateway.h"
#include "views/theme/theme.h"

#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kMarkSize = 6, kRingSize = 14, kReach = 12; // pixels
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
    : QWidget(parent)
    , m_results(results)
    , m_plot(new QCustomPlot(this))
{
    setFont(uiFont(-1));
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(220, 140);
    setAccessibleName(tr("Rows of the sweep as points"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_plot);
    m_plot->setContextMenuPolicy(Qt::NoContextMenu);
    m_plot->setFocusPolicy(Qt::NoFocus); // keys are this widget's
    m_plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    m_plot->setNoAntialiasingOnDrag(true);
    connect(m_plot, &QCustomPlot::afterLayout, this, &SweepScatter::placeRing);
    connect(m_plot, &QCustomPlot::mouseMove, this, [this](QMouseEvent *event) {
        if (event->buttons() == Qt::NoButton)
            hover(event->position().toPoint());
    });
    connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent *event) {
        setFocus(Qt::MouseFocusReason);
        m_pressed = event->position().toPoint();
    });
    connect(m_plot, &QCustomPlot::mouseRelease, this, [this](QMouseEvent *event) {
        if (event->button() == Qt::LeftButton && (event->position().toPoint() - m_pressed).manhattanLength() < 4)
            choose(nearest(event->position()));
    });
    connect(m_plot, &QCustomPlot::mouseDoubleClick, this, [this](QMouseEvent *event) {
        if (const int at = nearest(event->position()); at >= 0)
            Q_EMIT rowActivated(at);
        else
            showAll();
    });
    draw();
}

SweepScatter::~SweepScatter() = default;

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
    m_plot->clearPlottables();
    m_plot->clearItems();
    m_ring = nullptr;
    m_points.clear();
    m_front.clear();
    stylePlot(*m_plot, font());
    const bool isEmpty = m_x < 0 || m_y < 0;
    for (QCPAxis *axis : { m_plot->xAxis, m_plot->yAxis })
        axis->setVisible(!isEmpty);
    if (!isEmpty) {
        for (std::size_t row = 0; row < m_results.rows(); ++row)
            if (isDrawn(row))
                m_points.push_back(row);
        styleAxes();
        drawMarks();
        drawFront();
        m_ring = new QCPItemEllipse(m_plot);
        m_ring->setPen(QPen(theme().text, 1.6));
        m_ring->setBrush(Qt::NoBrush);
        m_ring->topLeft->setType(QCPItemPosition::ptAbsolute);
        m_ring->bottomRight->setType(QCPItemPosition::ptAbsolute);
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

void SweepScatter::hover(QPoint position)
{
    const int at = nearest(position);
    m_plot->setCursor(at >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (at >= 0)
        QToolTip::showText(m_plot->mapToGlobal(position + QPoint(12, 8)), m_results.describe(std::size_t(at)), m_plot);
    else
        QToolTip::hideText();
}

void SweepScatter::choose(int row)
{
    if (row < 0)
        return;
    setCurrent(row);
    Q_EMIT rowChosen(row);
}

void SweepScatter::setCurrent(int row)
{
    m_current = row;
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void SweepScatter::placeRing()
{
    if (!m_ring)
        return;
    const auto at = positionOf(m_current);
    m_ring->setVisible(at.has_value());
    if (!at)
        return;
    const QPointF half(kRingSize / 2, kRingSize / 2);
    m_ring->topLeft->setPixelPosition(*at - half);
    m_ring->bottomRight->setPixelPosition(*at + half);
}

void SweepScatter::keyPressEvent(QKeyEvent *event)
{
    const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    const std::vector<std::size_t> &line = m_front.empty() ? m_points : m_front;
    if (step != 0 && !line.empty()) {
        const auto found = std::ranges::find(line, std::size_t(m_current));
        const int last = int(line.size()) - 1;
        choose(int(line[std::size_t(
            found == line.end() ? (step > 0 ? 0 : last) : std::clamp(int(found - line.begin()) + step, 0, last))]));
    } else if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && m_current >= 0) {
        Q_EMIT rowActivated(m_current);
    } else if (event->key() == Qt::Key_F) {
        showAll();
    } else {
        QWidget::keyPressEvent(event);
    }
}

void SweepScatter::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        draw();
}

} // namespace trainyard
