// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/turn_colors.h"

#include <array>

namespace trainyard {

namespace {

QColor mixed(const QColor &a, const QColor &b, double share)
{
    const auto channel = [share](int x, int y) { return qRound(x + (y - x) * share); };
    return { channel(a.red(), b.red()), channel(a.green(), b.green()), channel(a.blue(), b.blue()) };
}

} // namespace

QColor turnShade(const QColor &base, int lane)
{
    // Above 0 towards white, below towards black: neighbours in a round differ most.
    static constexpr std::array<double, kTurnShades> kShades { 0, 0.5, -0.35, 0.25, -0.55, 0.7 };
    const double shade = kShades[std::size_t(lane < 0 ? 0 : lane % kTurnShades)];
    return mixed(base, shade > 0 ? Qt::white : Qt::black, shade > 0 ? shade : -shade);
}

QColor inkOn(const QColor &fill)
{
    return qGray(fill.rgb()) > 128 ? QColor(0x10, 0x12, 0x16) : QColor(Qt::white);
}

} // namespace trainyard
