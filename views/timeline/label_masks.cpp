// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/label_masks.h"

#include <QFontMetricsF>
#include <QPainter>

#include <cmath>

namespace trainyard {

namespace {
constexpr qsizetype kMostMasks = 8192; // micro-batch numbers of a long iteration would pile up for ever

QRgb blend(QRgb below, QRgb ink, int alpha)
{
    const auto mix = [alpha](int a, int b) { return a + (b - a) * alpha / 255; };
    return qRgb(mix(qRed(below), qRed(ink)), mix(qGreen(below), qGreen(ink)), mix(qBlue(below), qBlue(ink)));
}
} // namespace

void LabelMasks::setFont(const QFont &font, qreal devicePixelRatio)
{
    if (font == m_font && devicePixelRatio == m_ratio && m_capHeight > 0)
        return;
    m_font = font;
    m_font.setStyleStrategy(QFont::NoSubpixelAntialias);
    m_ratio = devicePixelRatio;
    m_masks.clear();
    const QFontMetricsF metrics(m_font);
    m_capHeight = int(std::lround(metrics.capHeight() * m_ratio));
    m_capTop = int(std::lround(metrics.ascent() * m_ratio)) - m_capHeight;
}

const QImage &LabelMasks::mask(const QString &text)
{
    const auto found = m_masks.constFind(text);
    if (found != m_masks.constEnd())
        return *found;
    if (m_masks.size() > kMostMasks)
        m_masks.clear();
    const QFontMetricsF metrics(m_font);
    const QSize size(
        int(std::ceil(metrics.horizontalAdvance(text) * m_ratio)) + 1, int(std::ceil(metrics.height() * m_ratio)) + 1);
    QImage image(size, QImage::Format_RGB32);
    image.setDevicePixelRatio(m_ratio);
    image.fill(Qt::black);
    QPainter painter(&image);
    painter.setFont(m_font);
    painter.setPen(Qt::white);
    painter.drawText(QPointF(0, std::round(metrics.ascent() * m_ratio) / m_ratio), text);
    painter.end();
    image.setDevicePixelRatio(1);
    return *m_masks.insert(text, image);
}

int LabelMasks::width(const QString &text)
{
    return mask(text).width();
}

void LabelMasks::draw(QImage &image, QPoint center, const QString &text, QRgb ink, const QRect &clip)
{
    const QImage &glyphs = mask(text);
    const int left = center.x() - glyphs.width() / 2;
    const int top = center.y() - m_capHeight / 2 - m_capTop;
    const QRect area = QRect(left, top, glyphs.width(), glyphs.height()) & clip & image.rect();
    for (int y = area.top(); y <= area.bottom(); ++y) {
        const auto *from = reinterpret_cast<const QRgb *>(glyphs.constScanLine(y - top));
        auto *to = reinterpret_cast<QRgb *>(image.scanLine(y));
        for (int x = area.left(); x <= area.right(); ++x) {
            const int alpha = qGreen(from[x - left]);
            if (alpha > 0)
                to[x] = blend(to[x], ink, alpha);
        }
    }
}

} // namespace trainyard
