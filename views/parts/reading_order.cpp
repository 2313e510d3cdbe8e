// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/parts/reading_order.h"

#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QLayout>
#include <QScrollArea>
#include <QSplitter>

#include <vector>

namespace trainyard {

namespace {

void collect(QWidget *widget, std::vector<QWidget *> &found);

void collect(QLayout *layout, std::vector<QWidget *> &found)
{
    for (int i = 0; layout && i < layout->count(); ++i) {
        QLayoutItem *item = layout->itemAt(i);
        if (item->widget())
            collect(item->widget(), found);
        else
            collect(item->layout(), found);
    }
}

void collect(QWidget *widget, std::vector<QWidget *> &found)
{
    if (widget->focusPolicy() & Qt::TabFocus)
        found.push_back(widget);
    if (qobject_cast<QAbstractItemView *>(widget) || qobject_cast<QAbstractSpinBox *>(widget)
        || qobject_cast<QComboBox *>(widget))
        return; // what is inside is theirs
    if (const auto *area = qobject_cast<QScrollArea *>(widget); area && area->widget())
        collect(area->widget(), found);
    else if (const auto *parts = qobject_cast<QSplitter *>(widget))
        for (int i = 0; i < parts->count(); ++i)
            collect(parts->widget(i), found);
    else
        collect(widget->layout(), found);
}

} // namespace

void tabInReadingOrder(QWidget &page)
{
    std::vector<QWidget *> order;
    collect(page.layout(), order);
    for (std::size_t i = 1; i < order.size(); ++i)
        QWidget::setTabOrder(order[i - 1], order[i]);
}

} // namespace trainyard
