// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/live/state_mark.h"

#include "views/theme/theme.h"

#include <QPainter>
#include <QPainterPath>

namespace trainyard {

QColor stateColor(live::SourceState state)
{
    switch (state) {
    case live::SourceState::Live:
        return theme().good;
    case live::SourceState::Connecting:
        return theme().accent;
    case live::SourceState::Stale:
    case live::SourceState::BackingOff:
        return theme().warning;
    case live::SourceState::Refused:
        return theme().bad;
    case live::SourceState::Idle:
    case live::SourceState::Paused:
    case live::SourceState::Ended:
        return theme().textMuted;
    }
    return theme().textMuted;
}

void paintStateMark(QPainter &painter, const QRectF &box, live::SourceState state)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor ink = stateColor(state);
    const QPointF c = box.center();
    const double r = box.width() / 2 - 2;
    const QPen line(ink, 2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    switch (state) {
    case live::SourceState::Live:
        painter.drawEllipse(c, r, r);
        break;
    case live::SourceState::Stale:
        painter.drawPolygon(QPolygonF { c + QPointF(0, -r), c + QPointF(r, r - 0.5), c + QPointF(-r, r - 0.5) });
        break;
    case live::SourceState::Paused:
        painter.drawRect(QRectF(c + QPointF(-r + 0.5, -r), QSizeF(r * 0.6, 2 * r)));
        painter.drawRect(QRectF(c + QPointF(r * 0.4 - 0.5, -r), QSizeF(r * 0.6, 2 * r)));
        break;
    case live::SourceState::Ended:
        painter.drawRect(QRectF(c - QPointF(r - 1, r - 1), QSizeF(2 * r - 2, 2 * r - 2)));
        break;
    case live::SourceState::Refused:
        painter.setPen(line);
        painter.drawLine(c - QPointF(r - 1, r - 1), c + QPointF(r - 1, r - 1));
        painter.drawLine(c + QPointF(r - 1, -r + 1), c + QPointF(-r + 1, r - 1));
        break;
    case live::SourceState::BackingOff:
        painter.setBrush(Qt::NoBrush);
        painter.setPen(line);
        painter.drawArc(QRectF(c - QPointF(r - 0.5, r - 0.5), QSizeF(2 * r - 1, 2 * r - 1)), 60 * 16, 270 * 16);
        painter.drawLine(c + QPointF(r * 0.25, -r), c + QPointF(r * 0.9, -r * 0.8));
        break;
    case live::SourceState::Idle:
    case live::SourceState::Connecting:
        painter.setBrush(Qt::NoBrush);
        painter.setPen(line);
        painter.drawEllipse(c, r - 0.5, r - 0.5);
        break;
    }
    painter.restore();
}

StateMark::StateMark(QWidget *parent)
    : QWidget(parent)
{
    setFixedSize(kSize, kSize);
}

void StateMark::setState(live::SourceState state)
{
    m_state = state;
    update();
}

void StateMark::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    paintStateMark(painter, rect(), m_state);
}

} // namespace trainyard
