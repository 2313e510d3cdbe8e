// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/planner/scatter_marks.h"

#include "views/theme/theme.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trainyard {

namespace {

constexpr int kSprite = 9; // pixels at scale 1, odd
constexpr double kDisc = 2.6, kDiamond = 3.6, kCross = 2.6, kDot = 1.4; // radii
/// Of all four bytes, each rounded to the nearest: two at a time, with room between them for their products.
QRgb timesOver255(QRgb bytes, unsigned factor)
{
    constexpr unsigned kHalf = 0x00800080, kTwo = 0x00ff00ff;
    const auto two = [factor](unsigned pair) {
        const unsigned product = pair * factor;
        return (product + ((product / 256) & kTwo) + kHalf) / 256 & kTwo;
    };
    return two(bytes & kTwo) + two(bytes / 256 & kTwo) * 256;
}

constexpr double kOwn = 5.5, kStar = 8, kStarInner = 0.42;

} // namespace

QColor markInk(RowState state)
{
    const bool isDark = theme().isDark;
    switch (state) { // after Okabe and Ito
    case RowState::Feasible:
        return isDark ? QColor(0x56b4e9) : QColor(0x0072b2);
    case RowState::OutOfConstraint:
        return isDark ? QColor(0xe69f00) : QColor(0xb87700);
    case RowState::Infeasible:
        return isDark ? QColor(0xff7f3f) : QColor(0xc24e00);
    case RowState::Outdone:
    case RowState::Refused:
        return theme().textFaint;
    }
    return theme().textFaint;
}

void paintRowMark(QPainter &painter, QPointF centre, RowState state)
{
    const QColor ink = markInk(state);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(ink, 1.3));
    switch (state) {
    case RowState::Feasible:
        painter.setPen(Qt::NoPen);
        painter.setBrush(ink);
        painter.drawEllipse(centre, kDisc, kDisc);
        break;
    case RowState::OutOfConstraint:
        painter.drawPolygon(QPolygonF { { centre + QPointF(0, -kDiamond), centre + QPointF(kDiamond, 0),
            centre + QPointF(0, kDiamond), centre + QPointF(-kDiamond, 0) } });
        break;
    case RowState::Infeasible:
        painter.drawLine(centre + QPointF(-kCross, -kCross), centre + QPointF(kCross, kCross));
        painter.drawLine(centre + QPointF(-kCross, kCross), centre + QPointF(kCross, -kCross));
        break;
    case RowState::Outdone:
    case RowState::Refused:
        painter.setPen(Qt::NoPen);
        painter.setBrush(ink);
        painter.drawEllipse(centre, kDot, kDot);
        break;
    }
}

void paintOwnMark(QPainter &painter, QPointF centre)
{
    const QRectF box(centre - QPointF(kOwn, kOwn), QSizeF(2 * kOwn, 2 * kOwn));
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme().panel, 4));
    painter.drawRect(box);
    painter.setPen(QPen(theme().text, 1.8));
    painter.drawRect(box);
}

void paintBestMark(QPainter &painter, QPointF centre)
{
    QPolygonF star;
    for (int i = 0; i < 10; ++i) {
        const double angle = i * std::numbers::pi / 5, r = i % 2 == 0 ? kStar : kStar * kStarInner;
        star << centre + QPointF(std::sin(angle) * r, -std::cos(angle) * r);
    }
    painter.setPen(QPen(theme().panel, 1.2));
    painter.setBrush(theme().text);
    painter.drawPolygon(star);
}

QImage rowSprite(RowState state, double devicePixelRatio)
{
    const int side = int(std::ceil(kSprite * devicePixelRatio)) | 1;
    QImage sprite(side, side, QImage::Format_ARGB32_Premultiplied);
    sprite.fill(Qt::transparent);
    QPainter painter(&sprite);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(side / 2.0, side / 2.0);
    painter.scale(devicePixelRatio, devicePixelRatio);
    if (state == RowState::Outdone)
        painter.setOpacity(0.55); // there are many, and what matters lies among them
    paintRowMark(painter, {}, state);
    return sprite;
}

void putSprite(QImage &image, const QImage &sprite, int x, int y)
{
    const int left = x - sprite.width() / 2, top = y - sprite.height() / 2;
    const int fromX = std::max(0, -left), toX = std::min(sprite.width(), image.width() - left);
    const int fromY = std::max(0, -top), toY = std::min(sprite.height(), image.height() - top);
    const auto *source = reinterpret_cast<const QRgb *>(sprite.constBits());
    auto *target = reinterpret_cast<QRgb *>(image.bits());
    const qsizetype sourceStride = sprite.bytesPerLine() / 4, targetStride = image.bytesPerLine() / 4;
    for (int row = fromY; row < toY; ++row) {
        const QRgb *from = source + row * sourceStride;
        QRgb *to = target + (top + row) * targetStride + left;
        for (int column = fromX; column < toX; ++column)
            if (const QRgb over = from[column]; over != 0)
                to[column] = over + timesOver255(to[column], 255 - over / 0x1000000U);
    }
}

} // namespace trainyard
