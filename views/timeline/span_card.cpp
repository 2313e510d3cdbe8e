// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/span_card.h"

#include "views/theme/theme.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>

namespace trainyard {

namespace {
constexpr int kPadX = 12, kPadY = 8, kLineGap = 3, kStripe = 4, kAway = 14;
QFont titleFont() { return uiFont(0, QFont::DemiBold); }
QFont factFont() { return uiFont(-1); }
}

SpanCard::SpanCard(QWidget *parent)
    : QWidget(parent)
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
    hide();
}

void SpanCard::setContent(WorkKind kind, const QString &title, const QStringList &facts)
{
    m_kind = kind;
    m_title = title;
    m_facts = facts;
    resize(contentSize());
    update();
}

QSize SpanCard::contentSize() const
{
    const QFontMetrics title(titleFont()), fact(factFont());
    int width = title.horizontalAdvance(m_title);
    for (const QString &line : m_facts)
        width = std::max(width, fact.horizontalAdvance(line));
    const int lines = int(m_facts.size());
    return {width + 2 * kPadX + kStripe, title.height() + lines * (fact.height() + kLineGap) + 2 * kPadY};
}

void SpanCard::showNear(QPoint point)
{
    const QRect room = parentWidget()->rect().adjusted(4, 4, -4, -4);
    int x = point.x() + kAway, y = point.y() + kAway;
    if (x + width() > room.right())
        x = point.x() - kAway - width();
    if (y + height() > room.bottom())
        y = point.y() - kAway - height();
    move(std::max(room.left(), std::min(x, room.right() - width())), std::max(room.top(), y));
    show();
    raise();
}

void SpanCard::paintEvent(QPaintEvent *)
{
    const Theme &t = theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(t.border);
    painter.setBrush(t.panelRaised);
    painter.drawRoundedRect(box, Theme::kRadius, Theme::kRadius);
    painter.setPen(Qt::NoPen);
    painter.setBrush(t.work(m_kind));
    painter.drawRoundedRect(QRectF(box.left() + 5, box.top() + 7, kStripe - 1, box.height() - 14), 1.5, 1.5);
    QRect line(kPadX + kStripe, kPadY, width() - 2 * kPadX - kStripe + 2, QFontMetrics(titleFont()).height());
    painter.setFont(titleFont());
    painter.setPen(t.text);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, m_title);
    painter.setFont(factFont());
    painter.setPen(t.textMuted);
    const int height = QFontMetrics(factFont()).height();
    line.translate(0, line.height() + kLineGap);
    line.setHeight(height);
    for (const QString &fact : m_facts) {
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, fact);
        line.translate(0, height + kLineGap);
    }
}

} // namespace trainyard
