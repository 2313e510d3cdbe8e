// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/severity_mark.h"

#include "views/theme/theme.h"

#include <QPainter>

namespace trainyard {

SeverityMark::SeverityMark(Kind kind, QWidget *parent)
    : QWidget(parent)
    , m_kind(kind)
{
    setFixedSize(kSize, kSize);
    const QString names[] = { tr("No problem"), tr("Note"), tr("Warning"), tr("Blocks the plan") };
    setAccessibleName(names[int(kind)]);
    setToolTip(names[int(kind)]);
}

SeverityMark::Kind SeverityMark::of(Severity severity)
{
    return severity == Severity::Note ? Kind::Note : severity == Severity::Warning ? Kind::Warning : Kind::Blocking;
}

void SeverityMark::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    const Theme &t = theme();
    const QPointF c(kSize / 2.0, kSize / 2.0);
    if (m_kind == Kind::Fine) {
        painter.setBrush(t.good);
        painter.drawEllipse(c, 4, 4);
        return;
    }
    if (m_kind == Kind::Warning) {
        painter.setBrush(t.warning);
        painter.drawPolygon(QPolygonF { { c.x(), 1.5 }, { kSize - 1.0, kSize - 2.0 }, { 1.0, kSize - 2.0 } });
    } else {
        painter.setBrush(m_kind == Kind::Blocking ? t.bad : t.textFaint);
        painter.drawEllipse(c, 7, 7);
    }
    painter.setPen(QPen(t.panel, 1.8, Qt::SolidLine, Qt::RoundCap));
    if (m_kind == Kind::Blocking) {
        painter.drawLine(QPointF(5.5, 5.5), QPointF(10.5, 10.5));
        painter.drawLine(QPointF(10.5, 5.5), QPointF(5.5, 10.5));
    } else if (m_kind == Kind::Warning) {
        painter.drawLine(QPointF(8, 6.2), QPointF(8, 9.4));
        painter.drawPoint(QPointF(8, 11.9));
    } else {
        painter.drawPoint(QPointF(8, 4.8));
        painter.drawLine(QPointF(8, 7.6), QPointF(8, 11.2));
    }
}

} // namespace trainyard
