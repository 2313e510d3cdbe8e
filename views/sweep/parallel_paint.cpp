// SPDX-License-Identifier: GPL-3.0-or-later
// How parallel coordinates are painted: lines once into a picture, axes, brushes and the current row above it.
#include "views/sweep/parallel_axes.h"

#include "views/theme/theme.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

constexpr double kBrushWidth = 12; // pixels
constexpr double kTickShare = 0.6; // of the way to the next axis
constexpr std::size_t kFewLines = 400; // beyond, lines are fainter

QColor faded(QColor color, double alpha)
{
    color.setAlphaF(float(alpha));
    return color;
}

} // namespace

void ParallelAxes::forgetPicture()
{
    m_picture = {};
    update();
}

std::vector<QPolygonF> ParallelAxes::linesOf(std::size_t row) const
{
    std::vector<QPolygonF> lines(1);
    for (int axis = 0; axis < int(m_axes.size()); ++axis) {
        const int column = m_axes[std::size_t(axis)];
        const double share = shareOf(column, m_results.columns()[std::size_t(column)].values[row]);
        if (!std::isnan(share))
            lines.back() << placeOf(axis, share);
        else if (!lines.back().isEmpty())
            lines.emplace_back();
    }
    std::erase_if(lines, [](const QPolygonF &line) { return line.size() < 2; });
    return lines;
}

/// From the theme's accent at the least to its warning at the most; without a column, by whether the row can run.
QColor ParallelAxes::colorOf(std::size_t row) const
{
    if (m_color < 0)
        return m_results.state(row) == SweepState::Feasible  ? theme().accent
            : m_results.state(row) == SweepState::Infeasible ? theme().warning
                                                             : theme().textFaint;
    const double share = shareOf(m_color, m_results.columns()[std::size_t(m_color)].values[row]);
    if (std::isnan(share))
        return theme().textFaint;
    constexpr int kSteps = 32;
    return theme().stage(int(std::clamp(share, 0.0, 1.0) * (kSteps - 1)), kSteps);
}

void ParallelAxes::drawLines(QPainter &painter)
{
    const std::vector<char> shown = within();
    const std::size_t rows = m_results.rows(), every = (rows + kMostLines - 1) / kMostLines;
    m_linesDrawn = 0;
    const double alpha = rows / std::max<std::size_t>(every, 1) > kFewLines ? 0.3 : 0.7;
    // What the brushes leave out lies below; of what is in, feasible rows on top.
    for (const int layer : { 0, 1, 2 }) {
        for (std::size_t row = 0; row < rows; ++row) {
            const bool isIn = shown.empty() || shown[row];
            const bool isFeasible = m_results.state(row) == SweepState::Feasible;
            if (row % every != 0 && !(isFeasible && m_results.feasible() <= kMostLines))
                continue;
            if ((isIn ? 1 + isFeasible : 0) != layer)
                continue;
            const std::vector<QPolygonF> lines = linesOf(row);
            if (lines.empty())
                continue;
            painter.setPen(QPen(isIn ? faded(colorOf(row), isFeasible ? 0.9 : alpha) : faded(theme().textFaint, 0.10),
                isIn && isFeasible ? 1.4 : 1));
            for (const QPolygonF &line : lines)
                painter.drawPolyline(line);
            m_linesDrawn += isIn;
        }
    }
}

