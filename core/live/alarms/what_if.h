#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Questions that a run under way raises, as plans: what if the link stays as it is now, what if it or a node is lost,
// should we move, and when would moving pay. Each is the plan with measured figures or without the lost part, to be
// evaluated like any other; nothing is simulated here.

#include "core/live/alarms/watchman.h"

#include <optional>

namespace trainyard::watch {

enum class WhatIfKind : std::uint8_t {
    /// the plan with everything measured: links, slow ranks; what "predicted" would be if the run stays so
    AsItIs,
    /// one link at its measured rate and latency for the rest of the run
    LinkStays,
    /// no traffic over it: the placement has to do without
    LinkLost,
    /// one node less in a pool
    NodeLost,
    DatacenterLost,
    /// other placements of the same GPUs on the cluster as it is measured now
    MoveNow
};

struct WhatIf {
    WhatIfKind kind = WhatIfKind::AsItIs;
    /// "What if Oregon's link stays like this?"
    std::string question;
    /// what the plan says then, in words: "Oregon–Ohio 3.1 instead of 5 Gbps a node pair, RTT 61 ms"
    std::string change;
    /// null: it cannot be asked
    PlanPtr plan;
    /// why not, one sentence; else what is assumed
    std::string why;
    /// of the plan's cluster, that it is about
    int datacenter = -1, otherDatacenter = -1;
    /// Of a plan that is another placement: seconds that restarting takes (checkpoint, start, loading), as assumed; 0:
    /// nothing has to restart.
    double switchSeconds = 0;
};

/// All that can be asked now, the likeliest first: what alarms are about, then losses of each link, node pool and
/// datacenter in use. `rates`: of the latest steps. Deterministic.
[[nodiscard]] std::vector<WhatIf> whatIfs(
    const Evaluation &evaluation, const std::vector<LinkRate> &rates, const std::vector<Alarm> &alarms);

/// What an answer is worth against staying as it is.
struct WhatIfAnswer {
    /// with the change
    double secondsPerStep = 0, usdPerStep = 0;
    /// a step of AsItIs
    double stayingSeconds = 0;
    /// Steps after which a move has paid for its restart; empty: it never does, or nothing restarts.
    std::optional<std::int64_t> paysAfterSteps;
    /// "Moving pays after 1,900 steps (5.2 h)", "The step takes 12.4 s instead of 11.9 s"
    std::string sentence;
};
[[nodiscard]] WhatIfAnswer answerOf(const WhatIf &asked, const Evaluation &staying, const Evaluation &changed);

} // namespace trainyard::watch
