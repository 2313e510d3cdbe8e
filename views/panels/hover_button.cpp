// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/hover_button.h"

#include <QMouseEvent>

#include <optional>
#include <utility>

namespace trainyard {

namespace {

/// Where the pointer last clicked a button of this kind, in pixels of the screen.
std::optional<QPointF> &lastClick()
{
    static std::optional<QPointF> place;
    return place;
}

} // namespace

HoverButton::HoverButton(const QString &text, QWidget *parent)
    : QPushButton(text, parent)
{
    setAutoDefault(false);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
}

void HoverButton::enterEvent(QEnterEvent *event)
{
    QPushButton::enterEvent(event);
    if (event->globalPosition() != lastClick())
        enter();
}

void HoverButton::mouseMoveEvent(QMouseEvent *event)
{
    QPushButton::mouseMoveEvent(event);
    if (event->globalPosition() != lastClick())
        enter();
}

void HoverButton::mouseReleaseEvent(QMouseEvent *event)
{
    lastClick() = event->globalPosition();
    m_isEntered = true; // what it did is shown, not tried again
    QPushButton::mouseReleaseEvent(event);
}

void HoverButton::enter()
{
    lastClick().reset();
    if (!std::exchange(m_isEntered, true))
        Q_EMIT entered();
}

void HoverButton::leaveEvent(QEvent *event)
{
    QPushButton::leaveEvent(event);
    m_isEntered = false;
    Q_EMIT left();
}

} // namespace trainyard
