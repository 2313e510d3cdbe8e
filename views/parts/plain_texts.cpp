// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/parts/plain_texts.h"

#include "models/text/foreign_text.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QHelpEvent>
#include <QLabel>
#include <QToolTip>

namespace trainyard {

namespace {

constexpr const char *kIsRich = "isRichTip";

/// What Qt would show there by itself: the tip of a cell of a table or list, or of the widget.
QString tipAt(const QWidget &widget, QPoint at)
{
    const auto *view = qobject_cast<const QAbstractItemView *>(widget.parentWidget());
    if (view && view->viewport() == &widget)
        return view->indexAt(at).data(Qt::ToolTipRole).toString();
    return widget.property(kIsRich).toBool() ? QString() : widget.toolTip();
}

} // namespace

void setRichTip(QWidget &widget, const QString &html)
{
    widget.setProperty(kIsRich, true);
    widget.setToolTip(html);
}

PlainTexts::PlainTexts(QObject *parent)
    : QObject(parent)
{
    qApp->installEventFilter(this);
}

bool PlainTexts::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Polish) {
        // Qt's own label of tips is given HTML by those who escape.
        if (auto *label = qobject_cast<QLabel *>(watched);
            label && label->textFormat() == Qt::AutoText && !label->inherits("QTipLabel"))
            label->setTextFormat(Qt::PlainText);
    } else if (event->type() == QEvent::ToolTip && watched->isWidgetType()) {
        auto *widget = static_cast<QWidget *>(watched);
        const auto *help = static_cast<QHelpEvent *>(event);
        if (const QString tip = tipAt(*widget, help->pos()); Qt::mightBeRichText(tip)) {
            QToolTip::showText(help->globalPos(), plainTip(tip), widget);
            return true;
        }
    }
    return QObject::eventFilter(watched, event);
}

} // namespace trainyard
