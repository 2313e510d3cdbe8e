// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/effect_columns.h"

#include "views/theme/theme.h"

#include <QPainter>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kColumnGap = 6;

/// Time, memory and mark one after the other from the right; the first of them ends where it returns.
template <typename Draw> void eachColumn(const QRect &place, const EffectWidths &widths, const Draw &draw)
{
    int right = place.right() + 1;
    draw(QRect(right - widths.mark, place.top(), widths.mark, place.height()), 2);
    right -= widths.mark + widths.gap;
    draw(QRect(right - widths.memory, place.top(), widths.memory, place.height()), 1);
    right -= widths.memory + widths.gap;
    draw(QRect(right - widths.time, place.top(), widths.time, place.height()), 0);
}

QString fitting(const QString &text, const QString &brief, int room, const QFontMetrics &metrics)
{
    return metrics.horizontalAdvance(text) <= room || brief.isEmpty() ? text : brief;
}

} // namespace

EffectWidths effectWidths(const QFontMetrics &metrics)
{
    return { metrics.horizontalAdvance(QStringLiteral("−88.8 %")),
        metrics.horizontalAdvance(QStringLiteral("−88.8 GB")), metrics.horizontalAdvance(QStringLiteral("≠✕")),
        kColumnGap };
}

int paintEffect(QPainter &painter, const QRect &place, const EffectText &effect)
{
    const QFontMetrics metrics = painter.fontMetrics();
    const EffectWidths widths = effectWidths(metrics);
    const EffectColumns &columns = effect.columns;
    eachColumn(place, widths, [&](const QRect &cell, int column) {
        painter.setPen(inkColor(column == 1 ? columns.memoryInk : column == 0 ? columns.timeInk : Ink::Muted));
        const QString text = column == 0 ? fitting(columns.time, columns.briefTime, cell.width(), metrics)
            : column == 1                ? fitting(columns.memory, columns.briefMemory, cell.width(), metrics)
                                         : columns.mark;
        painter.drawText(cell, Qt::AlignRight | Qt::AlignVCenter | Qt::TextDontClip, text);
    });
    return widths.all();
}

EffectLine::EffectLine(QWidget *parent)
    : TextLine({}, Ink::Muted, parent)
{
    setAlignment(Qt::AlignRight | Qt::AlignVCenter);
}

void EffectLine::setEffect(const QString &value, const EffectText &effect)
{
    if (value == m_value && effect == m_effect)
        return;
    m_value = value;
    m_effect = effect;
    const bool isInWords = effect.isRefusal || (!effect.text.isEmpty() && effect.text.front().isLetter());
    const QString lead = value.isEmpty() ? QString() : value + (isInWords ? QStringLiteral(": ") : QStringLiteral(" "));
    const QString &brief = effect.brief.isEmpty() ? effect.text : effect.brief;
    setLead(int(lead.trimmed().size()));
    setText(lead + (effect.isRefusal ? brief : effect.text));
    setShortText(lead + brief);
    setInk(effect.ink);
    update();
}

/// Columns need their room whatever the shares of a row are, in each row the same.
QSize EffectLine::minimumSizeHint() const
{
    return { effectWidths(fontMetrics()).all(), TextLine::minimumSizeHint().height() };
}

void EffectLine::paintEvent(QPaintEvent *event)
{
    if (!m_effect.hasColumns()) {
        TextLine::paintEvent(event);
        return;
    }
    QPainter painter(this);
    if (isDimmed())
        painter.setOpacity(kDimmedOpacity);
    const int room = width() - paintEffect(painter, rect(), m_effect) - kColumnGap;
    if (room < fontMetrics().horizontalAdvance(QStringLiteral("mm…")))
        return;
    painter.setPen(theme().textMuted);
    painter.drawText(QRect(0, 0, room, height()), Qt::AlignRight | Qt::AlignVCenter,
        fontMetrics().elidedText(m_value, Qt::ElideRight, room));
}

void EffectHeading::paintEvent(QPaintEvent *event)
{
    const QFont font = parentWidget()->font();
    const EffectWidths widths = effectWidths(QFontMetrics(font));
    setReserved(widths.all() + kColumnGap);
    SectionTitle::paintEvent(event);
    QPainter painter(this);
    painter.setFont(font);
    painter.setPen(theme().textFaint);
    eachColumn(titleRect(), widths, [&](const QRect &cell, int column) {
        if (column < 2)
            painter.drawText(
                cell, Qt::AlignRight | Qt::AlignVCenter | Qt::TextDontClip, column == 0 ? tr("time") : tr("memory"));
    });
}

} // namespace trainyard
