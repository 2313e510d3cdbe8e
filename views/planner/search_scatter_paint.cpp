// SPDX-License-Identifier: GPL-3.0-or-later
// What the scatter of a search draws.
#include "models/text/duration.h"
#include "models/text/format.h"
#include "views/planner/scatter_marks.h"
#include "views/planner/search_scatter.h"
#include "views/plots/log_ticks.h"
#include "views/theme/theme.h"

#include <QPaintEngine>
#include <QPaintEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kLeft = 62, kRight = 14, kGutter = 20, kLeastBetween = 6; // pixels
constexpr double kFaded = 0.4, kRing = 7.5;

bool isVector(const QPainter &painter)
{
    const QPaintEngine::Type type = painter.paintEngine()->type();
    return type == QPaintEngine::SVG || type == QPaintEngine::Pdf || type == QPaintEngine::Picture;
}

/// More of them than a logarithmic axis has as a rule, where it shows little.
QVector<double> ticksOf(const AxisRange &range)
{
    constexpr int kFew = 4;
    QVector<double> ticks = logTicks(range.from, range.to);
    if (ticks.size() >= kFew)
        return ticks;
    ticks.clear();
    for (double power = std::pow(10.0, std::floor(std::log10(range.from))); power <= range.to; power *= 10)
        for (const int digit : { 1, 2, 3, 4, 5, 6, 8 })
            if (range.has(digit * power))
                ticks << digit * power;
    return ticks;
}

/// A name beside a mark, on a ground of its own, within the plane.
void paintName(QPainter &painter, const QRectF &area, QPointF mark, const QString &text)
{
    const QFontMetricsF metrics(painter.font());
    QRectF box(mark.x() + 10, mark.y() - metrics.height() / 2, metrics.horizontalAdvance(text) + 6, metrics.height());
    if (box.right() > area.right())
        box.moveRight(mark.x() - 10);
    box.moveTop(std::clamp(box.top(), area.top(), area.bottom() - box.height()));
    QColor ground = theme().panel;
    ground.setAlphaF(0.82f);
    painter.fillRect(box, ground);
    painter.setPen(theme().text);
    painter.drawText(box, Qt::AlignCenter, text);
}

} // namespace

bool SearchScatter::isAbove(RowState state) const
{
    return state == RowState::Feasible || state == RowState::OutOfConstraint;
}

void SearchScatter::layOut()
{
    const int line = fontMetrics().height();
    const bool hasUnpriced =
        std::ranges::any_of(m_points, [](const Point &point) { return !(point.usd > 0) && point.seconds > 0; });
    const QRectF area(kLeft, line + 10, std::max(1, width() - kLeft - kRight), std::max(1, height() - 2 * line - 22));
    const double gutter = hasUnpriced ? kGutter : 0;
    if (area == m_frame.area && gutter == m_frame.gutter)
        return;
    m_frame.area = area;
    m_frame.gutter = gutter;
    m_drawn = m_beyond = 0;
    m_layers = {};
}

void SearchScatter::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    layOut();
}

void SearchScatter::drawNewPoints()
{
    const double ratio = devicePixelRatioF();
    const QSize pixels = (QSizeF(size()) * ratio).toSize();
    for (QImage &layer : m_layers)
        if (layer.size() != pixels) {
            layer = QImage(pixels, QImage::Format_ARGB32_Premultiplied);
            layer.fill(Qt::transparent);
            m_drawn = m_beyond = 0;
        }
    for (std::size_t state = 0; state < m_sprites.size(); ++state)
        if (m_sprites[state].isNull())
            m_sprites[state] = rowSprite(RowState(state), ratio);
    // As m_frame has it, without logarithms of each point.
    const QRectF plane = m_frame.plane();
    const double priceLog = std::log(m_frame.price.from), timeLog = std::log(m_frame.time.from);
    const double across = plane.width() / (std::log(m_frame.price.to) - priceLog);
    const double up = m_frame.area.height() / (std::log(m_frame.time.to) - timeLog);
    const double gutter = m_frame.xOf(0);
    for (; m_drawn < m_points.size(); ++m_drawn) {
        const Point &point = m_points[m_drawn];
        if (!m_frame.has(point.usd, point.seconds)) {
            m_beyond += point.seconds > 0;
            continue;
        }
        const double x = point.usd > 0 ? plane.left() + (point.usdLog - priceLog) * across : gutter;
        const double y = m_frame.area.bottom() - (point.secondsLog - timeLog) * up;
        putSprite(m_layers[isAbove(point.state)], m_sprites[std::size_t(point.state)], qRound(x * ratio - 0.5),
            qRound(y * ratio - 0.5));
    }
}

void SearchScatter::paintPoints(QPainter &painter)
{
    if (isVector(painter)) {
        for (const bool above : { false, true })
            for (const Point &point : m_points)
                if (isAbove(point.state) == above && m_frame.has(point.usd, point.seconds))
                    paintRowMark(painter, { m_frame.xOf(point.usd), m_frame.yOf(point.seconds) }, point.state);
        return;
    }
    for (const QImage &layer : m_layers)
        painter.drawImage(QRectF(rect()), layer);
}

