#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The iteration in closed form, without a graph: instant screening for searches and sliders. Equations and their ranges in
// docs/model.md, "Closed forms" (GPipe exact; 1F1B within a few percent; interleaved for balanced stages). Every other
// schedule is taken for 1F1B, or for interleaved 1F1B where it has several chunks a stage: from above for those that only
// shorten the bubble (zb-*, dualpipe, dualpipev), for the rest a screening value and no bound.

#include "core/base/units.h"
#include "core/placement/resolve.h"

namespace trainyard {

struct Estimate {
    Seconds iteration;
    const char *bound = "";        // what a micro-batch more waits for: "compute", "WAN", "in flight"
};

/// `workload` needs a layout with data > 0.
[[nodiscard]] Estimate estimate(const Workload &workload);

} // namespace trainyard
