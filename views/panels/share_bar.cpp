// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/share_bar.h"

#include "views/theme/icons.h"
#include "views/theme/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace trainyard {

namespace {

constexpr int kShareBarHeight = 12;
constexpr int kGripHeight = 16;
constexpr int kReach = 7; // pixels either side of the handle that take it
constexpr int kHandle = 3;
constexpr int kSharePin = 11;

} // namespace

ShareBar::ShareBar(QWidget *parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    setMouseTracking(true);
}

void ShareBar::setAmounts(std::vector<ShareSegment> segments, double full, double room)
{
    if (m_isDragging)
        return; // the hand says
    m_segments = std::move(segments);
    m_full = full > 0 ? full : 1;
    m_room = room;
    update();
}

void ShareBar::setHandle(const std::optional<ShareHandle> &handle)
{
    if (m_isDragging)
        return;
    m_handle = handle;
    setFocusPolicy(handle ? Qt::StrongFocus : Qt::NoFocus);
    update();
}

void ShareBar::setPinned(bool isPinned)
{
    m_isPinned = isPinned;
    update();
}

void ShareBar::setDimmed(bool isDimmed)
{
    if (std::exchange(m_isDimmed, isDimmed) != isDimmed)
        update();
}

double ShareBar::amount() const
{
    return std::accumulate(m_segments.begin(), m_segments.end(), 0.0,
        [](double sum, const ShareSegment &segment) { return sum + segment.amount; });
}

int ShareBar::handleX() const
{
    return m_handle ? int(std::lround(std::clamp(m_handle->value * m_handle->unit / m_full, 0.0, 1.0) * width())) : -1;
}

double ShareBar::snapped(double value) const
{
    return std::clamp(std::round(value / m_handle->step) * m_handle->step, m_handle->least, m_handle->most);
}

double ShareBar::valueAt(double x) const
{
    return snapped(x / std::max(1, width()) * m_full / m_handle->unit);
}

bool ShareBar::isOnHandle(double x) const
{
    return m_handle && std::abs(x - handleX()) <= kReach;
}

void ShareBar::moveTo(double value)
{
    m_handle->value = value;
    if (!m_segments.empty())
        m_segments.front().amount = value * m_handle->unit;
    update();
}

QSize ShareBar::sizeHint() const
{
    return { 120, kGripHeight };
}

void ShareBar::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (m_isDimmed)
        painter.setOpacity(0.45);
    const double room = m_room > 0 ? std::clamp(m_room / m_full, 0.0, 1.0) * width() : width();
    const QRectF track(0, (height() - kShareBarHeight) / 2.0, room, kShareBarHeight);
    QPainterPath outline;
    outline.addRoundedRect(track, 2, 2);
    painter.fillPath(outline, theme().isDark ? theme().panelRaised : theme().grid);
    double x = 0;
    for (const ShareSegment &segment : m_segments) {
        const double length = segment.amount / m_full * width();
        QRectF bar(x, track.top(), std::max(0.0, std::min(length, width() - x)), kShareBarHeight);
        x += length;
        if (bar.width() <= 0)
            continue;
        if (segment.isHatched) {
            painter.fillRect(bar, QBrush(segment.color, Qt::BDiagPattern));
            continue;
        }
        painter.fillRect(bar, segment.color);
        if (&segment != &m_segments.back())
            painter.fillRect(QRectF(bar.right() - 1, bar.top(), 1, bar.height()), theme().panel);
    }
    if (m_room > 0 && x > room + 0.5) // more than there is room for
        painter.fillRect(QRectF(room, track.top() - 1, 2, kShareBarHeight + 2), theme().bad);
    if (!m_handle)
        return;
    const double at = std::clamp(double(handleX()), kHandle / 2.0, width() - kHandle / 2.0);
    const bool isLit = m_isHot || m_isDragging || hasFocus();
    painter.setPen(Qt::NoPen);
    painter.setBrush(isLit ? theme().accent : m_isPinned ? theme().text : theme().textMuted);
    const double grip = isLit || m_isPinned ? height() : kShareBarHeight;
    painter.drawRoundedRect(QRectF(at - kHandle / 2.0, (height() - grip) / 2, kHandle, grip), 1.5, 1.5);
    if (m_isPinned) { // on the side of the end on which there is room
        const double left = at + kSharePin + 4 < width() ? at + 4 : at - kSharePin - 4;
        painter.drawPixmap(QPointF(left, (height() - kSharePin) / 2.0),
            themedPixmap(QStringLiteral("pin"), kSharePin, theme().text, devicePixelRatioF()));
    }
    if (hasFocus()) {
        painter.setPen(QPen(theme().accent, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    }
}

bool ShareBar::event(QEvent *event)
{
    // Esc puts back what the hand holds, before any command of the window; arrows belong to the bar that has the focus.
    if (event->type() == QEvent::ShortcutOverride && m_handle) {
        const int key = static_cast<QKeyEvent *>(event)->key();
        if ((m_isDragging && key == Qt::Key_Escape) || key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up
            || key == Qt::Key_Down || key == Qt::Key_Delete || key == Qt::Key_Backspace) {
            event->accept();
            return true;
        }
    }
    if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut)
        update();
    return QWidget::event(event);
}

