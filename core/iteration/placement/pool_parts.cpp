// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/pool_parts.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

bool hasOwnDegrees(const Plan &plan)
{
    return std::ranges::any_of(plan.heterogeneity.assign,
        [&](const RankPin &pin) { return pin.tensor && *pin.tensor != plan.parallelism.tensor; });
}

/// Deals each pool's GPUs to the pins that are about it.
class Cutting {
public:
    explicit Cutting(const Plan &plan)
        : m_plan(plan)
    {
        for (const RankPin &pin : plan.heterogeneity.assign)
            m_left.push_back(pin.gpus.value_or(std::numeric_limits<int>::max()));
    }

    std::vector<PoolPart> run()
    {
        const auto &datacenters = m_plan.cluster.datacenters;
        for (std::size_t d = 0; d < datacenters.size(); ++d)
            for (std::size_t p = 0; p < datacenters[d].pools.size(); ++p)
                cut({ int(d), int(p) });
        return std::move(m_parts);
    }

private:
    void cut(StageLocation at)
    {
        const Datacenter &datacenter = m_plan.cluster.datacenters[std::size_t(at.datacenter)];
        const Pool &pool = datacenter.pools[std::size_t(at.pool)];
        const auto &assign = m_plan.heterogeneity.assign;
        int first = 0;
        for (std::size_t p = 0; p < assign.size() && first < pool.gpus(); ++p) {
            if (assign[p].datacenter != datacenter.id || !assign[p].isAbout(pool))
                continue;
            const int taken = std::min(m_left[p], pool.gpus() - first);
            if (taken == 0)
                continue;
            if (assign[p].gpus)
                m_left[p] -= taken;
            add(at, assign[p].tensor.value_or(m_plan.parallelism.tensor), { first, taken },
                assign[p].tensor.has_value());
            first += taken;
        }
        if (first < pool.gpus() || pool.gpus() == 0)
            add(at, m_plan.parallelism.tensor, { first, pool.gpus() - first }, false);
    }

    struct Gpus {
        int first = 0, count = 0;
    };
    void add(StageLocation at, int tensor, Gpus gpus, bool isPinned)
    {
        at.tensor = tensor;
        if (!m_parts.empty() && m_parts.back().at == at) {
            m_parts.back().gpus += gpus.count;
            m_parts.back().isPinned |= isPinned;
        } else {
            m_parts.push_back({ at, tensor, gpus.first, gpus.count, isPinned });
        }
    }

    const Plan &m_plan;
    std::vector<int> m_left; // GPUs of each pin
    std::vector<PoolPart> m_parts;
};

} // namespace

std::vector<PoolPart> poolParts(const Plan &plan)
{
    if (hasOwnDegrees(plan))
        return Cutting(plan).run();
    std::vector<PoolPart> parts;
    const auto &datacenters = plan.cluster.datacenters;
    std::size_t pools = 0;
    for (const Datacenter &datacenter : datacenters)
        pools += datacenter.pools.size();
    parts.reserve(pools);
    for (std::size_t d = 0; d < datacenters.size(); ++d)
        for (std::size_t p = 0; p < datacenters[d].pools.size(); ++p)
            parts.push_back({ { int(d), int(p) }, plan.parallelism.tensor, 0, datacenters[d].pools[p].gpus(), false });
    return parts;
}

} // namespace trainyard
