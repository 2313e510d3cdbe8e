// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/as_placed.h"

#include <algorithm>

namespace trainyard {

std::vector<DatacenterBlock> blocksOf(const PipelineClass &pipelines)
{
    std::vector<DatacenterBlock> blocks;
    for (const StageLocation &location : pipelines.locations) {
        if (blocks.empty() || blocks.back().datacenter != location.datacenter)
            blocks.push_back({ location.datacenter, 0 });
        ++blocks.back().stages;
    }
    return blocks;
}

void pinStages(Plan &plan, const std::vector<DatacenterBlock> &blocks)
{
    for (const DatacenterBlock &block : blocks)
        plan.placement.stages.push_back(
            { plan.cluster.datacenters[std::size_t(block.datacenter)].id, block.stages, {} });
}

Plan asPlaced(Plan plan, const Layout &layout)
{
    if (layout.data <= 0 || layout.classes.empty())
        return plan;
    plan.parallelism.data = layout.data;
    plan.placement.mode = layout.mode;
    const std::vector<DatacenterBlock> blocks = blocksOf(layout.classes.front());
    const bool isOneWay =
        std::ranges::all_of(layout.classes, [&](const PipelineClass &one) { return blocksOf(one) == blocks; });
    if (layout.mode == PlacementMode::PipelineAcross && isOneWay && plan.placement.stages.empty())
        pinStages(plan, blocks);
    return plan;
}

} // namespace trainyard