void SearchScatter::paintAxes(QPainter &painter) const
{
    const QFontMetricsF metrics(painter.font());
    const QRectF plane = m_frame.plane();
    const QString priceTitle = tr("$ per million tokens"), timeTitle = tr("time per iteration");
    painter.setPen(theme().textMuted);
    painter.drawText(QRectF(4, 2, width() - 8.0, metrics.height()), Qt::AlignLeft | Qt::AlignTop, timeTitle);
    const double bottom = m_frame.area.bottom() + 5;
    const double titleLeft = m_frame.area.right() - metrics.horizontalAdvance(priceTitle);
    painter.drawText(
        QRectF(titleLeft, bottom, metrics.horizontalAdvance(priceTitle) + 2, metrics.height()), priceTitle);
    if (m_frame.gutter > 0) {
        QColor ground = theme().panelRaised;
        painter.fillRect(
            QRectF(m_frame.area.left(), m_frame.area.top(), m_frame.gutter - 4, m_frame.area.height()), ground);
    }
    double lastRight = m_frame.area.left() - 10;
    for (const double tick : ticksOf(m_frame.price)) {
        const double x = m_frame.xOf(tick);
        painter.setPen(theme().grid);
        painter.drawLine(QPointF(x, plane.top()), QPointF(x, plane.bottom()));
        const QString text = formatUsd(tick);
        const double half = metrics.horizontalAdvance(text) / 2;
        if (x - half < lastRight + kLeastBetween || x + half > titleLeft - kLeastBetween)
            continue;
        lastRight = x + half;
        painter.setPen(theme().textFaint);
        painter.drawText(QRectF(x - half - 2, bottom, 2 * half + 4, metrics.height()), Qt::AlignCenter, text);
    }
    double lastTop = m_frame.area.bottom() + 100;
    for (const double tick : ticksOf(m_frame.time)) {
        const double y = m_frame.yOf(tick);
        painter.setPen(theme().grid);
        painter.drawLine(QPointF(plane.left(), y), QPointF(plane.right(), y));
        if (y + metrics.height() / 2 > lastTop)
            continue;
        lastTop = y - metrics.height() / 2;
        painter.setPen(theme().textFaint);
        painter.drawText(
            QRectF(0, lastTop, kLeft - 6, metrics.height()), Qt::AlignRight | Qt::AlignVCenter, formatSeconds(tick));
    }
    painter.setPen(theme().border);
    painter.drawLine(m_frame.area.bottomLeft(), m_frame.area.bottomRight());
    if (m_beyond > 0) {
        painter.setPen(theme().textFaint);
        painter.drawText(QRectF(0, 2, width() - kRight, metrics.height()), Qt::AlignRight | Qt::AlignTop,
            tr("%L1 further out").arg(qulonglong(m_beyond)));
    }
}

void SearchScatter::paintMarks(QPainter &painter) const
{
    painter.save();
    painter.setClipRect(m_frame.area.adjusted(-1, -1, 1, 1));
    QPolygonF line; // stairs: between two of the front nothing better is known than either
    for (const std::size_t row : m_front) {
        const Point &point = m_points[row];
        if (!(point.usd > 0)) // free of charge, beyond any axis
            continue;
        const QPointF at(m_frame.xOf(point.usd), m_frame.yOf(point.seconds));
        if (!line.isEmpty())
            line << QPointF(at.x(), line.back().y());
        line << at;
    }
    painter.setPen(QPen(theme().text, 1.3));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(line);
    painter.restore();
    for (const int row : { m_hovered, m_current })
        if (const auto at = positionOf(row)) {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(theme().accent, row == m_current ? 2 : 1.2));
            painter.drawEllipse(*at, kRing, kRing);
        }
    if (m_own)
        if (const auto at = positionOf(int(*m_own))) {
            paintOwnMark(painter, *at);
            if (m_own != m_best)
                paintName(painter, m_frame.area, *at, tr("your plan"));
        }
    if (m_best)
        if (const auto at = positionOf(int(*m_best))) {
            paintBestMark(painter, *at);
            paintName(painter, m_frame.area, *at, m_own == m_best ? tr("best value: your plan") : tr("best value"));
        }
}

void SearchScatter::paintEmpty(QPainter &painter) const
{
    painter.setPen(theme().textFaint);
    painter.drawText(QRectF(rect()).adjusted(kLeft, 0, -kRight, 0), Qt::AlignCenter | Qt::TextWordWrap, m_empty);
}

void SearchScatter::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setFont(font());
    const bool hasAny = std::ranges::any_of(m_points, [](const Point &point) { return point.seconds > 0; });
    if (!hasAny)
        return paintEmpty(painter);
    if (!isVector(painter))
        drawNewPoints();
    paintAxes(painter);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setOpacity(m_isFaded ? kFaded : 1);
    painter.save();
    painter.setClipRect(m_frame.area.adjusted(-4, -4, 4, 4));
    paintPoints(painter);
    painter.restore();
    paintMarks(painter);
    if (hasFocus()) {
        painter.setOpacity(1);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(theme().accentSoft);
        painter.drawRect(m_frame.area.adjusted(-2, -2, 2, 2));
    }
}

} // namespace trainyard
