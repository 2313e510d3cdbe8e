// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/kind_button.h"

#include "views/theme/theme.h"
#include "views/timeline/chart_painter.h"

#include <QFocusEvent>
#include <QFontMetrics>
#include <QPaintDevice>
#include <QPainter>

#include <algorithm>

namespace trainyard {

void paintSwatch(QPainter &painter, const QRect &box, const QColor &fill, const QColor &ink, FillPattern pattern)
{
    const qreal ratio = painter.device()->devicePixelRatioF();
    QImage swatch(box.size() * ratio, QImage::Format_ARGB32_Premultiplied);
    swatch.fill(fill);
    QColor line = ink;
    line.setAlphaF(0.4F);
    QPainter dots(&swatch);
    for (int y = 0; y < swatch.height(); ++y) {
        for (int x = 0; x < swatch.width(); ++x) {
            if (patternInks(pattern, x, y))
                dots.fillRect(x, y, 1, 1, line);
        }
    }
    dots.end();
    painter.setPen(Qt::NoPen);
    QBrush brush(swatch);
    brush.setTransform(QTransform::fromScale(1 / ratio, 1 / ratio).translate(box.left() * ratio, box.top() * ratio));
    painter.setBrush(brush);
    painter.drawRoundedRect(box, 2, 2);
}

KindButton::KindButton(WorkKind kind, QWidget *parent)
    : QAbstractButton(parent)
    , m_kind(kind)
{
    setCheckable(true);
    setChecked(true);
    setText(QString::fromUtf8(toString(kind)));
    setToolTip(tr("Show or fade %1").arg(text()));
    setAccessibleName(tr("Show %1").arg(text()));
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::TabFocus);
}

QSize KindButton::sizeHint() const
{
    const QFont font = rowFont();
    return { 2 * kLegendPad + kLegendSwatch + 5 + m_width.of(text(), font),
        std::max(QFontMetrics(font).height(), kLegendSwatch) + 4 };
}

void KindButton::paintEvent(QPaintEvent *)
{
    const Theme &t = theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool ring = hasFocus() && m_showsFocus;
    if (underMouse() || ring) {
        painter.setPen(ring ? QPen(t.accent) : QPen(Qt::NoPen));
        painter.setBrush(t.panelRaised);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    }
    const QRect box(kLegendPad, (height() - kLegendSwatch) / 2, kLegendSwatch, kLegendSwatch);
    painter.setOpacity(isChecked() ? 1 : 0.25);
    paintSwatch(painter, box, t.work(m_kind), t.workInk(m_kind), fillPattern(m_kind));
    painter.setOpacity(1);
    QFont font = rowFont();
    font.setStrikeOut(!isChecked());
    painter.setFont(font);
    painter.setPen(isChecked() ? t.textMuted : t.textFaint);
    painter.drawText(
        rect().adjusted(kLegendPad + kLegendSwatch + 5, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, text());
}

void KindButton::focusInEvent(QFocusEvent *event)
{
    m_showsFocus = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    QAbstractButton::focusInEvent(event);
}

} // namespace trainyard
