// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/parts/page_head.h"

#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

namespace trainyard {

QHBoxLayout *pageHead(QPushButton *back, TextLine *title, TextLine *about, std::initializer_list<QWidget *> buttons)
{
    back->setToolTip(QObject::tr("Esc"));
    back->setProperty("isFlat", true);
    title->setFont(uiFont(3, QFont::DemiBold));
    about->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    auto *row = new QHBoxLayout;
    row->setSpacing(Theme::kGap);
    row->addWidget(back);
    row->addWidget(title);
    row->addWidget(about, 1);
    for (QWidget *button : buttons)
        row->addWidget(button);
    return row;
}

void dressPictureButton(QToolButton *button)
{
    button->setText(QObject::tr("Picture"));
    button->setToolTip(QObject::tr("Copy or save what the page shows."));
    button->setPopupMode(QToolButton::InstantPopup);
    button->setToolButtonStyle(Qt::ToolButtonTextOnly);
}

QVBoxLayout *pageColumn(QWidget *page, QHBoxLayout *head)
{
    auto *column = new QVBoxLayout(page);
    column->setContentsMargins(Theme::kGap, 0, Theme::kGap, Theme::kGap);
    column->setSpacing(Theme::kGap);
    column->addLayout(head);
    return column;
}

QSplitter *splitter(Qt::Orientation orientation, const QString &name, QWidget *parent)
{
    auto *made = new QSplitter(orientation, parent);
    made->setHandleWidth(Theme::kGap);
    made->setChildrenCollapsible(false);
    made->setAccessibleName(name);
    return made;
}

} // namespace trainyard
