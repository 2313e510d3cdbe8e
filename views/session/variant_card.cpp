// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/variant_card.h"

#include "models/session/variant_words.h"
#include "models/text/foreign_text.h"
#include "views/parts/panel_parts.h"
#include "views/parts/text_line.h"
#include "views/session/variant_color.h"
#include "views/theme/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTextDocument>
#include <QToolButton>
#include <QVBoxLayout>

#include <utility>

namespace trainyard {

namespace {

constexpr int kWidth = 288, kMapHeight = 132, kNoteHeight = 46, kBar = 4;

Ink inkOf(Tone tone)
{
    return tone == Tone::Good ? Ink::Good : tone == Tone::Bad ? Ink::Bad : Ink::Muted;
}

} // namespace

VariantCard::VariantCard(QWidget *parent)
    : QFrame(parent)
    , color(new QToolButton(this))
    , more(new QToolButton(this))
    , name(new QLineEdit(this))
    , show(new QPushButton(tr("Show"), this))
    , compare(new QPushButton(tr("Compare"), this))
    , note(new QPlainTextEdit(this))
    , m_map(new QLabel(this))
    , m_badge(new TextLine({}, Ink::Muted, this))
    , m_time(new TextLine({}, Ink::Text, this))
    , m_change(new TextLine({}, Ink::Muted, this))
    , m_price(new TextLine({}, Ink::Muted, this))
    , m_memory(new TextLine({}, Ink::Muted, this))
    , m_words(wrappedLine(Ink::Muted, this))
{
    setFixedWidth(kWidth);
    name->setFrame(false);
    name->setFont(uiFont(1, QFont::DemiBold));
    name->setToolTip(tr("Its name: a click edits it."));
    color->setToolTip(tr("The next colour"));
    color->setAutoRaise(true);
    more->setText(QStringLiteral("⋯"));
    more->setToolTip(tr("Baseline, order, export, remove"));
    more->setAccessibleName(tr("More of this variant"));
    more->setPopupMode(QToolButton::InstantPopup);
    m_map->setFixedHeight(kMapHeight);
    m_map->setAlignment(Qt::AlignCenter);
    m_time->setFont(uiFont(4, QFont::DemiBold));
    m_change->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    note->setPlaceholderText(tr("A note: why it is here, what speaks for it"));
    note->setAccessibleName(tr("Note"));
    note->setFixedHeight(kNoteHeight);
    note->setTabChangesFocus(true);
    note->installEventFilter(this);
    auto *head = new QHBoxLayout;
    head->setSpacing(4);
    head->addWidget(color);
    head->addWidget(name, 1);
    head->addWidget(more);
    auto *figures = new QHBoxLayout;
    figures->addWidget(m_time, 1);
    figures->addWidget(m_change);
    auto *buttons = new QHBoxLayout;
    buttons->addWidget(m_badge, 1);
    buttons->addWidget(compare);
    buttons->addWidget(show);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(Theme::kPad, Theme::kPad + kBar, Theme::kPad, Theme::kPad);
    column->setSpacing(6);
    column->addLayout(head);
    column->addWidget(m_map);
    column->addLayout(figures);
    column->addWidget(m_price);
    column->addWidget(m_memory);
    column->addWidget(m_words);
    column->addStretch(1);
    column->addWidget(note);
    column->addLayout(buttons);
    connect(name, &QLineEdit::editingFinished, this, [this] { emit renamed(name->text()); });
    connect(show, &QPushButton::clicked, this, &VariantCard::chosen);
}

void VariantCard::setFace(const Face &face)
{
    const Variant &variant = *face.variant;
    m_color = variantColor(variant, face.place);
    m_isCurrent = face.isCurrent;
    const QString title = QString::fromStdString(variant.name);
    if (!name->hasFocus() || !name->isModified())
        name->setText(title);
    setAccessibleName(tr("Variant %1").arg(title));
    name->setAccessibleName(tr("Name of variant %1").arg(title));
    color->setIcon(variantDot(m_color, devicePixelRatioF()));
    m_badge->setText(face.isCurrent && face.isBaseline ? tr("shown · baseline")
            : face.isCurrent                           ? tr("shown")
            : face.isBaseline                          ? tr("baseline")
                                                       : QString());
    show->setEnabled(!face.isCurrent);
    m_time->setText(iterationOf(face.figures));
    m_change->setText(changeAgainst(face.base, face.figures));
    m_change->setInk(inkOf(toneAgainst(face.base, face.figures)));
    m_price->setText(priceOf(face.figures));
    m_memory->setText(memoryOf(face.figures));
    m_memory->setInk(face.figures && !face.figures->fits ? Ink::Bad : Ink::Muted);
    m_words->setText(face.differences.isEmpty() ? (face.isBaseline || !face.base ? QString() : tr("As the baseline."))
                                                : face.differences.join(u'\n'));
    m_note = QString::fromStdString(variant.note);
    if (!note->hasFocus() && note->toPlainText() != m_note)
        note->setPlainText(m_note);
    update();
}

void VariantCard::setMap(const QPixmap &map)
{
    m_map->setPixmap(map);
}

QStringList VariantCard::lines() const
{
    QStringList all { name->text() };
    for (const TextLine *line : { m_badge, m_time, m_change, m_price, m_memory, m_words })
        if (!line->text().isEmpty())
            all << line->text();
    return all;
}

void VariantCard::commitNote()
{
    if (note->document()->isModified() && note->toPlainText() != m_note)
        emit noted(note->toPlainText());
}

bool VariantCard::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == note && event->type() == QEvent::FocusOut)
        commitNote();
    return QFrame::eventFilter(watched, event);
}

void VariantCard::mouseDoubleClickEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton && show->isEnabled())
        emit chosen();
}

void VariantCard::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    paintCard(painter, rect(), theme().panel, m_isCurrent ? theme().accent : theme().border);
    painter.fillRect(QRect(Theme::kPad, Theme::kRadius, width() - 2 * Theme::kPad, kBar), m_color);
}

} // namespace trainyard
