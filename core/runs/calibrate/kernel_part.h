#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which kind of computing a kernel is, by its name: libraries of matrix products and of attention name theirs after
// what they do; all others move memory.

#include "core/facts/plan/calibration.h"

#include <string_view>

namespace trainyard {

/// Products, Attention or Memory.
[[nodiscard]] CalibratedPart kernelPartOf(std::string_view name);

} // namespace trainyard
