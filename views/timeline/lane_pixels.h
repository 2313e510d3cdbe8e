#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the painters of the timeline's rows have in common: from how many pixels on a bar shows more than its colour,
// and the pixels of an image by line.

#include <QImage>

namespace trainyard {

/// pixels from which bars get a gap
inline constexpr int kTellApart = 3;
/// pixels of a bar that can be shared among kinds
inline constexpr int kShareFrom = 6;
/// logical pixels of a bar that a number needs
inline constexpr int kLabelHeight = 8;
inline constexpr int kLabelPad = 3;

/// Pixels of one line of a 32-bit image.
[[nodiscard]] inline QRgb *scanLine(QImage &image, int y)
{
    return reinterpret_cast<QRgb *>(image.scanLine(y));
}

/// Lines of a 32-bit image that several threads fill, each its own ones: QImage::scanLine() is not for that.
class PixelLines {
public:
    explicit PixelLines(QImage &image)
        : m_first(reinterpret_cast<QRgb *>(image.bits()))
        , m_stride(image.bytesPerLine() / qsizetype(sizeof(QRgb)))
    {
    }
    [[nodiscard]] QRgb *line(int y) const { return m_first + y * m_stride; }

private:
    QRgb *m_first;
    qsizetype m_stride;
};

} // namespace trainyard
