#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Shades of a colour, one a pipeline, so that turns on a shared channel stay apart: light and dark alternate, for every
// eye and in grey print. Pure functions.

#include <QColor>

namespace trainyard {

/// Of the n-th pipeline of a cell; they repeat after kTurnShades.
[[nodiscard]] QColor turnShade(const QColor &base, int lane);
inline constexpr int kTurnShades = 6;
/// Black or white, whichever reads better on a fill.
[[nodiscard]] QColor inkOn(const QColor &fill);

} // namespace trainyard
