#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Short texts rendered once into alpha masks and blended straight into image pixels: thousands of micro-batch numbers a
// frame cost less than a few dozen QPainter::drawText. GUI thread.

#include <QFont>
#include <QHash>
#include <QImage>
#include <QRect>

namespace trainyard {

class LabelMasks {
public:
    /// Text of `font` on a device of that pixel ratio. Drops all masks if either changed.
    void setFont(const QFont &font, qreal devicePixelRatio);

    /// Width in device pixels.
    [[nodiscard]] int width(const QString &text);
    /// Blends `text` centred on `center` (device pixels), cut to `clip`.
    void draw(QImage &image, QPoint center, const QString &text, QRgb ink, const QRect &clip);

private:
    const QImage &mask(const QString &text);

    QFont m_font;
    qreal m_ratio = 1;
    /// of the capitals inside a mask, device pixels
    int m_capTop = 0, m_capHeight = 0;
    QHash<QString, QImage> m_masks;
};

} // namespace trainyard
