// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/job_shards/job_places.h"

#include "core/base/words.h"
#include "core/facts/plan/job_schedulers.h"
#include "core/iteration/cost/layer/layer_cost.h"
#include "core/iteration/job_shards/shard_model.h"
#include "core/iteration/model_states/states_off_gpu.h"

#include <algorithm>
#include <limits>
#include <map>

namespace trainyard {

namespace {

constexpr double kGib = 0x1p30;
constexpr double kMostWays = 4e7; // from a host to a GPU, each of which takes four bytes

double fabricRate(const Requested &workload, StageLocation at) // of one GPU's share of the NICs
{
    const Link link = locationFabric(workload, at);
    return link.bandwidth.value * link.kind->fraction;
}

int indexOf(std::vector<JobRoute> &routes, JobRoute route)
{
    const auto index = std::ranges::find(routes, route) - routes.begin();
    if (std::size_t(index) == routes.size())
        routes.push_back(std::move(route));
    return int(index);
}

class Places {
public:
    Places(JobWorkloads &jobs, const Requested &workload)
        : m_jobs(jobs)
        , m_set(jobs.set)
        , m_work(workload)
    {
    }

    Expected<std::vector<StageLocation>> add()
    {
        const auto &datacenters = m_work.plan->cluster.datacenters;
        double nodes = 0;
        for (const Datacenter &datacenter : datacenters)
            for (const Pool &pool : datacenter.pools)
                nodes += pool.nodes;
        const bool hasWays = isByShards(m_jobs.plan->jobScheduler); // GPUs that hold whole jobs need none
        if (hasWays && nodes * m_work.plan->cluster.gpus() > kMostWays)
            return std::unexpected(
                Error { ErrorCode::OutOfRange, "cluster", "too many ways from hosts to GPUs to look at all of them",
                    "at most " + plainNumber(kMostWays) + " for nodes x GPUs" });
        for (std::size_t d = 0; d < datacenters.size(); ++d)
            for (std::size_t p = 0; p < datacenters[d].pools.size(); ++p)
                addPool({ int(d), int(p) });
        if (!hasWays)
            return std::move(m_kinds);
        m_set.routeOf.assign(m_set.nodes.size(), std::vector<int>(m_set.gpus.size(), -1));
        for (std::size_t gpu = 0; gpu < m_set.gpus.size(); ++gpu)
            addOwnWay(gpu);
        return std::move(m_kinds);
    }

private:
    int kindOf(StageLocation at)
    {
        const auto isLike = [&](StageLocation known) { return m_work.gpu(known) == m_work.gpu(at); };
        const auto kind = std::ranges::find_if(m_kinds, isLike) - m_kinds.begin();
        if (std::size_t(kind) == m_kinds.size())
            m_kinds.push_back(at);
        return int(kind);
    }

    void addPool(StageLocation at)
    {
        const Pool &pool = m_work.pool(at);
        if (pool.gpus() < 1)
            return;
        const int kind = kindOf(at);
        const double memory = pool.host ? std::max(0.0, pool.host->memoryGib) * kGib : 0;
        for (int node = 0; node < pool.nodes; ++node) {
            const int number = int(m_set.nodes.size());
            m_set.gpus.insert(
                m_set.gpus.end(), std::size_t(pool.gpusPerNode), { kind, number, roomForUnits(m_work, at) });
            m_jobs.gpus.insert(m_jobs.gpus.end(), std::size_t(pool.gpusPerNode), at);
            m_set.nodes.push_back({ number, memory > 0 ? memory : std::numeric_limits<double>::infinity() });
            m_jobs.nodes.push_back({ at.datacenter, at.pool, node, memory });
        }
    }

    void addOwnWay(std::size_t gpu)
    {
        const double rate = hostRates(m_work, m_jobs.gpus[gpu]).own;
        if (rate > 0)
            m_set.routeOf[std::size_t(m_set.gpus[gpu].node)][gpu] = indexOf(m_set.routes, { rate, rate, {}, {} });
    }

    JobWorkloads &m_jobs;
    JobSet &m_set;
    const Requested &m_work;
    std::vector<StageLocation> m_kinds;
};

/// The ways of a datacenter's GPUs to one of its hosts.
class FabricWays {
public:
    FabricWays(JobWorkloads &jobs, const Requested &workload, int datacenter)
        : m_jobs(jobs)
        , m_work(workload)
        , m_datacenter(datacenter)
    {
        const auto &pools = workload.plan->cluster.datacenters[std::size_t(datacenter)].pools;
        for (std::size_t p = 0; p < pools.size(); ++p) {
            m_rates.push_back(pools[p].gpus() > 0 ? hostRates(workload, { datacenter, int(p) }).other : 0);
            m_wanted += m_rates.back() * pools[p].gpus();
        }
    }

    void addTo(std::size_t node)
    {
        JobSet &set = m_jobs.set;
        const StageLocation host { m_datacenter, m_jobs.nodes[node].pool };
        const int own = m_work.pool(host).gpusPerNode;
        const double nics = fabricRate(m_work, host) * own;
        // What all GPUs of other nodes could take of it at once
        const bool binds = m_wanted - m_rates[std::size_t(host.pool)] * own > nics * (1 + 1e-9);
        const auto out = std::uint32_t(set.links.size());
        if (binds)
            set.links.insert(set.links.end(), { nics, nics });
        std::map<int, int> known; // [pool]
        for (std::size_t gpu = 0; gpu < set.gpus.size(); ++gpu) {
            const StageLocation at = m_jobs.gpus[gpu];
            if (at.datacenter != m_datacenter || set.gpus[gpu].node == int(node))
                continue;
            const double rate = std::min(m_rates[std::size_t(at.pool)], nics);
            const auto [way, isNew] = known.try_emplace(at.pool, -1);
            if (isNew && rate > 0)
                way->second = indexOf(set.routes,
                    binds ? JobRoute { rate, rate, { out }, { out + 1 } } : JobRoute { rate, rate, {}, {} });
            set.routeOf[node][gpu] = way->second;
        }
    }

private:
    JobWorkloads &m_jobs;
    const Requested &m_work;
    int m_datacenter;
    std::vector<double> m_rates; // [pool]
    double m_wanted = 0;
};

} // namespace

HostRates hostRates(const Requested &workload, StageLocation at)
{
    const StateRates rates = stateRates(workload, at);
    const double own = std::min(rates.toGpu.value, rates.toHost.value);
    return { own, std::min(own, fabricRate(workload, at)) };
}

double fabricWay(const Requested &workload, StageLocation host, StageLocation gpu)
{
    return std::min(hostRates(workload, gpu).other, fabricRate(workload, host) * workload.pool(host).gpusPerNode);
}

Expected<std::vector<StageLocation>> addPlaces(JobWorkloads &jobs, const Requested &workload)
{
    return Places(jobs, workload).add();
}

void joinNodes(JobWorkloads &jobs, const Requested &workload, int datacenter)
{
    FabricWays ways(jobs, workload, datacenter);
    int site = -1;
    for (std::size_t node = 0; node < jobs.nodes.size(); ++node) {
        if (jobs.nodes[node].datacenter != datacenter)
            continue;
        site = site < 0 ? jobs.set.nodes[node].site : site;
        jobs.set.nodes[node].site = site;
        ways.addTo(node);
    }
}

} // namespace trainyard
