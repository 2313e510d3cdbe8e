// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/start/new_plan_layout.h"

#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QCoreApplication>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kMostWidth = 1040, kEdge = 24, kFieldWidth = 340, kNumberWidth = 190;

QString tr(const char *text)
{
    return QCoreApplication::translate("NewPlanSheet", text);
}

/// A column of at most kMostWidth in the middle of what there is.
QVBoxLayout *column(QWidget *parent, int top, int bottom)
{
    auto *row = new QHBoxLayout(parent);
    row->setContentsMargins(kEdge, top, kEdge, bottom);
    auto *inside = new QWidget(parent);
    inside->setMaximumWidth(kMostWidth);
    row->addStretch(0);
    row->addWidget(inside, 1);
    row->addStretch(0);
    auto *layout = new QVBoxLayout(inside);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Theme::kGap);
    return layout;
}

TextLine *muted(const QString &text, QWidget *parent)
{
    auto *line = new TextLine(text, Ink::Muted, parent);
    line->setFont(uiFont(-1));
    line->setWrapped(true);
    return line;
}

void layOutWorkload(QVBoxLayout &body, const SheetParts &parts, QWidget *parent)
{
    body.addWidget(new SectionTitle(tr("What is trained"), {}, parent));
    auto *model = new QHBoxLayout;
    model->setSpacing(Theme::kGap);
    model->addWidget(parts.model, 1);
    model->addWidget(parts.config);
    auto *form = new QFormLayout;
    form->setHorizontalSpacing(Theme::kPad);
    form->setVerticalSpacing(6);
    form->setFieldGrowthPolicy(QFormLayout::FieldsStayAtSizeHint);
    parts.model->setMinimumWidth(kFieldWidth);
    parts.sequence->setFixedWidth(kNumberWidth);
    parts.batch->setFixedWidth(kNumberWidth);
    form->addRow(tr("Model"), model);
    form->addRow(tr("Sequence length"), parts.sequence);
    form->addRow(tr("Global batch"), parts.batch);
    body.addLayout(form);
}

} // namespace

void layOutSheet(QWidget &sheet, const SheetParts &parts)
{
    auto *whole = new QVBoxLayout(&sheet);
    whole->setContentsMargins(Theme::kGap, 0, Theme::kGap, Theme::kGap);
    whole->setSpacing(0);

    auto *content = new QWidget;
    QVBoxLayout *body = column(content, 18, 12);
    auto *title = new TextLine(tr("New plan"), Ink::Text, content);
    title->setFont(uiFont(5, QFont::DemiBold));
    body->addWidget(title);
    body->addWidget(muted(tr("Say where the GPUs are and what they train. Everything can be changed later; links and "
                             "degrees of parallelism come by themselves."),
        content));
    body->addSpacing(6);
    body->addWidget(new SectionTitle(tr("Where"), tr("region · GPU · nodes × GPUs per node"), content));
    parts.sites->setSpacing(6);
    body->addLayout(parts.sites);
    body->addWidget(parts.addSite, 0, Qt::AlignLeft);

    auto *links = new QVBoxLayout(parts.linkSection);
    links->setContentsMargins(0, 6, 0, 0);
    links->setSpacing(6);
    links->addWidget(new SectionTitle(tr("Links"), tr("round trip · bandwidth per direction"), parts.linkSection));
    links->addWidget(parts.links);
    links->addWidget(muted(tr("Every pair is linked at first: 100 Gbps in all and 5 Gbps per node pair, unless changed "
                              "here or on the map."),
        parts.linkSection));
    body->addWidget(parts.linkSection);
    body->addSpacing(6);
    layOutWorkload(*body, parts, content);
    body->addStretch(1);

    auto *area = new QScrollArea(&sheet);
    area->setWidget(content);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    whole->addWidget(area, 1);

    auto *foot = new QWidget(&sheet);
    QVBoxLayout *footColumn = column(foot, 10, 12);
    auto *line = new QHBoxLayout;
    line->setSpacing(Theme::kGap);
    auto *words = new QVBoxLayout;
    words->setSpacing(2);
    parts.preview->setFont(uiFont(0, QFont::DemiBold));
    parts.preview->setWrapped(true);
    parts.details->setFont(uiFont(-1));
    parts.details->setWrapped(true);
    words->addWidget(parts.preview);
    words->addWidget(parts.details);
    line->addLayout(words, 1);
    line->addWidget(parts.cancel, 0, Qt::AlignBottom);
    line->addWidget(parts.create, 0, Qt::AlignBottom);
    footColumn->addWidget(new SectionTitle(tr("What comes of it"), {}, foot));
    footColumn->addLayout(line);
    whole->addWidget(foot);
}

void paintSheet(QPainter &painter, const QRect &rect)
{
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme().border);
    painter.setBrush(theme().panel);
    painter.drawRoundedRect(QRectF(rect).adjusted(Theme::kGap + 0.5, 0.5, -Theme::kGap - 0.5, -Theme::kGap - 0.5),
        Theme::kRadius, Theme::kRadius);
}

} // namespace trainyard
