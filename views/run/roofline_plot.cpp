// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/roofline_plot.h"

#include "models/text/format.h"
#include "views/panels/source_mark.h"
#include "views/plots/log_ticker.h"
#include "views/plots/plot_style.h"
#include "views/plots/qcustomplot_gateway.h"
#include "views/run/roofline_rows.h"
#include "views/theme/theme.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trainyard {

namespace {

constexpr double kMarkSize = 7, kRingSize = 14; // pixels
constexpr double kRangeMargin = 1.8; // beyond the outermost marks, as a factor
constexpr double kLabelRoom = 0.12; // of the height, above the highest roof
constexpr double kLeastShare = 1e-4; // of the kernels' time: what takes less would only stretch the axes
constexpr int kLabelGap = 3; // pixels between a line and its label

QString rateLabel(double flopsPerSecond)
{
    return flopsPerSecond >= 1e12 ? RooflinePlot::tr("%1 TFLOP/s").arg(flopsPerSecond * 1e-12)
        : flopsPerSecond >= 1e9   ? RooflinePlot::tr("%1 GFLOP/s").arg(flopsPerSecond * 1e-9)
                                  : RooflinePlot::tr("%1 MFLOP/s").arg(flopsPerSecond * 1e-6);
}

QCPScatterStyle::ScatterShape shapeOf(const SourceMark &mark)
{
    constexpr QCPScatterStyle::ScatterShape kShapes[] = { QCPScatterStyle::ssDisc, QCPScatterStyle::ssSquare,
        QCPScatterStyle::ssTriangle, QCPScatterStyle::ssDiamond };
    return kShapes[int(mark.shape)];
}

QCPItemText *roofLabel(QCustomPlot &plot, QPointF at, const QString &text, Qt::Alignment alignment, const QFont &font)
{
    auto *label = new QCPItemText(&plot);
    label->position->setCoords(at);
    label->setPositionAlignment(alignment);
    label->setPadding(QMargins(kLabelGap, 0, kLabelGap, kLabelGap));
    label->setFont(font);
    label->setColor(theme().textMuted);
    label->setText(text);
    return label;
}

} // namespace

RooflinePlot::RooflinePlot(QWidget *parent)
    : PointPlot(kRingSize, { 220, 140 }, parent)
{
    setAccessibleName(tr("Roofline"));
    m_plot->xAxis->setScaleType(QCPAxis::stLogarithmic);
    m_plot->yAxis->setScaleType(QCPAxis::stLogarithmic);
    RooflinePlot::draw();
}

void RooflinePlot::setRoofline(std::shared_ptr<const Roofline> roofline)
{
    m_roofline = std::move(roofline);
    m_points.clear();
    for (int i = 0; m_roofline && i < int(m_roofline->rows.size()); ++i)
        if (rowAt(i).intensity() > 0 && rowAt(i).total > kLeastShare * m_roofline->total)
            m_points.push_back(i);
    setCurrent(-1);
    draw();
}

void RooflinePlot::draw()
{
    beginDrawing(m_points.empty());
    setAccessibleDescription(countOf(qint64(m_points.size()), tr("operator"), tr("operators")));
    if (m_points.empty()) {
        m_plot->replot(QCustomPlot::rpQueuedReplot);
        return;
    }
    findRanges();
    styleAxes();
    drawRoofs();
    drawMarks();
    addRing();
    showAll();
}

/// All marks, and where the highest roof bends.
void RooflinePlot::findRanges()
{
    m_left = m_low = std::numeric_limits<double>::infinity();
    m_right = m_high = 0;
    const auto take = [this](double intensity, double rate) {
        m_left = std::min(m_left, intensity / kRangeMargin);
        m_right = std::max(m_right, intensity * kRangeMargin);
        m_low = std::min(m_low, rate / kRangeMargin);
        m_high = std::max(m_high, rate * kRangeMargin);
    };
    for (const int i : m_points)
        take(rowAt(i).intensity(), rowAt(i).flopsPerSecond());
    for (const auto &[format, peak] : m_roofline->peaks())
        take(peak / (m_roofline->gpu->memoryGBps * 1e9), peak);
    m_high *= std::pow(m_high / m_low, kLabelRoom);
}

