// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

namespace trainyard::detail {

namespace {

std::string plainText(const KeyRow &row, KeyValue number)
{
    return row.fileText(number);
}

} // namespace

void addWanAxes(AxisList &axes, const Scope &scope)
{
    if (scope.datacenters < 2 || scope.plan.cluster.wanLinks.empty())
        return;
    const KeyRow &cell = rowOf(&WanStrategy::cell);
    axes.offer(rowOf(&WanStrategy::sharing));
    axes.addValues(cell, cell.tried(), plainText);
    axes.addValues(rowOf(&WanStrategy::tcpConnections), { KeyValue() });
    axes.offer(rowOf(&WanStrategy::allReduce));
    if (std::ranges::any_of(scope.plan.cluster.wanLinks, [](const WanLink &link) { return link.lossRate > 0; }))
        axes.offer(rowOf(&WanStrategy::congestion));
}

} // namespace trainyard::detail
