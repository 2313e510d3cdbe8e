// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/shards/job_places.h"

#include "core/base/words.h"
#include "core/cost/layer/layer_cost.h"
#include "core/shards/shard_model.h"
#include "core/states/states_off_gpu.h"

#include <algorithm>
#include <limits>
#include <map>

namespace trainyard {

namespace {

constexpr double kGib = 0x1p30;
constexpr double kMostWays = 4e6; // from a host to a GPU

class Places {
public:
    Places(JobWorkloads &jobs, const Workload &workload)
        : m_jobs(jobs)
        , m_set(jobs.set)
        , m_work(workload)
    {
    }

    Expected<std::vector<StageLocation>> add()
    {
        const auto &datacenters = m_work.plan->cluster.datacenters;
        double ways = 0, gpus = m_work.plan->cluster.gpus();
        for (const Datacenter &datacenter : datacenters)
            for (const Pool &pool : datacenter.pools)
                ways += double(pool.nodes) * gpus;
        if (ways > kMostWays)
            return std::unexpected(Error { ErrorCode::OutOfRange, "cluster",
                "every host may serve every GPU, which are " + plainNumber(ways) + " ways between them",
                "at most " + plainNumber(kMostWays) + " for a plan with jobs" });
        for (std::size_t d = 0; d < datacenters.size(); ++d)
            for (std::size_t p = 0; p < datacenters[d].pools.size(); ++p)
                addPool({ int(d), int(p) });
        for (std::size_t node = 0; node < m_set.nodes.size(); ++node)
            addWaysOf(node);
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
            for (int gpu = 0; gpu < pool.gpusPerNode; ++gpu) {
                m_set.gpus.push_back({ kind, int(m_set.nodes.size()), roomForUnits(m_work, at) });
                m_jobs.gpus.push_back(at);
            }
            m_set.nodes.push_back({ at.datacenter, memory > 0 ? memory : std::numeric_limits<double>::infinity() });
            m_jobs.nodes.push_back({ at.datacenter, at.pool, node, memory });
        }
    }

    [[nodiscard]] double fabricRate(StageLocation at) const // of one GPU's share of the NICs
    {
        const Link link = locationFabric(m_work, at);
        return link.bandwidth.value * link.kind->fraction;
    }

    [[nodiscard]] double remoteRate(StageLocation at) const
    {
        return std::min(stateRates(m_work, at).toGpu.value, fabricRate(at));
    }

    /// What all GPUs of other nodes could take of a host at once.
    [[nodiscard]] double wantedFrom(StageLocation host) const
    {
        double wanted = -remoteRate(host) * m_work.pool(host).gpusPerNode;
        const auto &pools = m_work.plan->cluster.datacenters[std::size_t(host.datacenter)].pools;
        for (std::size_t p = 0; p < pools.size(); ++p)
            if (pools[p].gpus() > 0)
                wanted += remoteRate({ host.datacenter, int(p) }) * pools[p].gpus();
        return wanted;
    }

    int route(JobRoute route)
    {
        const auto index = std::ranges::find(m_set.routes, route) - m_set.routes.begin();
        if (std::size_t(index) == m_set.routes.size())
            m_set.routes.push_back(std::move(route));
        return int(index);
    }

    void addWaysOf(std::size_t node)
    {
        const JobWorkloads::Node &host = m_jobs.nodes[node];
        const StageLocation there { host.datacenter, host.pool };
        const double nics = fabricRate(there) * m_work.pool(there).gpusPerNode;
        const bool binds = wantedFrom(there) > nics * (1 + 1e-9) && nics > 0;
        const auto out = std::uint32_t(m_set.links.size());
        if (binds)
            m_set.links.insert(m_set.links.end(), { nics, nics });
        auto &ways = m_set.routeOf.emplace_back(m_set.gpus.size(), -1);
        std::map<std::pair<int, bool>, int> known; // pool, whether it is the host's own node
        for (std::size_t gpu = 0; gpu < m_set.gpus.size(); ++gpu) {
            const StageLocation at = m_jobs.gpus[gpu];
            if (at.datacenter != host.datacenter)
                continue;
            const bool isOwn = m_set.gpus[gpu].node == int(node);
            const auto [way, isNew] = known.try_emplace({ at.pool, isOwn }, -1);
            if (isNew)
                way->second = isOwn ? ownWay(at) : wayTo(at, nics, binds, out);
            ways[gpu] = way->second;
        }
    }

    int ownWay(StageLocation at)
    {
        const StateRates rates = stateRates(m_work, at);
        return rates.toGpu.value > 0 ? route({ rates.toGpu.value, rates.toHost.value, {}, {} }) : -1;
    }

    int wayTo(StageLocation at, double nics, bool binds, std::uint32_t out)
    {
        const double rate = std::min(remoteRate(at), nics);
        if (rate <= 0)
            return -1;
        return route(binds ? JobRoute { rate, rate, { out }, { out + 1 } } : JobRoute { rate, rate, {}, {} });
    }

    JobWorkloads &m_jobs;
    JobSet &m_set;
    const Workload &m_work;
    std::vector<StageLocation> m_kinds;
};

} // namespace

Expected<std::vector<StageLocation>> addPlaces(JobWorkloads &jobs, const Workload &workload)
{
    return Places(jobs, workload).add();
}

} // namespace trainyard
