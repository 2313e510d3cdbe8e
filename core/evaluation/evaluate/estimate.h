#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The iteration of a workload in closed form, without a graph: instant screening for searches and sliders. The formulas
// are those of closed_forms.h, filled with the costs of the slowest pipelines, and the tail that nothing hides.
// Schedules without a form of their own take that of 1F1B, or of interleaved 1F1B where they have several chunks a
// stage: from above for those that only shorten the bubble (zb-*, dualpipe, dualpipev), for the rest a screening value
// and no bound.

#include "core/base/units.h"
#include "core/engine/schedule/closed_forms.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

struct Estimate {
    Seconds iteration;
    /// what a micro-batch more waits for
    Bound bound = Bound::Compute;
};

/// `workload` needs a layout with data > 0, with its DP-cells formed (layouts/cells.h) where the plan shares the WAN in
/// turns.
[[nodiscard]] Estimate estimate(const Workload &workload);

/// Places the workload by the least bound, and adds the most memory that its schedule may take and the verdict:
/// Depth::Estimate of run(). The layout goes into the evaluation.
[[nodiscard]] Evaluation placedEstimate(const Requested &asked);
/// Its seconds alone, for whoever has placed the workload so: 0 where it has no shape that runs.
[[nodiscard]] double estimatedSeconds(const Workload &workload);

} // namespace trainyard
