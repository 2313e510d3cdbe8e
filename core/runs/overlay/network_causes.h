#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What of a run's exchanges takes longer than it should: those of one link beside others like it, or those between
// nodes altogether beside the plan; with the durations that they would have else, for a replay.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/runs/overlay/planned_times.h"
#include "core/runs/overlay/step_replay.h"

namespace trainyard {

/// Exchanges that are slow for one reason.
struct SlowExchanges {
    /// "ranks 3 and 11 (stages 1 and 2, pipeline 4)"; "Virginia to Oregon"; of the fabric what goes over it
    std::string where;
    /// measured over usual seconds
    double ratio = 1;
    /// [work] ns, were they as fast as usual
    std::vector<std::int64_t> mended;
};

/// Links slower than others like them (the same operation, size and ranks), from 4 % and five standard errors on; those
/// between datacenters, which have no other like them, beside the plan.
[[nodiscard]] std::vector<SlowExchanges> slowLinkExchanges(
    const Run &run, const RankMap &map, const StepReplay &replay, const Evaluation &evaluation);

/// Exchanges of gradients and transfers between stages that leave the node: where all of a kind take 4 % longer than
/// the plan has them. Empty: they do not, or nothing leaves a node.
[[nodiscard]] std::optional<SlowExchanges> slowFabric(const Run &run, const RankMap &map, const StepReplay &replay,
    const Evaluation &evaluation, const PlannedTimes &planned);

} // namespace trainyard
