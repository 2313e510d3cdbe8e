// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

namespace trainyard::detail {

void addMixedAxes(AxisList &axes, const Scope &scope)
{
    const Heterogeneity &now = scope.plan.heterogeneity;
    if (!scope.isMixed && now == Heterogeneity {})
        return;
    axes.addChoices("share_work", "heterogeneity.compute", "Sharing of work", now.compute,
        [](Plan &p, ComputeSharing c) { p.heterogeneity.compute = c; });
    if (!scope.hasLayers)
        return;
    std::set<StateSharing> same { StateSharing::Balanced }; // is min-params
    if (now.state == StateSharing::Balanced)
        same = { StateSharing::MinParams };
    axes.addChoices(
        "share_states", "heterogeneity.state", "Sharing of states", now.state,
        [](Plan &p, StateSharing s) { p.heterogeneity.state = s; }, same);
    axes.addChoices("share_layers", "heterogeneity.layers", "Sharing of layers", now.layers,
        [](Plan &p, LayerSharing l) { p.heterogeneity.layers = l; });
    axes.addChoices("accumulation", "heterogeneity.accumulation", "Gradient accumulation", now.accumulation,
        [](Plan &p, Accumulation a) { p.heterogeneity.accumulation = a; });
}

} // namespace trainyard::detail
