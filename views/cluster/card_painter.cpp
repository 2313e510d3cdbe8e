// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/card_painter.h"

#include "views/theme/theme.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kMostWidth = 340; // of a line; longer ones wrap
constexpr double kSide = 11, kTop = 7;
constexpr int kFlags = Qt::AlignLeft | Qt::TextWordWrap;

QFont fontOf(qsizetype line)
{
    return line == 0 ? uiFont(0, QFont::DemiBold) : uiFont(-1);
}

QSizeF sizeOf(const QString &text, qsizetype line, double most)
{
    const QRectF box = QFontMetricsF(fontOf(line)).boundingRect(QRectF(0, 0, most, 1e4), kFlags, text);
    return { std::ceil(box.width()) + 1, std::ceil(box.height()) };
}

double clampInto(double at, double size, double low, double high)
{
    return std::clamp(at, low + 2, std::max(low + 2, high - size - 2));
}

} // namespace

QRectF cardRect(QPointF at, const QRectF &bounds, const QStringList &lines)
{
    const double most = std::min(kMostWidth, std::max(120.0, bounds.width() - 2 * kSide - 8));
    QSizeF text;
    for (qsizetype i = 0; i < lines.size(); ++i) {
        const QSizeF line = sizeOf(lines[i], i, most);
        text = { std::max(text.width(), line.width()), text.height() + line.height() };
    }
    const QSizeF size(text.width() + 2 * kSide, text.height() + 2 * kTop);
    return { QPointF(clampInto(at.x(), size.width(), bounds.left(), bounds.right()),
                 clampInto(at.y(), size.height(), bounds.top(), bounds.bottom())),
        size };
}

void paintCard(
    QPainter &painter, const QRectF &card, const QStringList &lines, const QColor &border, const QColor &secondLine)
{
    if (lines.isEmpty())
        return;
    const Theme &t = theme();
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(Qt::NoPen);
    painter.setBrush(QColor(0, 0, 0, t.isDark ? 90 : 28));
    painter.drawRoundedRect(card.translated(0, 2).adjusted(-1, -1, 1, 2), Theme::kRadius + 1, Theme::kRadius + 1);
    painter.setPen(QPen(border, 1));
    painter.setBrush(t.panelRaised);
    painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius, Theme::kRadius);
    double y = card.top() + kTop;
    const double width = card.width() - 2 * kSide;
    for (qsizetype i = 0; i < lines.size(); ++i) {
        const double height = sizeOf(lines[i], i, width).height();
        painter.setFont(fontOf(i));
        painter.setPen(i == 0 ? t.text : i == 1 ? secondLine : t.textMuted);
        painter.drawText(QRectF(card.left() + kSide, y, width, height), kFlags, lines[i]);
        y += height;
    }
}

} // namespace trainyard
