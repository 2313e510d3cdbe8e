#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a share of nothing is written where 0 stands for an even one.

namespace trainyard {

inline constexpr double kNoStates = 1e-30;

} // namespace trainyard
