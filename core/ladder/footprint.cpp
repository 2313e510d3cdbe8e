// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ladder/footprint.h"

#include "core/cost/iteration_costs.h"
#include "core/cost/placements.h"
#include "core/cost/task_count.h"
#include "core/memory/off_gpu.h"
#include "core/memory/stage_memory.h"
#include "core/placement/location_book.h"
#include "core/placement/shard_exchange.h"
#include "core/timeline/simulator.h"

#include <algorithm>
#include <optional>

namespace trainyard {

namespace {

constexpr int kMostPlacements = 4;     // of either way across: those of the least bounds

void addHost(Footprint &result, const Workload &workload, const std::vector<StageMemory> &stages)
{
    for (const HostMemory &node : hostMemory(workload, stages)) {
        result.fits = result.fits && node.fits();
        if (node.isStated() && node.total() / node.capacity > result.hostFill()) {
            result.host = wholeBytes(node.total());
            result.hostCapacity = wholeBytes(node.capacity);
        }
    }
    result.fits = result.fits && !lacksDrives(workload);
}

Footprint placed(const Workload &workload, Costs costs, const std::stop_token &stop)
{
    Footprint result{true, true};
    std::optional<Timeline> ran;
    if (!costs.offload.empty()) {   // how much is away at the peak only the timeline knows
        const auto graph = buildPipelineGraph(costs.iteration);
        SimulationWorkspace simulation;
        if (auto timeline = graph ? simulate(*graph, simulation, stop) : Expected<Timeline>(std::unexpected(graph.error())); timeline) {
            recordExecutedOrder(costs.iteration, *timeline);
            ran = std::move(*timeline);
        }
    }
    if (!costs.offload.empty() && !ran)
        return {};
    const Timeline *timeline = ran ? &*ran : nullptr;
    LiveMemory live = liveMemory(costs, timeline, false);
    const std::vector<StageMemory> stages = stageMemory(workload, costs, live, timeline);
    for (const StageMemory &stage : stages) {
        result.fits = result.fits && stage.fits();
        const Footprint ofStage{true, stage.fits(), stage.device, stage.capacity};
        if (result.capacity == 0 || ofStage.fill() > result.fill()) {
            result.device = stage.device;
            result.capacity = stage.capacity;
        }
    }
    addHost(result, workload, stages);
    return result;
}

} // namespace

bool SearchWork::take(std::int64_t tasks)
{
    if (tasks > tasksLeft) {
        isCut = true;
        return false;
    }
    tasksLeft -= tasks;
    return true;
}

Footprint footprint(const PlanPtr &plan, const Catalogue &catalogue, SearchWork *work)
{
    Footprint best;
    auto workload = resolve(plan, catalogue);
    if (!workload || refusesSharding(*plan, workload->stack))
        return best;
    for (PlacedLayout &placement : placements(*workload, kMostPlacements).found) {
        if (work && work->stop.stop_requested())
            break;
        workload->layout = std::move(placement.layout);
        if (!hasRunnableShape(*workload) || (work && !work->take(simulatedTasks(*workload))))
            continue;
        auto costs = cost(*workload, work ? work->stop : std::stop_token{});
        if (!costs)
            continue;
        const Footprint other = placed(*workload, std::move(*costs), work ? work->stop : std::stop_token{});
        if (!best.isPlaced || other.need() < best.need())
            best = other;
        if (best.fits)
            break;
    }
    return best;
}

Footprints::Footprints(const Catalogue &catalogue, std::int64_t mostTasks, std::stop_token stop)
    : m_catalogue(catalogue), m_mostTasks(mostTasks), m_work{mostTasks, std::move(stop)}
{
}

Footprint Footprints::of(const PlanPtr &plan)
{
    const auto isSame = [&](const auto &known) { return known.first == plan || *known.first == *plan; };
    if (const auto known = std::ranges::find_if(m_known, isSame); known != m_known.end())
        return known->second;
    m_known.emplace_back(plan, footprint(plan, m_catalogue, &m_work));
    return m_known.back().second;
}

} // namespace trainyard
