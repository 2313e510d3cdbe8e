// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/iteration_costs/recomputed_shares.h"

namespace trainyard {

std::vector<std::vector<RecomputedShares>> recomputedShares(const Plan &plan, const Costs &costs)
{
    std::vector<std::vector<RecomputedShares>> shares;
    if (plan.memory.recompute == Recompute::None)
        return shares;
    if (costs.iteration.classes.size() != costs.stages.size())
        return shares;
    for (std::size_t c = 0; c < costs.stages.size(); ++c) {
        const Program &program = costs.iteration.classes[c].program;
        const std::vector<StageCosts> &stages = costs.stages[c];
        std::vector<RecomputedShares> &of = shares.emplace_back(stages.size());
        for (std::size_t stage = 0; stage < std::min(stages.size(), program.order.size()); ++stage) {
            std::vector<double> all(stages[stage].chunks.size()), again = all;
            for (const Op &op : program.order[stage]) {
                if (std::size_t(op.chunk) >= all.size())
                    continue;
                all[std::size_t(op.chunk)] += isForward(op.kind);
                again[std::size_t(op.chunk)] += op.recomputes || op.kind == OpKind::Recompute;
            }
            for (std::size_t chunk = 0; chunk < all.size(); ++chunk)
                of[stage].push_back(all[chunk] > 0 ? again[chunk] / all[chunk] : 1);
        }
    }
    return shares;
}

} // namespace trainyard
