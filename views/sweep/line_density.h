#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Very many lines between upright axes as a picture: how often each pixel is crossed, in the mean of the colours that
// cross it. Equal lines are drawn once, so that a hundred thousand rows of a few values cost little. Any thread.
//
//   density.add(120, 40, qRgb(80, 160, 250)); … density.drawBetween(0, 200); … density.paintOn(picture, 0.1);

#include <QImage>

#include <cstdint>
#include <vector>

namespace trainyard {

class LineDensity {
public:
    explicit LineDensity(QSize pixels);

    /// A line of the next drawBetween(), from that height at its left to that at its right, in pixels.
    void add(double left, double right, QRgb color);
    /// Draws what was added between two places across, in pixels.
    void drawBetween(double left, double right);
    /// Over a premultiplied picture of that size, one line as strong as `ink`, n of them 1 − (1 − ink)ⁿ; what was
    /// drawn is forgotten.
    void paintOn(QImage &picture, double ink);

private:
    struct Pixel {
        /// kWhole: one line
        std::uint32_t weight = 0;
        /// weighted sums
        std::uint64_t red = 0, green = 0, blue = 0;
    };
    void cross(int x, double y, double reach, QRgb color, std::uint32_t count);

    QSize m_size;
    std::vector<Pixel> m_pixels;
    /// heights in quarters of a pixel, colour
    std::vector<std::uint64_t> m_lines;
};

} // namespace trainyard
