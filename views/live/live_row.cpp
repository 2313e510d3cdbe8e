// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/live/live_row.h"

#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>

namespace trainyard {

namespace {

constexpr int kMarkRoom = 24, kAir = 6;

} // namespace

LiveRow::LiveRow(QWidget *parent)
    : QWidget(parent)
    , m_words(new TextLine({}, Ink::Text, this))
    , m_note(new TextLine({}, Ink::Muted, this))
    , m_answer(new TextLine({}, Ink::Text, this))
    , m_row(new QHBoxLayout(this))
{
    m_row->setContentsMargins(kMarkRoom, kAir, 4, kAir);
    m_row->setSpacing(Theme::kGap);
    auto *column = new QVBoxLayout;
    column->setSpacing(1);
    for (TextLine *line : { m_words, m_note, m_answer }) {
        line->setWrapped(true);
        column->addWidget(line);
    }
    m_note->setFont(uiFont(-1));
    m_answer->setFont(uiFont(-1));
    m_answer->hide();
    m_row->addLayout(column, 1);
}

void LiveRow::setWords(const QString &words, const QString &note, Mark mark)
{
    m_mark = mark;
    m_words->setText(words);
    m_words->setFont(uiFont(0, mark == Mark::Question ? QFont::DemiBold : QFont::Normal));
    m_words->setInk(mark == Mark::Over ? Ink::Muted : Ink::Text);
    m_note->setText(note);
    m_note->setVisible(!note.isEmpty());
    setAccessibleName(words);
    setAccessibleDescription(note);
    update();
}

void LiveRow::setAnswer(const QString &answer, Ink ink)
{
    m_answer->setText(answer);
    m_answer->setInk(ink);
    m_answer->setVisible(!answer.isEmpty());
    setAccessibleDescription(m_note->text() + u' ' + answer);
}

void LiveRow::setActive(bool isActive)
{
    m_isActive = isActive;
    setFocusPolicy(isActive ? Qt::StrongFocus : Qt::NoFocus);
    setCursor(isActive ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

QPushButton *LiveRow::addButton(const QString &text)
{
    auto *button = new QPushButton(text, this);
    m_row->addWidget(button, 0, Qt::AlignTop);
    return button;
}

void LiveRow::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme().grid);
    painter.setRenderHint(QPainter::Antialiasing);
    if (hasFocus()) {
        painter.setPen(QPen(theme().accent, 1.4));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -2), 4, 4);
    }
    const QPointF c(kMarkRoom / 2.0, kAir + m_words->fontMetrics().height() / 2.0 + 1);
    painter.setPen(Qt::NoPen);
    switch (m_mark) {
    case Mark::None:
    case Mark::Question:
        break;
    case Mark::Alarm: // holds
        painter.setBrush(theme().warning);
        painter.drawPolygon(QPolygonF { c + QPointF(0, -6), c + QPointF(6.5, 5.5), c + QPointF(-6.5, 5.5) });
        painter.setPen(QPen(theme().panel, 1.6, Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(c + QPointF(0, -2), c + QPointF(0, 1.4));
        painter.drawPoint(c + QPointF(0, 3.8));
        break;
    case Mark::Over:
        painter.setPen(QPen(theme().textFaint, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter.drawPolyline(QPolygonF { c + QPointF(-4.5, 0), c + QPointF(-1.5, 3.5), c + QPointF(5, -4) });
        break;
    }
}

void LiveRow::mouseReleaseEvent(QMouseEvent *event)
{
    if (m_isActive && event->button() == Qt::LeftButton && rect().contains(event->position().toPoint()))
        emit chosen();
}

void LiveRow::keyPressEvent(QKeyEvent *event)
{
    const bool isPress =
        event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space;
    if (m_isActive && isPress)
        emit chosen();
    else
        QWidget::keyPressEvent(event);
}

void LiveRow::focusInEvent(QFocusEvent *event)
{
    QWidget::focusInEvent(event);
    update();
}

void LiveRow::focusOutEvent(QFocusEvent *event)
{
    QWidget::focusOutEvent(event);
    update();
}

} // namespace trainyard
