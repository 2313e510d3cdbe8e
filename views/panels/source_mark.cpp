// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/source_mark.h"

#include "views/theme/theme.h"

#include <QPainter>
#include <QPainterPath>

#include <array>

namespace trainyard {

namespace {

// Okabe and Ito's set without black, which a dark theme swallows, and with a grey.
constexpr std::array<QRgb, 8> kDarkInks { 0x56b4e9, 0xe69f00, 0x2fc08d, 0xf0e442, 0xcc79a7, 0xff7f3f, 0x7f9bff,
    0xb8c0cc };
constexpr std::array<QRgb, 8> kLightInks { 0x0072b2, 0xb87700, 0x00805c, 0x8f8200, 0xa8457c, 0xc24e00, 0x5a4fcf,
    0x5f6b7a };
constexpr int kShapes = 4;
constexpr int kPixmap = 12;

QPainterPath outline(QPointF centre, double size, MarkShape shape)
{
    const double r = size / 2;
    QPainterPath path;
    switch (shape) {
    case MarkShape::Disc:
        path.addEllipse(centre, r, r);
        break;
    case MarkShape::Square:
        path.addRect(QRectF(centre - QPointF(r, r) * 0.88, QSizeF(size, size) * 0.88));
        break;
    case MarkShape::Triangle:
        path.addPolygon(QPolygonF { { centre + QPointF(0, -r * 1.1), centre + QPointF(r * 1.08, r * 0.85),
            centre + QPointF(-r * 1.08, r * 0.85) } });
        path.closeSubpath();
        break;
    case MarkShape::Diamond:
        path.addPolygon(QPolygonF {
            { centre + QPointF(0, -r), centre + QPointF(r, 0), centre + QPointF(0, r), centre + QPointF(-r, 0) } });
        path.closeSubpath();
        break;
    }
    return path;
}

} // namespace

SourceMark sourceMark(int index)
{
    if (index < 0)
        return { theme().textMuted, MarkShape::Disc };
    const auto &inks = theme().isDark ? kDarkInks : kLightInks;
    // Neighbours differ in colour and in shape; the pair comes back after 32 sources.
    const auto color = std::size_t(index) % inks.size();
    return { QColor(inks[color]), MarkShape((std::size_t(index) + std::size_t(index) / inks.size()) % kShapes) };
}

void paintMark(QPainter &painter, QPointF centre, double size, const SourceMark &mark, bool isHollow)
{
    painter.setPen(QPen(mark.color, 1.2));
    painter.setBrush(isHollow ? QBrush(Qt::NoBrush) : QBrush(mark.color));
    painter.drawPath(outline(centre, size, mark.shape));
}

QPixmap markPixmap(const SourceMark &mark, double devicePixelRatio)
{
    QPixmap pixmap(QSize(kPixmap, kPixmap) * devicePixelRatio);
    pixmap.setDevicePixelRatio(devicePixelRatio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    paintMark(painter, { kPixmap / 2.0, kPixmap / 2.0 }, 8, mark, false);
    return pixmap;
}

} // namespace trainyard
