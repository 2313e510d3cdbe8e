// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/job_button.h"

#include "views/theme/job_colors.h"
#include "views/theme/theme.h"
#include "views/timeline/chart_painter.h"
#include "views/timeline/kind_button.h"

#include <QFocusEvent>
#include <QFontMetrics>
#include <QPainter>

#include <algorithm>

namespace trainyard {

namespace {
constexpr int kMostName = 132; // pixels
} // namespace

JobButton::JobButton(const JobEntry &entry, QWidget *parent)
    : QAbstractButton(parent)
    , m_job(entry.job)
{
    setCheckable(true);
    setText(entry.shortName.isEmpty() ? entry.name : entry.shortName);
    setToolTip(tr("%1: show its work apart from all other").arg(entry.name));
    setAccessibleName(tr("Job %1").arg(entry.name));
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::TabFocus);
}

void JobButton::setFaded(bool faded)
{
    m_isFaded = faded;
    update();
}

QSize JobButton::sizeHint() const
{
    const QFontMetrics metrics(rowFont());
    return { 2 * kLegendPad + kLegendSwatch + 5 + std::min(kMostName, metrics.horizontalAdvance(text())),
        std::max(metrics.height(), kLegendSwatch) + 4 };
}

void JobButton::paintEvent(QPaintEvent *)
{
    const Theme &t = theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool ring = hasFocus() && m_showsFocus;
    if (underMouse() || ring || isChecked()) {
        painter.setPen(ring || isChecked() ? QPen(t.accent) : QPen(Qt::NoPen));
        painter.setBrush(t.panelRaised);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    }
    painter.setOpacity(m_isFaded ? 0.3 : 1);
    painter.setPen(Qt::NoPen);
    painter.setBrush(jobColor(m_job));
    painter.drawRoundedRect(QRect(kLegendPad, (height() - kLegendSwatch) / 2, kLegendSwatch, kLegendSwatch), 2, 2);
    painter.setOpacity(1);
    painter.setFont(rowFont());
    painter.setPen(isChecked() ? t.text : m_isFaded ? t.textFaint : t.textMuted);
    const QRect room = rect().adjusted(kLegendPad + kLegendSwatch + 5, 0, -kLegendPad + 1, 0);
    // Names of a grid begin alike and end with what tells them apart.
    painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
        QFontMetrics(rowFont()).elidedText(text(), Qt::ElideMiddle, room.width()));
}

void JobButton::focusInEvent(QFocusEvent *event)
{
    m_showsFocus = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    QAbstractButton::focusInEvent(event);
}

} // namespace trainyard
