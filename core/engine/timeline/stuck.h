#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Why an event loop stopped before everything had run.

#include "core/engine/timeline/simulator.h"

namespace trainyard {

/// The first task that waits for another which never runs, or a flow without bandwidth.
[[nodiscard]] Error stuckError(const TaskGraph &graph, const SimulationWorkspace &workspace);

} // namespace trainyard