void ParallelAxes::paintAxis(QPainter &painter, int axis) const
{
    const int number = m_axes[std::size_t(axis)];
    const SweepColumn &column = m_results.columns()[std::size_t(number)];
    const QPointF low = placeOf(axis, 0), high = placeOf(axis, 1);
    const bool hasFocusHere = hasFocus() && axis == m_focus;
    painter.setPen(QPen(hasFocusHere ? theme().accent : theme().textMuted, hasFocusHere ? 2 : 1));
    painter.drawLine(low, high);
    if (const auto kept = brush(number)) {
        const QRectF box(QPointF(low.x() - kBrushWidth / 2, placeOf(axis, kept->high).y()),
            QPointF(low.x() + kBrushWidth / 2, placeOf(axis, kept->low).y()));
        painter.setPen(QPen(theme().accent, 1));
        painter.setBrush(faded(theme().accent, 0.25));
        painter.drawRect(box);
        painter.setBrush(Qt::NoBrush);
    }
    const double gap = axis + 1 < int(m_axes.size()) ? placeOf(axis + 1, 0).x() - low.x()
        : axis > 0                                   ? low.x() - placeOf(axis - 1, 0).x()
                                                     : width();
    const auto text = [&](double y, const QString &words, const QColor &ink) {
        painter.setPen(ink);
        const double wide = std::max(40.0, gap - 8);
        const QString fitted = painter.fontMetrics().elidedText(words, Qt::ElideRight, int(wide));
        const double length = painter.fontMetrics().horizontalAdvance(fitted);
        const double left = std::clamp(low.x() - length / 2, 2.0, std::max(2.0, width() - length - 2));
        painter.drawText(QPointF(left, y), fitted);
    };
    text(14, column.label, hasFocusHere ? theme().accent : theme().text);
    if (column.choices.isEmpty()) {
        text(high.y() - 8, column.textOf(column.most), theme().textMuted);
        text(std::min(low.y() + 11, height() - 1.0), column.textOf(column.least), theme().textMuted);
    }
    paintTicks(painter, axis);
}

/// Values beside the axis, each on a ground of its own, since lines go on below; no two over another.
void ParallelAxes::paintTicks(QPainter &painter, int axis) const
{
    const int number = m_axes[std::size_t(axis)];
    const SweepColumn &column = m_results.columns()[std::size_t(number)];
    const QFontMetricsF metrics(painter.font());
    const QPointF low = placeOf(axis, 0);
    const bool isLast = axis + 1 == int(m_axes.size());
    const double room = (axis > 0 ? low.x() - placeOf(axis - 1, 0).x() : width() - 2 * low.x()) * kTickShare;
    const double between = metrics.height() - 2;
    double lastY = column.choices.isEmpty() ? low.y() + between / 2 : std::numeric_limits<double>::infinity();
    for (const double value : column.ticks) {
        const double y = placeOf(axis, shareOf(number, value)).y();
        const bool isEnd = column.choices.isEmpty() && y < top() + between / 2; // told above the axis
        if (y > lastY - between || isEnd)
            continue;
        lastY = y;
        const QString words = metrics.elidedText(column.textOf(value), Qt::ElideRight, std::max(30.0, room));
        const double wide = metrics.horizontalAdvance(words) + 4;
        const QRectF box(isLast ? low.x() - 6 - wide : low.x() + 6, y - between / 2, wide, between);
        painter.setPen(theme().textMuted);
        painter.drawLine(QPointF(low.x() - 3, y), QPointF(low.x() + 3, y));
        painter.setPen(Qt::NoPen);
        painter.setBrush(faded(theme().panel, 0.85));
        painter.drawRoundedRect(box, 3, 3);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(theme().text);
        painter.drawText(box, Qt::AlignCenter, words);
    }
}

void ParallelAxes::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setFont(font());
    if (m_axes.empty() || m_results.rows() == 0)
        return;
    if (m_picture.isNull()) {
        m_picture = QImage(size() * devicePixelRatioF(), QImage::Format_ARGB32_Premultiplied);
        m_picture.setDevicePixelRatio(devicePixelRatioF());
        m_picture.fill(Qt::transparent);
        QPainter lines(&m_picture);
        lines.setRenderHint(QPainter::Antialiasing, m_results.rows() < 5000);
        drawLines(lines);
    }
    painter.drawImage(0, 0, m_picture);
    painter.setRenderHint(QPainter::Antialiasing);
    if (m_current >= 0 && std::size_t(m_current) < m_results.rows()) {
        painter.setPen(QPen(theme().text, 2.5));
        for (const QPolygonF &line : linesOf(std::size_t(m_current)))
            painter.drawPolyline(line);
    }
    for (int axis = 0; axis < int(m_axes.size()); ++axis)
        paintAxis(painter, axis);
    if (m_gesture == Gesture::Name && std::abs(m_at.x() - m_pressed.x()) > 3) {
        painter.setPen(QPen(theme().accent, 1, Qt::DashLine));
        painter.drawLine(QPointF(m_at.x(), 0), QPointF(m_at.x(), height()));
    }
}

} // namespace trainyard
