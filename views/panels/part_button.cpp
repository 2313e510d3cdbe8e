// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/part_button.h"

#include "views/theme/part_colors.h"
#include "views/theme/theme.h"

#include <QFocusEvent>
#include <QKeyEvent>
#include <QPainter>

#include <utility>

namespace trainyard {

namespace {
constexpr int kSwatch = 8, kBeside = 5, kPad = 4;
}

PartButton::PartButton(QWidget *parent)
    : QAbstractButton(parent)
{
    setCheckable(true);
    setFocusPolicy(Qt::TabFocus); // the mouse leaves the keys with the timeline
    setCursor(Qt::PointingHandCursor);
}

void PartButton::setParts(std::vector<BreakdownPart> parts)
{
    m_parts = std::move(parts);
    update();
}

void PartButton::setDimmed(bool isDimmed)
{
    if (std::exchange(m_isDimmed, isDimmed) != isDimmed)
        update();
}

QSize PartButton::sizeHint() const
{
    return { 2 * kPad + kSwatch + kBeside + m_width.of(text(), font()), fontMetrics().height() + 2 };
}

void PartButton::paintEvent(QPaintEvent *)
{
    const Theme &t = theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool hasRing = hasFocus() && m_showsFocus;
    if (isChecked() || underMouse() || hasRing) {
        painter.setPen(hasRing || isChecked() ? QPen(t.accent) : QPen(Qt::NoPen));
        painter.setBrush(isChecked() ? t.accentSoft : t.panelRaised);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    }
    if (m_isDimmed)
        painter.setOpacity(0.45);
    const QColor color = partsColor(m_parts);
    painter.setPen(color == t.idle ? QPen(t.textFaint) : QPen(Qt::NoPen)); // as dark as the panel, or as light
    painter.setBrush(color);
    painter.drawRoundedRect(QRect(kPad, (height() - kSwatch) / 2, kSwatch, kSwatch), 2, 2);
    painter.setPen(isChecked() ? t.text : t.textMuted);
    painter.drawText(rect().adjusted(kPad + kSwatch + kBeside, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, text());
}

void PartButton::focusInEvent(QFocusEvent *event)
{
    m_showsFocus = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    QAbstractButton::focusInEvent(event);
}

void PartButton::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        return click();
    QAbstractButton::keyPressEvent(event);
}

} // namespace trainyard
