// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/number_card.h"

#include "views/parts/panel_parts.h"
#include "views/parts/plain_texts.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QFocusEvent>
#include <QPainter>
#include <QToolTip>

namespace trainyard {

namespace {

const QString kDash = QStringLiteral("—");
constexpr int kCardSide = 11;

} // namespace

NumberCard::NumberCard(const QString &name, const QString &shortName, const QString &definition, QWidget *parent)
    : QAbstractButton(parent)
    , m_name(name)
    , m_shortName(shortName)
    , m_definition(definition)
    , m_value(kDash)
{
    setFont(uiFont(-1));
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    connect(this, &QAbstractButton::clicked, this, &NumberCard::copy);
    describe();
}

void NumberCard::setNumber(const QString &value, Ink ink, const QString &detail)
{
    const QString shown = value.isEmpty() ? kDash : value;
    const Ink used = value.isEmpty() ? Ink::Faint : ink;
    if (shown == m_value && used == m_ink && detail == m_detail)
        return;
    m_value = shown;
    m_ink = used;
    m_detail = detail;
    describe();
    update();
}

void NumberCard::setDifference(const QString &text, Ink ink, const QString &against, bool isNamed)
{
    if (text == m_difference && ink == m_differenceInk && against == m_against && isNamed == m_isNamed)
        return;
    m_difference = text;
    m_against = against;
    m_isNamed = isNamed;
    m_differenceInk = ink;
    describe();
    update();
}

QString NumberCard::againstText() const
{
    return m_isNamed && !m_difference.isEmpty() ? tr("vs %1").arg(m_against) : QString();
}

void NumberCard::setStale(bool stale)
{
    if (std::exchange(m_stale, stale) != stale)
        update();
}

void NumberCard::focusInEvent(QFocusEvent *event)
{
    m_showsFocus = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason
        || event->reason() == Qt::ShortcutFocusReason;
    QAbstractButton::focusInEvent(event);
}

QSize NumberCard::sizeHint() const
{
    return { 150, fontMetrics().height() + QFontMetrics(uiFont(3, QFont::DemiBold)).height() + 2 * 8 + 4 };
}

QSize NumberCard::minimumSizeHint() const
{
    return { 96, sizeHint().height() };
}

void NumberCard::copy()
{
    QApplication::clipboard()->setText(m_value);
    QToolTip::showText(mapToGlobal(QPoint(kCardSide, height())), tr("Copied %1").arg(m_value), this, {}, 1200);
}

void NumberCard::describe()
{
    QString tip = QStringLiteral("<b>%1</b><br>%2").arg(m_name.toHtmlEscaped(), m_definition.toHtmlEscaped());
    if (!m_detail.isEmpty())
        tip += QStringLiteral("<br><br>%1").arg(m_detail.toHtmlEscaped());
    if (!m_difference.isEmpty())
        tip += QStringLiteral("<br><br>%1").arg(tr("%1 against %2.").arg(m_difference, m_against).toHtmlEscaped());
    setRichTip(*this, tip);
    setAccessibleName(m_difference.isEmpty()
            ? tr("%1: %2").arg(m_name, m_value)
            : tr("%1: %2, %3 against %4").arg(m_name, m_value, m_difference, m_against));
    setAccessibleDescription(m_definition);
}

void NumberCard::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const QColor border = hasFocus() && m_showsFocus ? theme().accent
        : underMouse()                               ? theme().textFaint
                                                     : theme().border;
    paintCard(painter, rect(), theme().panel, border);

    const QRect inner = rect().adjusted(kCardSide, 7, -kCardSide, -8);
    const QFontMetrics small(font());
    const int difference = m_widths.difference.of(m_difference, font());
    QFont valueFont = uiFont(3, QFont::DemiBold);
    for (int offset = 3; offset > -1 && m_widths.value.of(m_value, valueFont) > inner.width(); --offset)
        valueFont = uiFont(offset - 1, QFont::DemiBold);
    const int baseline = inner.bottom() - QFontMetrics(valueFont).descent() + 1;

    painter.setFont(font());
    painter.setPen(theme().textMuted);
    const int nameWidth = inner.width() - (m_difference.isEmpty() ? 0 : difference + Theme::kGap);
    painter.drawText(inner.left(), inner.top() + small.ascent(),
        m_widths.name.of(m_name, font()) <= nameWidth ? m_name
                                                      : m_widths.shortName.elided(m_shortName, font(), nameWidth));

    if (m_stale)
        painter.setOpacity(kStaleOpacity);
    painter.setPen(inkColor(m_differenceInk));
    painter.drawText(inner.right() + 1 - difference, inner.top() + small.ascent(), m_difference);
    painter.setFont(valueFont);
    painter.setPen(inkColor(m_ink));
    painter.drawText(inner.left(), baseline, m_widths.value.elided(m_value, valueFont, inner.width()));
    const QString text = againstText();
    const int against = m_widths.against.of(text, font());
    if (text.isEmpty() || against > inner.width() - m_widths.value.of(m_value, valueFont) - Theme::kGap)
        return;
    painter.setFont(font());
    painter.setPen(theme().textFaint);
    painter.drawText(inner.right() + 1 - against, baseline, text);
}

} // namespace trainyard
