// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/live/live_invitation.h"

#include "views/live/connect_kinds.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QGridLayout>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kColumnWidth = 760, kNameWidth = 170, kFrameEdge = 24;

} // namespace

LiveInvitation::LiveInvitation(QWidget *parent)
    : QWidget(parent)
    , connectButton(new QPushButton(tr("Connect to a run…"), this))
    , replay(new QPushButton(tr("Replay a recording…"), this))
{
    setAccessibleName(tr("Nothing is connected"));
    auto *content = new QWidget(this);
    content->setFixedWidth(kColumnWidth);
    auto *column = new QVBoxLayout(content);
    column->setSpacing(Theme::kGap);
    auto *title = new TextLine(tr("Watch a run against this plan"), Ink::Text, content);
    title->setFont(uiFont(4, QFont::DemiBold));
    title->setAlignment(Qt::AlignCenter);
    auto *what = new TextLine(tr("Connect to a training run while it goes on. Its steps are laid under the plan as "
                                 "they come, and what somebody should know is said in words."),
        Ink::Muted, content);
    what->setWrapped(true);
    what->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
    column->addWidget(title);
    column->addWidget(what);
    column->addSpacing(Theme::kPad);
    auto *grid = new QGridLayout;
    grid->setHorizontalSpacing(Theme::kPad);
    grid->setVerticalSpacing(6);
    grid->setColumnMinimumWidth(0, kNameWidth);
    grid->setColumnStretch(1, 1);
    int row = 0;
    for (const ConnectKind &kind : connectKinds()) {
        auto *name = new TextLine(kind.title, Ink::Text, content);
        name->setFont(uiFont(-1, QFont::DemiBold));
        auto *line = new TextLine(kind.line + QStringLiteral("  ·  ") + kind.examples.front(), Ink::Muted, content);
        line->setFont(uiFont(-1));
        grid->addWidget(name, row, 0, Qt::AlignTop);
        grid->addWidget(line, row++, 1);
    }
    column->addLayout(grid);
    column->addSpacing(Theme::kPad);
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(Theme::kGap);
    buttons->addStretch(1);
    buttons->addWidget(connectButton);
    buttons->addWidget(replay);
    buttons->addStretch(1);
    column->addLayout(buttons);
    connectButton->setProperty("isPrimary", true);
    auto *outer = new QVBoxLayout(this);
    outer->addStretch(1);
    outer->addWidget(content, 0, Qt::AlignHCenter);
    outer->addStretch(1);
}

void LiveInvitation::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QPen pen(theme().border, 2, Qt::CustomDashLine);
    pen.setDashPattern({ 4, 4 });
    painter.setPen(pen);
    painter.drawRoundedRect(QRectF(rect()).adjusted(kFrameEdge, kFrameEdge, -kFrameEdge, -kFrameEdge), 10, 10);
}

} // namespace trainyard
