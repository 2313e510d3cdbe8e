// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/run_key.h"

#include "views/theme/recorded_colors.h"
#include "views/theme/theme.h"
#include "views/theme/turn_colors.h"
#include "views/timeline/chart_painter.h"
#include "views/timeline/kind_button.h"
#include "views/timeline/measured_text.h"

#include <QFocusEvent>
#include <QFontMetrics>
#include <QPainter>

#include <algorithm>

namespace trainyard {

namespace {
constexpr int kKeyPad = 6, kKeySwatch = 8, kAfterKeySwatch = 4, kBetweenNames = 9;
QFont headFont()
{
    return uiFont(-2, QFont::DemiBold);
}
} // namespace

RunKey::RunKey(QWidget *parent)
    : QAbstractButton(parent)
{
    setCheckable(true);
    setText(tr("Run"));
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::TabFocus);
    setAccessibleName(tr("Show the rows of the run"));
}

void RunKey::setWorks(std::uint32_t works)
{
    m_works = works;
    QStringList names;
    for (int work = 0; work < kRecordedWorkCount; ++work)
        if ((works >> work) & 1u)
            names << recordedWorkName(RecordedWork(work));
    setToolTip(isChecked() ? tr("Measured: %1. Hide the rows of the run (R)").arg(names.join(QStringLiteral(", ")))
                           : tr("Show the rows of the run (R)"));
    update();
}

void RunKey::setNamed(bool named)
{
    m_isNamed = named;
    update();
}

int RunKey::widthOf(bool named) const
{
    int width = 2 * kKeyPad + QFontMetrics(headFont()).horizontalAdvance(text());
    for (int work = 0; work < kRecordedWorkCount; ++work)
        if ((m_works >> work) & 1u)
            width += named ? kBetweenNames + kKeySwatch + kAfterKeySwatch
                    + QFontMetrics(rowFont()).horizontalAdvance(recordedWorkName(RecordedWork(work)))
                           : kKeySwatch + kAfterKeySwatch;
    return width;
}

int RunKey::fullWidth() const
{
    return widthOf(true);
}

QSize RunKey::sizeHint() const
{
    return { widthOf(m_isNamed), std::max(QFontMetrics(rowFont()).height(), kKeySwatch) + 6 };
}

void RunKey::focusInEvent(QFocusEvent *event)
{
    m_showsFocus = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    QAbstractButton::focusInEvent(event);
}

void RunKey::paintEvent(QPaintEvent *)
{
    const Theme &t = theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(hasFocus() && m_showsFocus ? t.accent : t.border);
    painter.setBrush(underMouse() ? QBrush(t.panelRaised) : QBrush(Qt::NoBrush));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    const auto write = [&](const QFont &font, const QColor &color, int x, const QString &text) {
        painter.setFont(font);
        painter.setPen(color);
        painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignLeft | Qt::AlignVCenter, text);
        return x + QFontMetrics(font).horizontalAdvance(text);
    };
    QFont head = headFont();
    head.setStrikeOut(!isChecked());
    int x = write(head, isChecked() ? t.text : t.textFaint, kKeyPad, text());
    for (int work = 0; work < kRecordedWorkCount; ++work) {
        if (!((m_works >> work) & 1u))
            continue;
        const QColor fill = recordedColor(RecordedWork(work));
        x += m_isNamed ? kBetweenNames : kAfterKeySwatch;
        paintSwatch(painter, QRect(x, (height() - kKeySwatch) / 2, kKeySwatch, kKeySwatch), fill, inkOn(fill),
            fillPattern(RecordedWork(work)));
        x += kKeySwatch;
        if (m_isNamed)
            x = write(rowFont(), t.textMuted, x + kAfterKeySwatch, recordedWorkName(RecordedWork(work)));
    }
}

} // namespace trainyard