void RooflinePlot::styleAxes()
{
    m_plot->axisRect()->setAutoMargins(QCP::msAll);
    m_plot->axisRect()->setMinimumMargins(QMargins(8, 8, 14, 4));
    m_plot->xAxis->setTicker(QSharedPointer<LogTicker>::create([](double value) { return QString::number(value); }));
    m_plot->yAxis->setTicker(QSharedPointer<LogTicker>::create(rateLabel));
    for (QCPAxis *axis : { m_plot->xAxis, m_plot->yAxis }) {
        axis->setLabelFont(font());
        axis->setLabelColor(theme().textMuted);
        axis->setLabelPadding(2);
        axis->setBasePen(QPen(theme().border));
    }
    m_plot->xAxis->setLabel(tr("FLOPs per byte"));
}

void RooflinePlot::drawRoofs()
{
    if (!m_roofline->gpu)
        return;
    const double bandwidth = m_roofline->gpu->memoryGBps * 1e9;
    const auto peaks = m_roofline->peaks();
    const QPen pen(theme().textMuted, 1.4);
    const auto line = [&](double fromX, double toX, double fromY, double toY) {
        QCPGraph *graph = m_plot->addGraph();
        graph->setData(QVector<double> { fromX, toX }, QVector<double> { fromY, toY }, true);
        graph->setPen(pen);
    };
    // Far beyond what is in sight, so that panning does not reach an end
    const double bend = peaks.empty() ? m_right * 1e3 : peaks.back().second / bandwidth;
    line(m_left * 1e-3, bend, m_left * 1e-3 * bandwidth, bend * bandwidth);
    for (const auto &[format, peak] : peaks) {
        line(peak / bandwidth, m_right * 1e3, peak, peak);
        roofLabel(*m_plot, { m_right, peak },
            tr("%1 %2").arg(QString::fromStdString(formatName(format)), rateLabel(std::round(peak * 1e-12) * 1e12)),
            Qt::AlignRight | Qt::AlignBottom, font());
    }
    const double at = std::sqrt(std::max(m_left, m_low / bandwidth) * std::min(bend, m_right));
    roofLabel(*m_plot, { at, at * bandwidth }, tr("memory %1/s").arg(formatBytes(bandwidth)),
        Qt::AlignRight | Qt::AlignBottom, font());
}

void RooflinePlot::drawMarks()
{
    // Elementwise first, so that few products lie above many of them
    for (int kind = int(kOperationKinds) - 1; kind >= 0; --kind) {
        QVector<double> x, y;
        for (const int i : m_points)
            if (int(rowAt(i).work.kind) == kind) {
                x << rowAt(i).intensity();
                y << rowAt(i).flopsPerSecond();
            }
        const SourceMark mark = sourceMark(kind);
        QColor fill = mark.color;
        fill.setAlphaF(0.55f);
        QCPGraph *graph = m_plot->addGraph();
        graph->setLineStyle(QCPGraph::lsNone);
        graph->setScatterStyle(QCPScatterStyle(shapeOf(mark), QPen(mark.color, 1.2), QBrush(fill), kMarkSize));
        graph->setData(x, y);
    }
}

void RooflinePlot::showAll()
{
    m_plot->xAxis->setRange(m_left, m_right);
    m_plot->yAxis->setRange(m_low, m_high);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

std::optional<QPointF> RooflinePlot::positionOf(int row) const
{
    if (std::ranges::find(m_points, row) == m_points.end())
        return std::nullopt;
    return QPointF(
        m_plot->xAxis->coordToPixel(rowAt(row).intensity()), m_plot->yAxis->coordToPixel(rowAt(row).flopsPerSecond()));
}

int RooflinePlot::nearest(QPointF position) const
{
    int best = -1;
    double bestDistance = kReach * kReach;
    for (const int i : m_points) { // the longest first: of marks on one place it is taken
        const QPointF away = *positionOf(i) - position;
        if (const double distance = QPointF::dotProduct(away, away); distance < bestDistance) {
            bestDistance = distance;
            best = i;
        }
    }
    return best;
}

QString RooflinePlot::tipOf(int row) const
{
    return rooflineTip(*m_roofline, rowAt(row));
}

/// From left to right.
std::vector<int> RooflinePlot::keyOrder() const
{
    std::vector<int> order = m_points;
    std::ranges::stable_sort(order, {}, [this](int i) { return rowAt(i).intensity(); });
    return order;
}

} // namespace trainyard
