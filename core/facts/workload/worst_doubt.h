#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which of several doubts is told where there is room for one. Pure function.

#include "core/facts/workload/doubt.h"

namespace trainyard {

/// The first that forbids to compute anything, else the first; null where there is none.
[[nodiscard]] const Doubt *worstDoubt(const Doubts &doubts);

} // namespace trainyard
