// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/stage_ramp.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

/// CIE L*a*b* (D65). Hues that say neither good nor bad, of little chroma; the supports were searched among these for
/// the widest distance to all colours of kinds of work.
struct Lab {
    double l, a, b;
};
using Ramp = std::array<Lab, 4>;
constexpr Ramp kOnLight { { { 22, 5, -26 }, { 39, 19, -3 }, { 57, 11, 19 }, { 79, -4, 29 } } };
constexpr Ramp kOnDark { { { 42, 20, -3 }, { 58, 13, 15 }, { 78, 2, 24 }, { 91, 0, -10 } } };

double cubed(double t)
{
    return t > 6.0 / 29 ? t * t * t : (t - 16.0 / 116) / 7.787;
}
double companded(double linear)
{
    const double x = std::clamp(linear, 0.0, 1.0);
    return x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
}

/// The inverse of the L*a*b* transform, then the matrix and transfer curve of sRGB (IEC 61966-2-1).
QColor colourOf(const Lab &lab)
{
    const double fy = (lab.l + 16) / 116;
    const double x = cubed(fy + lab.a / 500) * 0.95047, y = cubed(fy), z = cubed(fy - lab.b / 200) * 1.08883;
    return QColor::fromRgbF(float(companded(3.2406 * x - 1.5372 * y - 0.4986 * z)),
        float(companded(-0.9689 * x + 1.8758 * y + 0.0415 * z)),
        float(companded(0.0557 * x - 0.2040 * y + 1.0570 * z)));
}

} // namespace

QColor stageColour(int stage, int stages, bool isDark)
{
    const Ramp &ramp = isDark ? kOnDark : kOnLight;
    const double along =
        (stages > 1 ? std::clamp(double(stage) / (stages - 1), 0.0, 1.0) : 0.5) * double(ramp.size() - 1);
    const auto first = std::min(std::size_t(along), ramp.size() - 2);
    const double share = along - double(first);
    const auto mix = [share](double from, double to) { return from + (to - from) * share; };
    const Lab &from = ramp[first], &to = ramp[first + 1];
    return colourOf({ mix(from.l, to.l), mix(from.a, to.a), mix(from.b, to.b) });
}

} // namespace trainyard
