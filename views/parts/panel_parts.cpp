// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/parts/panel_parts.h"

#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QLayoutItem>
#include <QPainter>
#include <QVBoxLayout>

#include <memory>

namespace trainyard {

PanelHeading::PanelHeading(const QString &titleText, const QString &noteText, QWidget *parent)
    : QWidget(parent)
    , title(new TextLine(titleText, Ink::Text, this))
    , note(new TextLine(noteText, Ink::Faint, this))
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Theme::kGap);
    title->setFont(uiFont(0, QFont::DemiBold));
    note->setFont(uiFont(-1));
    note->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    layout->addWidget(title);
    layout->addWidget(note, 1);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

SectionTitle::SectionTitle(const QString &title, const QString &note, QWidget *parent)
    : QWidget(parent)
    , m_title(title.toUpper())
    , m_note(note)
{
    QFont font = uiFont(-2, QFont::DemiBold);
    font.setLetterSpacing(QFont::AbsoluteSpacing, 0.6);
    setFont(font);
    setAccessibleName(title);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

QSize SectionTitle::sizeHint() const
{
    return { fontMetrics().horizontalAdvance(m_title) + 4 * Theme::kGap, fontMetrics().height() + Theme::kGap };
}

QRect SectionTitle::titleRect() const
{
    return rect().adjusted(0, Theme::kGap, 0, 0);
}

void SectionTitle::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setPen(theme().textFaint);
    const QRect line = titleRect();
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, m_title);
    int to = width() - m_reserved;
    const int from = fontMetrics().horizontalAdvance(m_title) + Theme::kGap;
    if (!m_note.isEmpty()) {
        painter.setFont(uiFont(-1));
        painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, m_note);
        to -= QFontMetrics(painter.font()).horizontalAdvance(m_note) + Theme::kGap;
    }
    painter.fillRect(QRect(from, line.center().y(), to - from, 1), theme().border);
}

QVBoxLayout *panelLayout(QWidget *panel)
{
    auto *layout = new QVBoxLayout(panel);
    layout->setContentsMargins(Theme::kPad, Theme::kPad, Theme::kPad, Theme::kPad);
    layout->setSpacing(Theme::kGap);
    return layout;
}

void paintCard(QPainter &painter, const QRect &rect, const QColor &fill, const QColor &border)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(border, 1));
    painter.setBrush(fill);
    painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius, Theme::kRadius);
    painter.restore();
}

void clearLayout(QVBoxLayout *layout)
{
    while (layout->count() > 0) {
        const std::unique_ptr<QLayoutItem> item(layout->takeAt(0));
        if (QWidget *widget = item->widget()) {
            widget->hide();
            widget->deleteLater();
        }
    }
}

} // namespace trainyard
