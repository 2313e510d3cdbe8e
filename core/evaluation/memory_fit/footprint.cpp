// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/memory_fit/footprint.h"

#include <algorithm>

namespace trainyard {

Footprint footprint(const PlanPtr &plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, SearchWork *work)
{
    const auto fit = run(plan, Depth::Fit,
        { .catalogue = catalogue,
            .workspace = workspace,
            .stop = work ? work->stop : std::stop_token {},
            .work = work });
    if (!fit || !(*fit)->feasibility.isPlaced || !(*fit)->feasibility.isSharded)
        return {};
    Footprint result { true, (*fit)->feasible() };
    if (const auto &memory = (*fit)->metrics.memory) {
        const auto fullest = std::ranges::find(memory->perStage, memory->fullestStage, &StageMemory::stage);
        result.device = fullest->device;
        result.capacity = fullest->capacity;
        result.host = memory->host;
        result.hostCapacity = memory->hostCapacity;
    }
    return result;
}

Footprints::Footprints(const Catalogue &catalogue, std::int64_t mostTasks, std::stop_token stop)
    : m_catalogue(catalogue)
    , m_mostTasks(mostTasks)
    , m_work { mostTasks, std::move(stop) }
{
}

Footprint Footprints::of(const PlanPtr &plan)
{
    const auto isSame = [&](const auto &known) { return known.first == plan || *known.first == *plan; };
    if (const auto known = std::ranges::find_if(m_known, isSame); known != m_known.end())
        return known->second;
    m_known.emplace_back(plan, footprint(plan, m_catalogue, m_workspace, &m_work));
    return m_known.back().second;
}

} // namespace trainyard
