// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/span_card.h"

#include "views/theme/theme.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>

namespace trainyard {

namespace {
constexpr int kPartSwatch = 8;
constexpr int kPadX = 12, kPadY = 8, kLineGap = 3, kStripe = 4, kAway = 14;
QFont titleFont()
{
    return uiFont(0, QFont::DemiBold);
}
QFont factFont()
{
    return uiFont(-1);
}
QFont pointedFont()
{
    return uiFont(-1, QFont::DemiBold);
}
QString partsNote()
{
    return SpanCard::tr("shares of the operation, not an order in time");
}
} // namespace

SpanCard::SpanCard(QWidget *parent)
    : QWidget(parent)
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
    hide();
}

void SpanCard::setContent(const QColor &stripe, const QString &title, const QStringList &facts)
{
    m_stripe = stripe;
    m_title = title;
    m_facts = facts;
    m_parts.clear();
    resize(contentSize());
    update();
}

void SpanCard::setParts(const std::vector<PartLine> &parts, std::size_t pointed)
{
    if (parts.empty() && m_parts.empty())
        return;
    m_parts = parts;
    m_pointed = pointed;
    resize(contentSize());
    update();
}

QString SpanCard::text() const
{
    QStringList lines = QStringList { m_title } + m_facts;
    for (std::size_t i = 0; i < m_parts.size(); ++i)
        lines << (i == m_pointed ? QStringLiteral("▸ ") : QString()) + m_parts[i].text;
    return (m_parts.empty() ? lines : lines << partsNote()).join(u'\n');
}

QSize SpanCard::contentSize() const
{
    const QFontMetrics title(titleFont()), fact(factFont());
    int width = title.horizontalAdvance(m_title);
    for (const QString &line : m_facts)
        width = std::max(width, fact.horizontalAdvance(line));
    for (const PartLine &part : m_parts)
        width = std::max(width, QFontMetrics(pointedFont()).horizontalAdvance(part.text) + kPartSwatch + 6);
    if (!m_parts.empty())
        width = std::max(width, fact.horizontalAdvance(partsNote()));
    const int lines = int(m_facts.size() + m_parts.size()) + (m_parts.empty() ? 0 : 1);
    return { width + 2 * kPadX + kStripe, title.height() + lines * (fact.height() + kLineGap) + 2 * kPadY };
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
    painter.setBrush(m_stripe);
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
    if (!m_parts.empty())
        paintParts(painter, line);
}

void SpanCard::paintParts(QPainter &painter, QRect line) const
{
    for (std::size_t i = 0; i < m_parts.size(); ++i) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(m_parts[i].color);
        painter.drawRoundedRect(
            QRectF(line.left(), line.center().y() - kPartSwatch / 2 + 1, kPartSwatch, kPartSwatch), 2, 2);
        painter.setFont(i == m_pointed ? pointedFont() : factFont());
        painter.setPen(i == m_pointed ? theme().text : theme().textMuted);
        painter.drawText(line.adjusted(kPartSwatch + 6, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, m_parts[i].text);
        line.translate(0, line.height() + kLineGap);
    }
    painter.setFont(factFont());
    painter.setPen(theme().textFaint);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, partsNote());
}

} // namespace trainyard
