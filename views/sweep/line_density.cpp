// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/sweep/line_density.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kPart = 4; // of a pixel, that heights are told apart by
constexpr int kHeightBits = 18, kColorBits = 24;
constexpr std::uint64_t kMostHeight = (1U << kHeightBits) - 1;
constexpr double kWhole = 256; // weight of a line in a pixel

std::uint64_t parts(double height)
{
    return std::uint64_t(std::clamp(std::round(height * kPart), 0.0, double(kMostHeight)));
}

} // namespace

LineDensity::LineDensity(QSize pixels)
    : m_size(pixels)
    , m_pixels(std::size_t(pixels.width()) * std::size_t(pixels.height()))
{
}

void LineDensity::add(double left, double right, QRgb color)
{
    m_lines.push_back(
        parts(left) << (kHeightBits + kColorBits) | parts(right) << kColorBits | (color & ((1U << kColorBits) - 1)));
}

/// The share of each pixel of a column that a line lies in, which goes from `y` − `reach` to `y` + `reach` there.
void LineDensity::cross(int x, double y, double reach, QRgb color, std::uint32_t count)
{
    const double half = std::max(0.5, reach), low = y - half, high = y + half;
    const int first = std::max(0, int(std::floor(low))), last = std::min(m_size.height() - 1, int(std::floor(high)));
    for (int at = first; at <= last; ++at) {
        const double share = std::min(high, at + 1.0) - std::max(low, double(at));
        const auto weight = std::uint32_t(share * kWhole) * count;
        Pixel &pixel = m_pixels[std::size_t(at) * std::size_t(m_size.width()) + std::size_t(x)];
        pixel.weight += weight;
        pixel.red += std::uint64_t(weight) * std::uint64_t(qRed(color));
        pixel.green += std::uint64_t(weight) * std::uint64_t(qGreen(color));
        pixel.blue += std::uint64_t(weight) * std::uint64_t(qBlue(color));
    }
}

void LineDensity::drawBetween(double left, double right)
{
    std::ranges::sort(m_lines);
    const int from = std::max(0, int(std::floor(left))), to = std::min(m_size.width(), int(std::ceil(right)));
    for (std::size_t i = 0; i < m_lines.size();) {
        const std::uint64_t line = m_lines[i];
        const std::size_t begin = i;
        while (i < m_lines.size() && m_lines[i] == line)
            ++i;
        const double start = double(line >> (kHeightBits + kColorBits)) / kPart;
        const double end = double(line >> kColorBits & kMostHeight) / kPart;
        const double slope = (end - start) / std::max(1.0, right - left);
        const auto color = QRgb(line & ((1U << kColorBits) - 1));
        for (int x = from; x < to; ++x)
            cross(x, start + slope * (x + 0.5 - left), std::abs(slope) / 2, color, std::uint32_t(i - begin));
    }
    m_lines.clear();
}

void LineDensity::paintOn(QImage &picture, double ink)
{
    const double rest = std::log2(1 - std::clamp(ink, 0.0, 0.999));
    for (int y = 0; y < m_size.height(); ++y) {
        auto *line = reinterpret_cast<QRgb *>(picture.scanLine(y));
        for (int x = 0; x < m_size.width(); ++x) {
            Pixel &pixel = m_pixels[std::size_t(y) * std::size_t(m_size.width()) + std::size_t(x)];
            if (pixel.weight == 0)
                continue;
            const double alpha = 1 - std::exp2(rest * pixel.weight / kWhole), under = 1 - alpha;
            const auto over = [&](std::uint64_t sum, int below) {
                return int(std::lround(alpha * double(sum) / pixel.weight + under * below));
            };
            const QRgb below = line[x];
            line[x] = qRgba(over(pixel.red, qRed(below)), over(pixel.green, qGreen(below)),
                over(pixel.blue, qBlue(below)), int(std::lround(255 * alpha + under * qAlpha(below))));
            pixel = {};
        }
    }
}

} // namespace trainyard
