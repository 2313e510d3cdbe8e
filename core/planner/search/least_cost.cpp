// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/least_cost.h"

#include "core/evaluation/evaluate/metrics/chip_power.h"
#include "core/facts/cluster/pool_gpu.h"

#include <algorithm>

namespace trainyard {

LeastCost::LeastCost(const Plan &plan, const Catalogue &catalogue, const std::vector<std::string> &datacenters)
{
    std::vector<std::pair<double, int>> usd, kilowatts;
    m_isExact = true;
    for (const Datacenter &datacenter : plan.cluster.datacenters) {
        if (!datacenters.empty() && std::ranges::find(datacenters, datacenter.id) == datacenters.end())
            continue;
        for (const Pool &pool : datacenter.pools) {
            const GpuSpec *gpu = gpuOf(pool, catalogue);
            if (!gpu || pool.gpus() == 0)
                continue;
            const double waiting = chipKilowatts(*gpu, 1, 1, 0);
            const double price = pool.usdPerGpuHour.value_or(gpu->usdPerHour);
            usd.emplace_back(price > 0 ? price : waiting * datacenter.usdPerKwh.value_or(0), pool.gpus());
            m_perNode = kilowatts.empty() ? std::max(1, pool.gpusPerNode) : m_perNode;
            m_isExact &= price > 0 && usd.back().first == usd.front().first && m_perNode == pool.gpusPerNode;
            kilowatts.emplace_back(waiting, pool.gpus());
        }
    }
    m_usd = stepsOf(std::move(usd));
    m_kilowatts = stepsOf(std::move(kilowatts));
}

std::vector<LeastCost::Step> LeastCost::stepsOf(std::vector<std::pair<double, int>> pools)
{
    std::ranges::sort(pools);
    std::vector<Step> steps;
    Step at;
    for (const auto &[each, gpus] : pools) {
        at.next = each;
        steps.push_back(at);
        at.gpus += gpus;
        at.sum += each * gpus;
    }
    at.next = 0;
    steps.push_back(at);
    return steps;
}

/// Of more GPUs the sum is no smaller, and the mean of those that draw least neither.
double LeastCost::joules(int gpus, double seconds, double computing) const
{
    const double overIdle = 1 / builtinPower().idleShare - 1;
    return least(m_kilowatts, gpus) * 1e3 * (seconds + overIdle * computing / std::max(gpus, 1));
}

double LeastCost::least(const std::vector<Step> &steps, int gpus)
{
    const auto behind = std::ranges::upper_bound(steps, std::max(gpus, 0), {}, &Step::gpus);
    const Step &step = *std::prev(behind);
    return step.sum + (gpus - step.gpus) * step.next;
}

} // namespace trainyard
