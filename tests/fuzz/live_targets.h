#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Live telemetry as targets: what peers send, cut anyhow, goes through its decoder into a store with tight limits; and
// the store itself, told things by bytes that are a script.

#include "tests/fuzz/targets.h"

namespace trainyard::fuzz {

[[nodiscard]] std::vector<Target> liveTargets();

} // namespace trainyard::fuzz
