// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/minimap.h"

#include "views/theme/theme.h"
#include "views/timeline/chart_painter.h"
#include "views/timeline/lane_vectors.h"
#include "views/timeline/run_ends.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

namespace trainyard {

namespace {
constexpr int kMinimapHeight = 34, kMinimapMargin = 6;
constexpr double kGripReach = 5; // pixels around an end of the window
constexpr double kLeastWindow = 6; // pixels, so that a deep zoom can still be found
} // namespace

Minimap::Minimap(const TimelineState &state, QWidget *parent)
    : QWidget(parent)
    , m_state(state)
{
    setFixedHeight(kMinimapHeight);
    setMouseTracking(true);
    setAccessibleName(tr("Whole iteration"));
    setAccessibleDescription(tr("Drag the window to pan, its ends to zoom"));
}

void Minimap::invalidate()
{
    m_isCurrent = false;
    update();
}

void Minimap::setSides(int left, int width)
{
    if (left == m_left && width == m_width)
        return;
    m_left = left;
    m_width = width;
    invalidate();
}

QRect Minimap::strip() const
{
    return { m_left, kMinimapMargin, m_width, kMinimapHeight - 2 * kMinimapMargin };
}

QRectF Minimap::window() const
{
    const QRect box = strip();
    double x0 = timeToX(m_state.range.begin, m_state.whole, box.left(), box.width());
    double x1 = timeToX(m_state.range.end, m_state.whole, box.left(), box.width());
    if (x1 - x0 < kLeastWindow) {
        const double middle = (x0 + x1) / 2;
        x0 = middle - kLeastWindow / 2;
        x1 = middle + kLeastWindow / 2;
    }
    return { x0, double(box.top()), x1 - x0, double(box.height()) };
}

void Minimap::paintTracks()
{
    const QSize pixels = (QSizeF(strip().size()) * devicePixelRatioF()).toSize();
    if (m_image.size() != pixels)
        m_image = QImage(pixels, QImage::Format_RGB32);
    m_image.fill(theme().idle);
    m_mixer.prepare(m_state, false);
    const std::span rows(m_state.layout.rows.begin() + m_state.layout.pinnedCount, m_state.layout.rows.end());
    const auto count = rows.size(), height = std::size_t(std::max(0, pixels.height()));
    const std::size_t lines = std::min(count, height);
    std::vector<std::uint32_t> together;
    for (std::size_t line = 0; line < lines; ++line) {
        const auto of = rows.subspan(line * count / lines, (line + 1) * count / lines - line * count / lines);
        std::span<const QRgb> mix;
        if (of.size() == 1) {
            mix = m_mixer.mix(m_state, of.front(), m_state.whole, pixels.width());
        } else { // more rows than pixels: none is left out
            together.clear();
            for (const TrackRow &row : of)
                together.insert(together.end(), row.tracks.begin(), row.tracks.end());
            mix = m_mixer.blend(m_state, together, m_state.whole, pixels.width());
        }
        for (std::size_t y = line * height / lines; y < (line + 1) * height / lines; ++y)
            std::memcpy(m_image.scanLine(int(y)), mix.data(), mix.size_bytes());
    }
}

/// The strip in rectangles: runs of one colour in each of its lines.
void Minimap::paintVectors(QPainter &painter)
{
    const QImage &image = picture();
    const QRectF box = strip();
    const double cellWidth = box.width() / image.width(), cellHeight = box.height() / image.height();
    painter.fillRect(box, theme().idle);
    for (int y = 0, bottom = 0; y < image.height(); y = bottom) {
        const auto *line = reinterpret_cast<const QRgb *>(image.constScanLine(y));
        while (bottom < image.height()
            && std::equal(line, line + image.width(), reinterpret_cast<const QRgb *>(image.constScanLine(bottom))))
            ++bottom;
        for (int from = 0, to = 0; from < image.width(); from = to) {
            while (to < image.width() && line[to] == line[from])
                ++to;
            if (line[from] != m_mixer.idle())
                painter.fillRect(QRectF(box.left() + from * cellWidth, box.top() + y * cellHeight,
                                     (to - from) * cellWidth, (bottom - y) * cellHeight),
                    QColor(line[from]));
        }
    }
}

const QImage &Minimap::picture()
{
    if (!m_state.isEmpty() && !std::exchange(m_isCurrent, true))
        paintTracks();
    return m_image;
}

void Minimap::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), theme().panel);
    if (m_state.isEmpty())
        return;
    painter.setRenderHint(QPainter::Antialiasing);
    const QRect box = strip();
    if (isVector(painter))
        paintVectors(painter);
    else
        painter.drawImage(QRectF(box), picture());
    QColor veil = theme().panel;
    veil.setAlphaF(m_state.isStale ? 0.7F : 0.6F);
    const QRectF view = window();
    painter.fillRect(QRectF(box.left(), box.top(), std::max(0.0, view.left() - box.left()), box.height()), veil);
    painter.fillRect(
        QRectF(view.right(), box.top(), std::max(0.0, box.right() + 1 - view.right()), box.height()), veil);
    if (m_state.isStale)
        painter.fillRect(view, veil);
    for (const TimeEnd &end : timeEnds(m_state)) {
        const double x =
            std::min(std::round(timeToX(end.at, m_state.whole, box.left(), box.width())), box.right() + 0.0);
        painter.fillRect(QRectF(x, box.top() - 2, end.isRun ? 2 : 1, box.height() + 4),
            end.isRun ? theme().text : theme().textFaint);
    }
    painter.setPen(QPen(theme().accent, 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(view.adjusted(-1, -1.5, 1, 1.5), 3, 3);
    if (view.width() < box.width()) { // grips say that the ends move
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme().accent);
        for (const double x : { view.left() - 1, view.right() + 1 })
            painter.drawRoundedRect(QRectF(x - 2, view.center().y() - 5, 4, 10), 2, 2);
    }
    painter.setFont(smallFont());
    painter.setPen(theme().textFaint);
    painter.drawText(QRect(0, box.top(), box.left() - 10, box.height()), Qt::AlignRight | Qt::AlignVCenter,
        m_state.jobs.isEmpty() ? tr("whole iteration") : tr("all jobs"));
}

