#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The datacenter selection for people at a terminal: ranked options, those that are not feasible last and marked, who
// is left out, what does not help and why.

#include "core/evaluation/selection/selection.h"

#include <string>

namespace trainyard {

/// "214 placements of contiguous stages looked at, 17 simulated: …", and whether others may still be better.
[[nodiscard]] std::string searchText(const Selection &selection);
[[nodiscard]] std::string selectionTable(const Selection &selection);

} // namespace trainyard
