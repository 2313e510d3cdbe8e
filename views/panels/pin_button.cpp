// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/pin_button.h"

#include "views/theme/icons.h"
#include "views/theme/theme.h"

#include <QEvent>
#include <QLayout>
#include <QPainter>
#include <QWidget>

namespace trainyard {

namespace {

constexpr int kPinButtonWidth = 16, kIcon = 12;

} // namespace

PinButton::PinButton(const QString &name, QWidget *row)
    : QAbstractButton(row)
    , m_name(name.trimmed())
{
    setCheckable(true);
    setFocusPolicy(Qt::NoFocus); // a stop beside each control would be twice as many; there is a command for it
    setCursor(Qt::PointingHandCursor);
    row->installEventFilter(this);
    const auto say = [this] {
        setToolTip(isChecked() ? tr("Fixed: the planner keeps it. A click releases it.")
                               : tr("Fix it: the planner keeps its value."));
        setAccessibleName(tr("Fix %1 for the planner").arg(m_name));
        update();
    };
    connect(this, &QAbstractButton::toggled, this, say);
    say();
    place();
}

QSize PinButton::sizeHint() const
{
    return { kPinButtonWidth, 18 };
}

/// Over the gap before the control.
void PinButton::place()
{
    const QWidget *row = parentWidget();
    const QLayout *layout = row->layout();
    if (!layout || layout->count() < 2)
        return;
    const int control = layout->itemAt(1)->geometry().left();
    setGeometry(control - kPinButtonWidth - 1, 0, kPinButtonWidth, row->height());
    raise();
}

bool PinButton::eventFilter(QObject *watched, QEvent *event)
{
    switch (event->type()) {
    case QEvent::Resize:
    case QEvent::LayoutRequest:
    case QEvent::Show:
        QMetaObject::invokeMethod(this, &PinButton::place, Qt::QueuedConnection); // when the layout has done its part
        break;
    case QEvent::Enter:
    case QEvent::Leave:
        update();
        break;
    default:
        break;
    }
    return QAbstractButton::eventFilter(watched, event);
}

void PinButton::paintEvent(QPaintEvent *)
{
    const bool isNear = parentWidget()->underMouse();
    if (!isChecked() && !isNear)
        return;
    QPainter painter(this);
    painter.fillRect(rect(), theme().panel); // over the end of a long name
    const QColor ink = isChecked() ? theme().accent : underMouse() ? theme().text : theme().textFaint;
    const QPixmap icon = themedPixmap(QStringLiteral("pin"), kIcon, ink, devicePixelRatioF());
    painter.drawPixmap(QPointF((width() - kIcon) / 2.0, (height() - kIcon) / 2.0), icon);
}

} // namespace trainyard
