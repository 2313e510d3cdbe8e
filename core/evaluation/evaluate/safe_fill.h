#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How full a GPU may be.

namespace trainyard {

/// A GPU that is fuller than this is likely to run out of memory: allocations vary from step to step.
inline constexpr double kSafeFill = 0.95;

} // namespace trainyard
