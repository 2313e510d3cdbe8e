// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/parts/text_line.h"

#include "views/theme/theme.h"

#include <QEvent>
#include <QPainter>

#include <algorithm>
#include <utility>

namespace trainyard {

QColor inkColor(Ink ink)
{
    switch (ink) {
    case Ink::Text:
        return theme().text;
    case Ink::Muted:
        return theme().textMuted;
    case Ink::Faint:
        return theme().textFaint;
    case Ink::Good:
        return theme().good;
    case Ink::Bad:
        return theme().bad;
    case Ink::Warning:
        return theme().warning;
    case Ink::Accent:
        return theme().accent;
    }
    return theme().text;
}

namespace {

QRect within(const QFontMetrics &metrics, const QString &text, int width, int wrap)
{
    return metrics.boundingRect(QRect(0, 0, width, 10000), wrap, text);
}

/// Between words, or within them where one is longer than a line.
int wrapping(const QFontMetrics &metrics, const QString &text, int width)
{
    return within(metrics, text, width, Qt::TextWordWrap).width() > width ? Qt::TextWrapAnywhere : Qt::TextWordWrap;
}

} // namespace

TextLine::TextLine(const QString &text, Ink ink, QWidget *parent)
    : QWidget(parent)
    , m_text(text)
    , m_ink(ink)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setAccessibleName(text);
}

void TextLine::setText(const QString &text)
{
    if (text == m_text)
        return;
    m_text = text;
    m_heights.fill({});
    setAccessibleName(text);
    updateGeometry();
    update();
}

void TextLine::setShortText(const QString &text)
{
    if (std::exchange(m_short, text) != text)
        update();
}

void TextLine::setLead(int characters)
{
    if (std::exchange(m_lead, characters) == characters)
        return;
    m_heights.fill({});
    updateGeometry();
    update();
}

QString TextLine::shown(int width) const
{
    const QFontMetrics metrics = fontMetrics();
    if (m_width.of(m_text, font()) <= width)
        return m_text;
    if (const qsizetype lead = std::min<qsizetype>(m_lead, m_text.size()); m_wrapped && lead > 0)
        return m_text.first(lead).trimmed() + u'\n' + m_text.sliced(lead).trimmed();
    if (m_wrapped)
        return m_text;
    const QString &text = m_short.isEmpty() ? m_text : m_short;
    const QString rest = text.sliced(std::min<qsizetype>(m_lead, text.size()));
    const int room = width - metrics.horizontalAdvance(rest);
    if (m_lead > 0 && room >= metrics.horizontalAdvance(QStringLiteral("m…")))
        return metrics.elidedText(text.first(m_lead), Qt::ElideRight, room) + rest;
    return metrics.elidedText(text, Qt::ElideRight, width);
}

void TextLine::setInk(Ink ink)
{
    if (std::exchange(m_ink, ink) != ink)
        update();
}

void TextLine::setAlignment(Qt::Alignment alignment)
{
    m_alignment = alignment;
    update();
}

void TextLine::setWrapped(bool wrapped)
{
    m_wrapped = wrapped;
    QSizePolicy policy(QSizePolicy::Preferred, wrapped ? QSizePolicy::Minimum : QSizePolicy::Fixed);
    policy.setHeightForWidth(wrapped);
    setSizePolicy(policy);
    updateGeometry();
}

void TextLine::setDimmed(bool dimmed)
{
    if (std::exchange(m_dimmed, dimmed) != dimmed)
        update();
}

QSize TextLine::sizeHint() const
{
    return { m_width.of(m_text, font()) + 1, fontMetrics().height() };
}

QSize TextLine::minimumSizeHint() const
{
    return { fontMetrics().averageCharWidth() * 3, fontMetrics().height() };
}

int TextLine::heightForWidth(int width) const
{
    const auto known = std::ranges::find(m_heights, width, &std::pair<int, int>::first);
    if (known != m_heights.end() && known->second > 0)
        return known->second;
    const QString text = shown(width);
    const int height = within(fontMetrics(), text, width, wrapping(fontMetrics(), text, width)).height();
    m_heights[m_nextHeight++ % m_heights.size()] = { width, height };
    return height;
}

void TextLine::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setPen(isEnabled() ? inkColor(m_ink) : theme().textFaint);
    if (m_dimmed)
        painter.setOpacity(kDimmedOpacity);
    const QString text = shown(width());
    painter.drawText(rect(), int(m_alignment) | (m_wrapped ? wrapping(fontMetrics(), text, width()) : 0), text);
}

void TextLine::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) {
        m_heights.fill({});
        updateGeometry();
    }
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::EnabledChange)
        update();
    QWidget::changeEvent(event);
}

TextLine *wrappedLine(Ink ink, QWidget *parent)
{
    auto *line = new TextLine({}, ink, parent);
    line->setWrapped(true);
    return line;
}

void dimLines(const QWidget &panel, bool isDimmed)
{
    for (TextLine *line : panel.findChildren<TextLine *>())
        line->setDimmed(isDimmed);
}

} // namespace trainyard
