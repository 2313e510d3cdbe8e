// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

namespace trainyard::detail {

void addExpertAxes(AxisList &axes, const Scope &scope)
{
    if (!scope.hasLayers || !scope.model->isMoe())
        return;
    const MoeStrategy &moe = scope.plan.moe;
    std::set<MoeDispatch> without;
    if (scope.model->expertsPerToken == 1) // no copy is sent twice
        without = { MoeDispatch::RankDedup, MoeDispatch::Dedup };
    axes.addChoices(
        "dispatch", "moe.dispatch", "Expert dispatch", moe.dispatch, [](Plan &p, MoeDispatch d) { p.moe.dispatch = d; },
        without);
    axes.addChoices("expert_overlap", "moe.expert_overlap", "Expert overlap", moe.expertOverlap,
        [](Plan &p, ExpertOverlap o) { p.moe.expertOverlap = o; });
    if (scope.model->sharedExpertFfn > 0)
        axes.addSwitch("shared_expert_overlap", "moe.shared_expert_overlap", "Shared experts beside",
            moe.sharedExpertOverlap, [](Plan &p, bool on) { p.moe.sharedExpertOverlap = on; });
}

} // namespace trainyard::detail