Minimap::Grip Minimap::gripAt(QPointF point) const
{
    const QRectF view = window();
    if (view.width() < 4 * kGripReach)
        return view.adjusted(-kGripReach, 0, kGripReach, 0).contains(QPointF(point.x(), view.center().y()))
            ? Grip::Window
            : Grip::None;
    if (std::abs(point.x() - view.left()) < kGripReach)
        return Grip::Left;
    if (std::abs(point.x() - view.right()) < kGripReach)
        return Grip::Right;
    return point.x() > view.left() && point.x() < view.right() ? Grip::Window : Grip::None;
}

void Minimap::mousePressEvent(QMouseEvent *event)
{
    if (m_state.isEmpty() || event->button() != Qt::LeftButton)
        return;
    m_grip = gripAt(event->position());
    m_pressedAt = xToTime(event->position().x(), m_state.whole, m_left, m_width);
    m_rangeAtPress = m_state.range;
    if (m_grip == Grip::None) {
        const Nanoseconds half = m_state.range.length() / 2;
        m_rangeAtPress = clamped({ m_pressedAt - half, m_pressedAt - half + m_state.range.length() }, m_state.whole);
        m_grip = Grip::Window;
        emit rangeWished(m_rangeAtPress);
    }
}

void Minimap::mouseMoveEvent(QMouseEvent *event)
{
    if (m_grip == Grip::None) {
        const Grip grip = gripAt(event->position());
        setCursor(grip == Grip::Left || grip == Grip::Right ? Qt::SizeHorCursor
                : grip == Grip::Window                      ? Qt::OpenHandCursor
                                                            : Qt::ArrowCursor);
        return;
    }
    const Nanoseconds at = std::clamp(
        xToTime(event->position().x(), m_state.whole, m_left, m_width), m_state.whole.begin, m_state.whole.end);
    const TimeInterval old = m_rangeAtPress;
    switch (m_grip) {
    case Grip::Window:
        emit rangeWished(panned(old, at - m_pressedAt, m_state.whole));
        break;
    case Grip::Left:
        emit rangeWished({ std::min(at, old.end - kShortestRange), old.end });
        break;
    case Grip::Right:
        emit rangeWished({ old.begin, std::max(at, old.begin + kShortestRange) });
        break;
    case Grip::None:
        break;
    }
}

void Minimap::mouseReleaseEvent(QMouseEvent *)
{
    m_grip = Grip::None;
}

void Minimap::mouseDoubleClickEvent(QMouseEvent *)
{
    emit rangeWished(m_state.whole);
}

void Minimap::wheelEvent(QWheelEvent *event)
{
    if (m_state.isEmpty())
        return;
    const Nanoseconds at = xToTime(event->position().x(), m_state.whole, m_left, m_width);
    const Nanoseconds anchor = std::clamp(at, m_state.range.begin, m_state.range.end);
    emit rangeWished(zoomed(m_state.range, std::pow(1.25, event->angleDelta().y() / 120.0), anchor, m_state.whole));
    event->accept();
}

void Minimap::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        invalidate();
    QWidget::changeEvent(event);
}

} // namespace trainyard
