// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/parts/invitation.h"

#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QGridLayout>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kInvitationWidth = 760, kFrameEdge = 24;

TextLine *lineOf(const QString &text, Ink ink, int size, QWidget *parent, QFont::Weight weight = QFont::Normal)
{
    auto *made = new TextLine(text, ink, parent);
    made->setFont(uiFont(size, weight));
    return made;
}

} // namespace

Invitation::Invitation(const Words &words, QWidget *parent)
    : QWidget(parent)
    , begin(new QPushButton(words.begin, this))
    , other(new QPushButton(words.other, this))
{
    setAccessibleName(words.accessibleName);
    auto *content = new QWidget(this);
    content->setFixedWidth(kInvitationWidth);
    auto *column = new QVBoxLayout(content);
    column->setSpacing(Theme::kGap);
    auto *title = lineOf(words.title, Ink::Text, 4, content, QFont::DemiBold);
    title->setAlignment(Qt::AlignCenter);
    auto *about = lineOf(words.about, Ink::Muted, 0, content);
    about->setWrapped(true);
    about->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
    column->addWidget(title);
    column->addWidget(about);
    column->addSpacing(Theme::kPad);
    auto *grid = new QGridLayout;
    grid->setHorizontalSpacing(Theme::kPad);
    grid->setVerticalSpacing(6);
    grid->setColumnMinimumWidth(0, words.nameWidth);
    grid->setColumnStretch(1, 1);
    int row = 0;
    for (const Kind &kind : words.kinds) {
        grid->addWidget(lineOf(kind.name, Ink::Text, -1, content, QFont::DemiBold), row, 0, Qt::AlignTop);
        auto *text = lineOf(kind.text, Ink::Muted, -1, content);
        if (words.wrapsKinds)
            text->setWrapped(true);
        grid->addWidget(text, row++, 1);
    }
    column->addLayout(grid);
    column->addSpacing(Theme::kPad);
    auto *line = new QHBoxLayout;
    line->setSpacing(Theme::kGap);
    line->addStretch(1);
    line->addWidget(begin);
    line->addWidget(other);
    line->addStretch(1);
    begin->setProperty("isPrimary", true);
    column->addLayout(line);
    if (!words.below.isEmpty()) {
        auto *below = lineOf(words.below, Ink::Faint, -1, content);
        below->setAlignment(Qt::AlignCenter);
        column->addWidget(below);
    }
    auto *outer = new QVBoxLayout(this);
    outer->addStretch(1);
    outer->addWidget(content, 0, Qt::AlignHCenter);
    outer->addStretch(1);
}

void Invitation::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QPen pen(theme().border, 2, Qt::CustomDashLine);
    pen.setDashPattern({ 4, 4 });
    painter.setPen(pen);
    painter.drawRoundedRect(QRectF(rect()).adjusted(kFrameEdge, kFrameEdge, -kFrameEdge, -kFrameEdge), 10, 10);
}

} // namespace trainyard
