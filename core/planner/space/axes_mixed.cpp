// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

namespace trainyard::detail {

void addMixedAxes(AxisList &axes, const Scope &scope)
{
    const Heterogeneity &now = scope.plan.heterogeneity;
    if (!scope.isMixed && now == Heterogeneity {})
        return;
    axes.offer(rowOf(&Heterogeneity::compute));
    if (!scope.hasLayers)
        return;
    axes.offer(rowOf(&Heterogeneity::state), // balanced is min-params
        placesOf(now.state == StateSharing::Balanced ? StateSharing::MinParams : StateSharing::Balanced));
    axes.offer(rowOf(&Heterogeneity::layers));
    axes.offer(rowOf(&Heterogeneity::accumulation));
}

} // namespace trainyard::detail
