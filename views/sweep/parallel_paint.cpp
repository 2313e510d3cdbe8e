// SPDX-License-Identifier: GPL-3.0-or-later
// How parallel coordinates are painted: lines once into a picture, axes, brushes and the current row above it.
#include "views/sweep/parallel_axes.h"

#include "views/sweep/line_density.h"
#include "views/theme/theme.h"

#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

constexpr double kBrushWidth = 12, kScaleWidth = 7; // pixels
constexpr double kTickShare = 0.6; // of the way to the next axis

QColor faded(QColor color, double alpha)
{
    color.setAlphaF(float(alpha));
    return color;
}

/// From the theme's accent at the least to its warning at the most.
QColor onScale(double share)
{
    constexpr int kSteps = 32; // few colours, so that lines are of the same
    const double part = std::round(std::clamp(share, 0.0, 1.0) * kSteps) / kSteps;
    const QColor &low = theme().accent, &high = theme().warning;
    const auto mix = [part](int a, int b) { return int(std::lround(a + (b - a) * part)); };
    return { mix(low.red(), high.red()), mix(low.green(), high.green()), mix(low.blue(), high.blue()) };
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

/// On the scale of the column that colours; without one, by whether the row can run.
QColor ParallelAxes::colorOf(std::size_t row) const
{
    if (m_color < 0)
        return m_results.state(row) == SweepState::Feasible  ? theme().accent
            : m_results.state(row) == SweepState::Infeasible ? theme().warning
                                                             : theme().textFaint;
    const double share = shareOf(m_color, m_results.columns()[std::size_t(m_color)].values[row]);
    if (std::isnan(share))
        return theme().textFaint;
    return onScale(share);
}

void ParallelAxes::drawLines()
{
    const std::vector<char> shown = within();
    const std::size_t most = m_gesture == Gesture::Brush ? kMostWhileDragged : kMostLines;
    const std::size_t rows = m_results.rows(), every = (rows + most - 1) / most;
    enum Layer { Out, In, Feasible }; // what the brushes leave out lies below; of what is in, feasible rows on top
    std::array<std::vector<std::size_t>, 3> layers;
    for (std::size_t row = 0; row < rows; ++row) {
        const bool isFeasible = m_results.state(row) == SweepState::Feasible;
        if (row % every == 0 || (isFeasible && m_results.feasible() <= most))
            layers[!shown.empty() && !shown[row] ? Out : isFeasible ? Feasible : In].push_back(row);
    }
    m_linesDrawn = 0;
    const double ratio = devicePixelRatioF();
    LineDensity density(m_picture.size());
    constexpr struct {
        double full, least, most; // lines that fill the plane, and how strong one is
    } inks[] = { { 30, 0.02, 0.10 }, { 150, 0.08, 0.7 }, { 300, 0.15, 0.9 } };
    for (const int layer : { Out, In, Feasible }) {
        const std::vector<std::size_t> &lines = layers[std::size_t(layer)];
        std::vector<char> isDrawn(lines.size(), 0);
        std::vector<double> from(lines.size()), to(lines.size());
        for (int axis = 0; axis < int(m_axes.size()); ++axis) {
            const int column = m_axes[std::size_t(axis)];
            const std::vector<double> &values = m_results.columns()[std::size_t(column)].values;
            const double x = placeOf(axis, 0).x(), before = axis > 0 ? placeOf(axis - 1, 0).x() : x;
            for (std::size_t i = 0; i < lines.size(); ++i) {
                to[i] = placeOf(axis, shareOf(column, values[lines[i]])).y();
                if (axis == 0 || std::isnan(from[i]) || std::isnan(to[i]))
                    continue; // it is interrupted where it has no value
                isDrawn[i] = 1;
                density.add(
                    from[i] * ratio, to[i] * ratio, (layer == Out ? theme().textFaint : colorOf(lines[i])).rgb());
            }
            if (axis > 0)
                density.drawBetween(before * ratio, x * ratio);
            from.swap(to);
        }
        const auto &ink = inks[layer];
        density.paintOn(
            m_picture, std::clamp(ink.full / double(std::max<std::size_t>(lines.size(), 1)), ink.least, ink.most));
        if (layer != Out)
            m_linesDrawn += std::size_t(std::ranges::count(isDrawn, char(1)));
    }
}

void ParallelAxes::paintAxis(QPainter &painter, int axis) const
{
    const int number = m_axes[std::size_t(axis)];
    const SweepColumn &column = m_results.columns()[std::size_t(number)];
    const QPointF low = placeOf(axis, 0), high = placeOf(axis, 1);
    const bool hasFocusHere = hasFocus() && axis == m_focus;
    if (number == m_color) { // the scale of the lines' colours
        QLinearGradient scale(low, high);
        for (const double share : { 0.0, 0.5, 1.0 })
            scale.setColorAt(share, onScale(share));
        painter.fillRect(QRectF(high.x() - kScaleWidth / 2, high.y(), kScaleWidth, low.y() - high.y()), scale);
    }
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
        drawLines();
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
