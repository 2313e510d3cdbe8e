// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

namespace trainyard::detail {

void addExpertAxes(AxisList &axes, const Scope &scope)
{
    if (!scope.hasLayers || !scope.model->isMoe())
        return;
    const bool isSentOnce = scope.model->expertsPerToken == 1; // no copy is sent twice
    axes.offer(rowOf(&MoeStrategy::dispatch),
        isSentOnce ? placesOf(MoeDispatch::RankDedup, MoeDispatch::Dedup) : std::set<KeyValue> {});
    axes.offer(rowOf(&MoeStrategy::expertOverlap));
    if (scope.model->sharedExpertFfn > 0)
        axes.offer(rowOf(&MoeStrategy::sharedExpertOverlap));
}

} // namespace trainyard::detail
