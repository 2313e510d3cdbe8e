// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/idle_nodes.h"

#include "core/facts/cluster/edits.h"
#include "core/iteration/placement/as_placed.h"
#include "core/planner/search/objective.h"

#include <algorithm>
#include <set>
#include <utility>

namespace trainyard {

namespace {

/// Whether it is the same training: all that a reader would compare but what idle GPUs cost.
bool isSame(const Evaluation &a, const Evaluation &b)
{
    const Metrics &one = a.metrics, &other = b.metrics;
    const auto bytes = [](const Metrics &m) {
        std::vector<std::int64_t> all;
        if (m.memory)
            for (const StageMemory &stage : m.memory->perStage)
                all.insert(all.end(), { stage.device, stage.capacity });
        return all;
    };
    const auto jobs = [](const Metrics &m) {
        return m.jobs ? std::pair(m.jobs->makespan, jobsLeftOut(m)) : std::pair(Metric(), std::string());
    };
    return a.feasible() == b.feasible() && jobs(one) == jobs(other) && one.iterationTime == other.iterationTime
        && one.tokensPerSecond == other.tokensPerSecond && one.gpusUsed == other.gpusUsed
        && one.wanBytesPerIteration == other.wanBytesPerIteration && one.cost.daysTotal == other.cost.daysTotal
        && one.bubbleFill.has_value() == other.bubbleFill.has_value()
        && (!one.bubbleFill || one.bubbleFill->prefillTokensPerSecond == other.bubbleFill->prefillTokensPerSecond)
        && bytes(one) == bytes(other);
}

} // namespace

std::vector<PoolNodes> idleNodes(const Plan &plan, const Layout &layout)
{
    std::vector<PoolNodes> idle;
    const auto &datacenters = plan.cluster.datacenters;
    for (int d = 0; d < int(datacenters.size()); ++d) {
        for (int p = 0; p < int(datacenters[std::size_t(d)].pools.size()); ++p) {
            const Pool &pool = datacenters[std::size_t(d)].pools[std::size_t(p)];
            const int perNode = std::max(1, pool.gpusPerNode);
            std::set<int> busy;
            for (const GpuRun &run : layout.runs)
                if (run.datacenter == d && run.pool == p && run.gpus > 0)
                    for (int node = run.firstGpu / perNode; node <= (run.firstGpu + run.gpus - 1) / perNode; ++node)
                        busy.insert(node);
            if (pool.nodes > int(busy.size()))
                idle.push_back({ d, p, pool.nodes - int(busy.size()) });
        }
    }
    return idle;
}

std::optional<Plan> withoutNodes(const Plan &plan, const PoolNodes &what)
{
    Plan next = plan;
    Datacenter &home = next.cluster.datacenters[std::size_t(what.datacenter)];
    Pool &pool = home.pools[std::size_t(what.pool)];
    const std::string id = home.id;
    pool.nodes -= what.nodes;
    const bool isPoolGone = pool.nodes <= 0, isGone = home.gpus() == 0;
    auto left = !isPoolGone ? Expected<Cluster>(next.cluster)
        : isGone            ? withoutDatacenter(next.cluster, what.datacenter)
                            : withoutPool(next.cluster, what.datacenter, what.pool);
    if (!left || left->gpus() == 0)
        return std::nullopt;
    next.cluster = std::move(*left);
    if (isGone && std::ranges::find(next.placement.stages, id, &StagePin::datacenter) != next.placement.stages.end())
        next.placement.stages.clear();
    const int at = next.cluster.indexOf(id);
    std::erase_if(next.heterogeneity.assign, [&](const RankPin &pin) {
        return pin.datacenter == id
            && (at < 0 || std::ranges::none_of(next.cluster.datacenters[std::size_t(at)].pools, [&](const Pool &other) {
                   return pin.isAbout(other);
               }));
    });
    return next;
}

namespace {

class Trimmer {
public:
    Trimmer(PlanPtr plan, EvaluationPtr own, const RunContext &context)
        : m_own(own)
        , m_context(context)
        , m_result { std::move(plan), std::move(own), 0, 0 }
    {
    }

    Trimmed run()
    {
        std::vector<PoolNodes> idle = idleNow();
        for (int round = 0; round < kMostRounds && !idle.empty(); ++round) { // a smaller cluster may idle elsewhere
            if (!takeWithout(idle) && !takeEach(idle))
                break;
            idle = idleNow();
        }
        for (const PoolNodes &what : idle)
            m_result.kept += what.nodes
                * m_result.plan->cluster.datacenters[std::size_t(what.datacenter)]
                      .pools[std::size_t(what.pool)]
                      .gpusPerNode;
        return std::move(m_result);
    }

private:
    static constexpr int kMostRounds = 4;

    /// From the last on, so that what stands before keeps its place while they go.
    [[nodiscard]] std::vector<PoolNodes> idleNow() const
    {
        std::vector<PoolNodes> idle = idleNodes(*m_result.plan, m_result.evaluation->layout);
        std::ranges::reverse(idle);
        return idle;
    }

    /// The plan and the plan as it was placed, each without them; the first that trains alike is taken.
    bool takeWithout(const std::vector<PoolNodes> &nodes)
    {
        for (Plan next : { *m_result.plan, asPlaced(*m_result.plan, m_result.evaluation->layout) }) {
            bool isLeft = true;
            for (const PoolNodes &what : nodes) {
                auto less = withoutNodes(next, what);
                isLeft = isLeft && less;
                if (isLeft)
                    next = *std::move(less);
            }
            if (isLeft && take(std::move(next)))
                return true;
        }
        return false;
    }

    bool take(Plan less)
    {
        const auto made = std::make_shared<const Plan>(std::move(less));
        const auto evaluated = trainyard::run(made, Depth::Score, m_context);
        if (!evaluated || !isSame(*m_own, **evaluated))
            return false;
        m_result.gone += m_result.plan->cluster.gpus() - made->cluster.gpus();
        m_result.plan = made;
        m_result.evaluation = *evaluated;
        return true;
    }

    bool takeEach(const std::vector<PoolNodes> &idle)
    {
        bool any = false;
        for (const PoolNodes &what : idle)
            any |= takeWithout({ what });
        return any;
    }

    EvaluationPtr m_own;
    const RunContext &m_context;
    Trimmed m_result;
};

} // namespace

ExpectedAll<Trimmed> withoutIdleNodes(const PlanPtr &plan, const RunContext &context)
{
    auto own = run(plan, Depth::Score, context);
    if (!own)
        return std::unexpected(std::move(own.error()));
    if (hasJobs(*plan) || (*own)->layout.runs.empty())
        return Trimmed { plan, *own, 0, 0 };
    return Trimmer(plan, *own, context).run();
}

} // namespace trainyard
