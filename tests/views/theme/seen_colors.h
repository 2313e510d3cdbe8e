#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How far apart two colours look, to any eye.

#include "views/theme/theme.h"

#include <QColor>
#include <QTest>

#include <array>
#include <cmath>

namespace trainyard::test {

using Triple = std::array<double, 3>;

inline double linear(double channel)
{
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

inline Triple rgbOf(const QColor &c)
{
    return { linear(c.redF()), linear(c.greenF()), linear(c.blueF()) };
}

/// CIE L*a*b* of linear sRGB under D65 (CIE 15).
inline Triple labOf(const Triple &rgb)
{
    const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
    const double x = f((0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.95047),
                 y = f(0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]),
                 z = f((0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.08883);
    return { 116 * y - 16, 500 * (x - y), 200 * (y - z) };
}

/// Distance of two colours in L*a*b*: about 2.3 is just noticeable.
inline double distance(const Triple &a, const Triple &b)
{
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// How a colour looks to people without the cones for red or for green (Viénot, Brettel, Mollon 1999, linear RGB).
inline Triple seen(const Triple &c, bool withoutRed)
{
    if (withoutRed)
        return { 0.11238 * c[0] + 0.88762 * c[1], 0.11238 * c[0] + 0.88762 * c[1],
            0.00401 * c[0] - 0.00401 * c[1] + c[2] };
    return { 0.29275 * c[0] + 0.70725 * c[1], 0.29275 * c[0] + 0.70725 * c[1],
        -0.02234 * c[0] + 0.02234 * c[1] + c[2] };
}

/// A row of the column "kind" for each theme.
inline void addThemes()
{
    QTest::addColumn<ThemeKind>("kind");
    QTest::newRow("light") << ThemeKind::Light;
    QTest::newRow("dark") << ThemeKind::Dark;
    QTest::newRow("high contrast") << ThemeKind::HighContrast;
}

} // namespace trainyard::test
