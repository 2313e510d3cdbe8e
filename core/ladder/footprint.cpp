// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ladder/footprint.h"

#include "core/cost/iteration_costs.h"
#include "core/memory/stage_memory.h"
#include "core/placement/place.h"
#include "core/timeline/simulator.h"

namespace trainyard {

namespace {

double share(std::int64_t device, std::int64_t capacity)
{
    return capacity > 0 ? double(device) / double(capacity) : 1e300;
}

Footprint seated(const Workload &workload, const Costs &costs)
{
    Footprint result{true, true, 0, 0};
    OffloadedMemory offloaded;
    if (!costs.offload.empty()) {   // how much is away at the peak only the timeline knows
        const auto graph = buildPipelineGraph(costs.iteration);
        SimulationWorkspace simulation;
        if (const auto timeline = graph ? simulate(*graph, simulation) : Expected<Timeline>(std::unexpected(graph.error())); timeline)
            offloaded = offloadedMemory(workload, costs, *timeline);
    }
    for (const StageMemory &stage : stageMemory(workload, costs, offloaded)) {
        result.fits = result.fits && stage.fits();
        if (result.capacity == 0 || share(stage.device, stage.capacity) > share(result.device, result.capacity)) {
            result.device = stage.device;
            result.capacity = stage.capacity;
        }
    }
    return result;
}

} // namespace

Footprint footprint(const PlanPtr &plan, const Catalogue &catalogue)
{
    Footprint best;
    auto workload = resolve(plan, catalogue);
    if (!workload)
        return best;
    for (const PlacementMode mode : candidateModes(*plan)) {
        workload->layout = place(*workload, mode);
        if (workload->layout.data == 0)
            continue;
        const auto costs = cost(*workload);
        if (!costs)
            continue;
        const Footprint other = seated(*workload, *costs);
        if (!best.isSeated || share(other.device, other.capacity) < share(best.device, best.capacity))
            best = other;
        if (best.fits)
            break;
    }
    return best;
}

} // namespace trainyard
