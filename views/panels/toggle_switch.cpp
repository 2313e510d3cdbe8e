// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/toggle_switch.h"

#include "views/theme/theme.h"

#include <QPainter>

namespace trainyard {

ToggleSwitch::ToggleSwitch(QWidget *parent) : QAbstractButton(parent)
{
    setCheckable(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void ToggleSwitch::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF track(1.5, 1.5, width() - 3, height() - 3);
    const double radius = track.height() / 2;
    const QColor rim = hasFocus() ? theme().accent : isChecked() && isEnabled() ? theme().accent : theme().textFaint;
    painter.setPen(QPen(isEnabled() ? rim : theme().border, hasFocus() ? 1.5 : 1));
    painter.setBrush(isChecked() ? (isEnabled() ? theme().accent : theme().border) : theme().panelRaised);
    painter.drawRoundedRect(track, radius, radius);
    const double knob = radius - 3;
    const QPointF centre(isChecked() ? track.right() - radius : track.left() + radius, track.center().y());
    painter.setPen(Qt::NoPen);
    painter.setBrush(isChecked() ? theme().panel : isEnabled() ? theme().textMuted : theme().textFaint);
    painter.drawEllipse(centre, knob, knob);
}

void ToggleSwitch::enterEvent(QEnterEvent *)
{
    if (isEnabled())
        Q_EMIT hovered(true);
}

void ToggleSwitch::leaveEvent(QEvent *)
{
    if (isEnabled())
        Q_EMIT hovered(false);
}

} // namespace trainyard
