// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/cells.h"

#include "core/cost/stage_coster.h"
#include "core/cost/wan_traffic.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

bool crosses(const PipelineClass &pipelines, std::size_t stage)
{
    return pipelines.seats[stage].datacenter != pipelines.seats[stage + 1].datacenter;
}

/// Of one class: C, or 0.
double ratioOf(const Workload &workload, const PipelineClass &pipelines, StageCoster &coster)
{
    std::vector<WanLinkUse> ignored(workload.plan->cluster.wanLinks.size());
    double slowestHop = 0, slowestForward = 0;
    for (std::size_t stage = 0; stage < pipelines.seats.size(); ++stage) {
        slowestForward = std::max(slowestForward, coster.wholeStage(pipelines, int(stage)).chunks.front().forward.total().value);
        if (stage + 1 < pipelines.seats.size() && crosses(pipelines, stage)) {
            const BoundaryTimes boundary = boundaryTimes(workload, pipelines, int(stage), int(stage) + 1, coster.site(pipelines, int(stage)), ignored);
            slowestHop = std::max({slowestHop, toSeconds(boundary.hold[0]).value, toSeconds(boundary.hold[1]).value});
        }
    }
    return slowestForward > 0 ? slowestHop / slowestForward : 0;
}

/// Nodes that one stage of the class has beyond a boundary, at least: no more pipelines can be on different ones.
int nodesAtCrossings(const Workload &workload, const PipelineClass &pipelines)
{
    int nodes = pipelines.pipelines;
    for (std::size_t stage = 0; stage + 1 < pipelines.seats.size(); ++stage)
        for (const StageSeat seat : {pipelines.seats[stage], pipelines.seats[stage + 1]})
            if (crosses(pipelines, stage))
                nodes = std::min(nodes, std::max(1, pipelines.pipelines / pipelinesPerNode(workload, seat)));
    return nodes;
}

/// Lanes of `cells` equal cells of `size` pipelines, which follow each other from `first` on. Lane k has every size-th block,
/// so that the members of a cell lie as far from each other as they can.
void addLanes(std::vector<PipelineClass> &lanes, const PipelineClass &of, int first, int size, int cells)
{
    for (int k = 0; cells > 0 && k < size; ++k) {
        PipelineClass &lane = lanes.emplace_back(of);
        lane.firstPipeline = first + k * cells;
        lane.pipelines = cells;
        lane.lane = k;
        lane.lanes = size;
    }
}

} // namespace

double wanToForwardRatio(const Workload &workload)
{
    StageCoster coster(workload);
    double ratio = 0;
    for (const PipelineClass &pipelines : workload.layout.classes)
        ratio = std::max(ratio, ratioOf(workload, pipelines, coster));
    return ratio;
}

void formCells(Workload &workload)
{
    const WanStrategy &wan = workload.plan->wan;
    if (wan.sharing != WanSharing::Temporal || workload.layout.data == 0)
        return;
    CellSize cell;
    cell.ratio = wanToForwardRatio(workload);
    if (cell.ratio <= 0)
        return;
    cell.wanted = wan.cell.value_or(int(std::clamp(std::round(cell.ratio), 1.0, double(workload.layout.data))));
    std::vector<PipelineClass> lanes;
    for (const PipelineClass &pipelines : workload.layout.classes) {
        const int size = std::clamp(nodesAtCrossings(workload, pipelines), 1, std::min(cell.wanted, pipelines.pipelines));
        const int cells = pipelines.pipelines / size, rest = pipelines.pipelines % size;
        addLanes(lanes, pipelines, pipelines.firstPipeline, size, cells);
        addLanes(lanes, pipelines, pipelines.firstPipeline + size * cells, rest, rest > 0 ? 1 : 0);
        cell.reached = std::max(cell.reached, size);
    }
    workload.layout.classes = std::move(lanes);
    workload.layout.cell = cell;
}

} // namespace trainyard