void ShareBar::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton || !isOnHandle(event->position().x()))
        return QWidget::mousePressEvent(event);
    m_isDragging = true;
    m_grip = event->position().x() - handleX();
    m_before = m_handle->value;
    setFocus(Qt::MouseFocusReason);
    update();
}

void ShareBar::mouseMoveEvent(QMouseEvent *event)
{
    if (!m_isDragging) {
        const bool isHot = isOnHandle(event->position().x());
        setCursor(isHot ? Qt::SplitHCursor : Qt::ArrowCursor);
        if (std::exchange(m_isHot, isHot) != isHot)
            update();
        return QWidget::mouseMoveEvent(event);
    }
    const double value = valueAt(event->position().x() - m_grip);
    if (value == m_handle->value)
        return;
    moveTo(value);
    Q_EMIT dragged(value);
}

void ShareBar::mouseReleaseEvent(QMouseEvent *event)
{
    if (!m_isDragging || event->button() != Qt::LeftButton)
        return QWidget::mouseReleaseEvent(event);
    m_isDragging = false;
    update();
    if (m_handle->value != m_before)
        Q_EMIT dropped(m_handle->value);
    else
        Q_EMIT cancelled();
}

void ShareBar::keyPressEvent(QKeyEvent *event)
{
    if (!m_handle)
        return QWidget::keyPressEvent(event);
    if (m_isDragging) {
        if (event->key() == Qt::Key_Escape) {
            m_isDragging = false;
            moveTo(m_before);
            Q_EMIT cancelled();
        }
        return;
    }
    const int by = event->key() == Qt::Key_Right || event->key() == Qt::Key_Up ? 1
        : event->key() == Qt::Key_Left || event->key() == Qt::Key_Down         ? -1
                                                                               : 0;
    if (event->key() == Qt::Key_Delete || event->key() == Qt::Key_Backspace) {
        if (m_isPinned)
            Q_EMIT unpinAsked();
    } else if (by == 0) {
        QWidget::keyPressEvent(event);
    } else {
        const double steps = m_handle->value / m_handle->step, // from between two steps to the next one
            next = (by > 0 ? std::floor(steps + 1e-9) : std::ceil(steps - 1e-9)) + by;
        const double value = std::clamp(next * m_handle->step, m_handle->least, m_handle->most);
        if (value == m_handle->value)
            return;
        moveTo(value);
        Q_EMIT stepped(value);
    }
}

void ShareBar::leaveEvent(QEvent *event)
{
    m_isHot = false;
    update();
    QWidget::leaveEvent(event);
}

} // namespace trainyard
