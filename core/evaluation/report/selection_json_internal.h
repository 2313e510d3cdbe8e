#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The datacenter selection as a part of other JSON of this folder.

#include "core/evaluation/report/json_internal.h"
#include "core/evaluation/selection/selection.h"

namespace trainyard {

/// Null where there is nothing to select.
[[nodiscard]] Json selectionObject(const Selection &selection);

} // namespace trainyard
