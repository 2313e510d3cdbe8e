#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who waits for another datacenter: the receives of a stage from there, less what its GPUs compute meanwhile.

#include "core/live/alarms/step_facts.h"

namespace trainyard::watch {

/// By datacenters and receiving stage, mean over the recorded ranks of the stage that receive anything.
[[nodiscard]] std::vector<LinkWait> linkWaitsOf(const WatchedPlan &watched, const RunStep &step);

} // namespace trainyard::watch
