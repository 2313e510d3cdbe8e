// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/card.h"

#include "views/export/panel_menu.h"
#include "views/theme/theme.h"

#include <QContextMenuEvent>
#include <QPainter>
#include <QScrollArea>
#include <QStackedLayout>
#include <QTabBar>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kInside = 3; // keeps what fills its rectangle off the rounded corners

void paintSurface(QWidget &widget)
{
    QPainter painter(&widget);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme().border);
    painter.setBrush(theme().panel);
    painter.drawRoundedRect(QRectF(widget.rect()).adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius, Theme::kRadius);
}

/// Of what scrolls the whole, not the part in sight.
QWidget *panelIn(QWidget *content)
{
    const auto *area = qobject_cast<QScrollArea *>(content);
    return area && area->widget() ? area->widget() : content;
}

} // namespace

Card::Card(QWidget *content, QWidget *parent)
    : QWidget(parent)
    , m_content(content)
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(kInside, kInside, kInside, kInside);
    layout->addWidget(content);
}

void Card::contextMenuEvent(QContextMenuEvent *event)
{
    showPanelMenu(panelIn(m_content), event->globalPos());
}

void Card::paintEvent(QPaintEvent *)
{
    paintSurface(*this);
}

TabbedCard::TabbedCard(const QString &name, QWidget *parent)
    : QWidget(parent)
    , m_tabs(new QTabBar(this))
    , m_stack(new QStackedLayout)
{
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setAccessibleName(name);
    auto *row = new QHBoxLayout;
    row->setContentsMargins(Theme::kPad, 5, Theme::kPad, 0);
    row->addWidget(m_tabs);
    row->addStretch();
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(kInside, kInside, kInside, kInside);
    layout->setSpacing(0);
    layout->addLayout(row);
    layout->addLayout(m_stack, 1);
    connect(m_tabs, &QTabBar::currentChanged, m_stack, &QStackedLayout::setCurrentIndex);
}

void TabbedCard::addTab(QWidget *content, const QString &title)
{
    m_stack->addWidget(content);
    m_tabs->addTab(title);
}

void TabbedCard::setTitle(QWidget *content, const QString &title)
{
    if (const int index = m_stack->indexOf(content); index >= 0)
        m_tabs->setTabText(index, title);
}

void TabbedCard::setCurrent(QWidget *content)
{
    if (const int index = m_stack->indexOf(content); index >= 0)
        m_tabs->setCurrentIndex(index);
}

QWidget *TabbedCard::current() const
{
    return m_stack->currentWidget();
}

void TabbedCard::contextMenuEvent(QContextMenuEvent *event)
{
    showPanelMenu(panelIn(current()), event->globalPos());
}

void TabbedCard::paintEvent(QPaintEvent *)
{
    paintSurface(*this);
}

} // namespace trainyard
