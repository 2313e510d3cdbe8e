// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/hover_button.h"

namespace trainyard {

HoverButton::HoverButton(const QString &text, QWidget *parent)
    : QPushButton(text, parent)
{
    setAutoDefault(false);
    setFocusPolicy(Qt::StrongFocus);
}

void HoverButton::enterEvent(QEnterEvent *event)
{
    QPushButton::enterEvent(event);
    Q_EMIT entered();
}

void HoverButton::leaveEvent(QEvent *event)
{
    QPushButton::leaveEvent(event);
    Q_EMIT left();
}

} // namespace trainyard
