// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/scroll_anchor.h"

#include <QApplication>
#include <QEvent>
#include <QScrollArea>
#include <QScrollBar>

namespace trainyard {

ScrollAnchor::ScrollAnchor(QScrollArea *area)
    : QObject(area)
    , m_area(area)
{
    connect(area->verticalScrollBar(), &QScrollBar::rangeChanged, this, &ScrollAnchor::follow);
    connect(area->verticalScrollBar(), &QScrollBar::actionTriggered, this,
        &ScrollAnchor::release); // by a person: wheel, keys, mouse
    connect(qApp, &QApplication::focusChanged, this, [this](const QWidget *, const QWidget *now) {
        if (now && m_area->widget()->isAncestorOf(now))
            release();
    });
}

void ScrollAnchor::hold(QWidget *widget)
{
    release();
    m_held = widget;
    widget->installEventFilter(this);
    follow();
}

void ScrollAnchor::release()
{
    if (m_held)
        m_held->removeEventFilter(this);
    m_held.clear();
}

void ScrollAnchor::follow()
{
    if (m_held)
        m_area->verticalScrollBar()->setValue(m_held->mapTo(m_area->widget(), QPoint()).y());
}

bool ScrollAnchor::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Move || event->type() == QEvent::Show)
        follow();
    return QObject::eventFilter(watched, event);
}

} // namespace trainyard
