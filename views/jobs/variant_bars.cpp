// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/jobs/variant_bars.h"

#include "models/text/foreign_text.h"
#include "views/theme/theme.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kBar = 9;
constexpr double kNamePart = 0.34, kTextPart = 0.16, kRelationPart = 0.18; // of the width

} // namespace

VariantBars::VariantBars(Names names, QWidget *parent)
    : QWidget(parent)
    , m_names(names)
{
    setFont(uiFont(-1));
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void VariantBars::setBars(std::vector<VariantBar> bars)
{
    if (bars == m_bars)
        return;
    m_bars = std::move(bars);
    QStringList words;
    for (const VariantBar &bar : m_bars)
        words << QStringList { bar.name, bar.value ? bar.text : bar.note, bar.relation }.join(u' ').trimmed();
    setAccessibleName(words.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

int VariantBars::lineHeight() const
{
    return std::max(fontMetrics().height() + 4, kBar + 6);
}

QSize VariantBars::sizeHint() const
{
    return { 300, lineHeight() * int(m_bars.size()) * (m_names == Names::Above ? 2 : 1) };
}

void VariantBars::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    double most = 0;
    for (const VariantBar &bar : m_bars)
        most = std::max({ most, bar.value.value_or(0), bar.ideal.value_or(0) });
    const bool isAbove = m_names == Names::Above;
    const int name = isAbove ? 0 : int(width() * kNamePart), text = int(width() * kTextPart),
              relation = int(width() * kRelationPart);
    const int room = std::max(1, width() - name - text - relation - 8), line = lineHeight();
    int y = 0;
    for (const VariantBar &bar : m_bars) {
        painter.setFont(uiFont(-1, bar.isOwn ? QFont::DemiBold : QFont::Normal));
        painter.setPen(bar.isOwn ? theme().text : theme().textMuted);
        const int shown = isAbove ? width() : name - 6;
        painter.drawText(QRect(0, y, shown, line), Qt::AlignLeft | Qt::AlignVCenter,
            QFontMetrics(painter.font()).elidedText(bar.name, Qt::ElideRight, shown));
        y += isAbove ? line : 0;
        painter.setFont(font());
        if (!bar.value) {
            painter.setPen(theme().textFaint);
            painter.drawText(QRect(name, y, width() - name, line), Qt::AlignLeft | Qt::AlignVCenter,
                fontMetrics().elidedText(
                    bar.note.isEmpty() ? QStringLiteral("–") : bar.note, Qt::ElideRight, width() - name));
            y += line;
            continue;
        }
        const QRectF whole(name, y + (line - kBar) / 2.0, room, kBar);
        painter.fillRect(whole, theme().isDark ? theme().panelRaised : theme().grid);
        QColor fill = theme().accent;
        if (!bar.isOwn)
            fill.setAlphaF(0.55F);
        if (most > 0)
            painter.fillRect(QRectF(whole.topLeft(), QSizeF(std::max(1.0, *bar.value / most * room), kBar)), fill);
        if (bar.ideal && most > 0)
            painter.fillRect(
                QRectF(name + std::min(room - 2.0, *bar.ideal / most * room - 1), whole.top() - 2, 2, kBar + 4),
                theme().text);
        painter.setPen(theme().text);
        painter.drawText(QRect(name + room, y, text + 4, line), Qt::AlignRight | Qt::AlignVCenter, bar.text);
        painter.setPen(theme().textMuted);
        painter.drawText(QRect(width() - relation, y, relation, line), Qt::AlignRight | Qt::AlignVCenter, bar.relation);
        y += line;
    }
}

bool VariantBars::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const int each = lineHeight() * (m_names == Names::Above ? 2 : 1);
    const std::size_t at = std::size_t(std::max(0, help->pos().y() / each));
    if (at < m_bars.size()) {
        const VariantBar &bar = m_bars[at];
        QToolTip::showText(
            help->globalPos(), plainTip(bar.note.isEmpty() ? bar.name : bar.name + u'\n' + bar.note), this);
    }
    return true;
}

} // namespace trainyard
