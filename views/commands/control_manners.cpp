// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/commands/control_manners.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QFocusEvent>
#include <QLineEdit>
#include <QTimer>

namespace trainyard {

namespace {

/// The list that a widget is, or is the field of; null for others.
QComboBox *listOf(const QWidget *widget)
{
    for (int level = 0; widget && level < 2; ++level, widget = widget->parentWidget())
        if (auto *list = qobject_cast<QComboBox *>(const_cast<QWidget *>(widget)))
            return list;
    return nullptr;
}

/// A control whose value the wheel would change.
bool takesWheel(const QObject *object)
{
    return qobject_cast<const QComboBox *>(object) || qobject_cast<const QAbstractSpinBox *>(object);
}

} // namespace

ControlManners::ControlManners(QWidget *window)
    : QObject(window)
    , m_window(window)
{
    qApp->installEventFilter(this);
    connect(qApp, &QApplication::focusChanged, this, &ControlManners::remember);
    for (QComboBox *list : window->findChildren<QComboBox *>())
        teach(list);
}

bool ControlManners::isOurs(const QObject *object) const
{
    const auto *widget = qobject_cast<const QWidget *>(object);
    return widget && widget->window() == m_window;
}

void ControlManners::teach(QComboBox *list)
{
    if (list->property("isTaught").toBool())
        return;
    list->setProperty("isTaught", true);
    // A list that nobody types into takes the focus by Tab alone: a click on it leaves the focus where it is.
    if (!list->isEditable())
        list->setFocusPolicy(Qt::TabFocus);
    // After the program has heard of the choice.
    connect(list, &QComboBox::activated, this, [this] { QTimer::singleShot(0, this, &ControlManners::giveBack); });
}

void ControlManners::remember(const QWidget *before, const QWidget *now)
{
    if (m_isMouse && listOf(now) && isOurs(now) && before && isOurs(before) && listOf(before) != listOf(now))
        m_before = const_cast<QWidget *>(before);
    else if (now && isOurs(now) && !listOf(now))
        m_before = nullptr; // somebody went on
}

void ControlManners::giveBack()
{
    const QWidget *focused = QApplication::focusWidget();
    if (m_before && m_before->isVisible() && m_before->isEnabled() && listOf(focused))
        m_before->setFocus(Qt::OtherFocusReason);
    m_before = nullptr;
}

bool ControlManners::eventFilter(QObject *watched, QEvent *event)
{
    switch (event->type()) {
    case QEvent::Polish:
        if (auto *list = qobject_cast<QComboBox *>(watched); list && isOurs(list))
            teach(list);
        break;
    case QEvent::FocusIn: // comes before the application tells that the focus changed
        m_isMouse = static_cast<QFocusEvent *>(event)->reason() == Qt::MouseFocusReason;
        break;
    case QEvent::MouseButtonDblClick:
        // "100.0 Gbps" is one word to a person: typing after a double-click replaces it whole.
        if (auto *field = qobject_cast<QLineEdit *>(watched);
            field && isOurs(field) && qobject_cast<QAbstractSpinBox *>(field->parentWidget())) {
            field->selectAll();
            return true;
        }
        break;
    case QEvent::Wheel: {
        const auto *control = qobject_cast<const QWidget *>(watched);
        const auto *field = control ? qobject_cast<const QWidget *>(control->parentWidget()) : nullptr;
        const QWidget *asked = takesWheel(control) ? control : takesWheel(field) ? field : nullptr;
        if (asked && isOurs(asked) && !asked->hasFocus() && !asked->isAncestorOf(QApplication::focusWidget())) {
            event->ignore(); // goes on to the panel around it
            return true;
        }
        break;
    }
    default:
        break;
    }
    return QObject::eventFilter(watched, event);
}

} // namespace trainyard
