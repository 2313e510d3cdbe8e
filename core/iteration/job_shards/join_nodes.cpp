// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/job_shards/join_nodes.h"

#include "core/iteration/job_shards/job_places.h"

#include <algorithm>

namespace trainyard {

void joinNodesWorthIt(JobWorkloads &jobs, const std::vector<CutGroup> &groups, const std::vector<ModelCut> &cuts,
    const std::vector<CutKind> &kinds, const CutRules &rules)
{
    constexpr double kLittle = 1.1;
    const auto allAt = [&](double rate) { // seconds of all mini-batches
        std::vector<CutKind> there = kinds;
        for (CutKind &kind : there)
            kind.toGpu = kind.toHost = rate;
        double sum = 0;
        for (std::size_t g = 0; g < groups.size(); ++g)
            if (!cuts[g].shards.empty())
                sum += groups[g].minibatches * minibatchSeconds(groups[g], cuts[g], there, rules);
        return sum;
    };
    for (std::size_t d = 0; d < jobs.plan->cluster.datacenters.size(); ++d) {
        const auto nodes = std::ranges::count(jobs.nodes, int(d), &JobWorkloads::Node::datacenter);
        bool isWorthIt = nodes > 1;
        for (std::size_t gpu = 0; gpu < jobs.gpus.size() && isWorthIt; ++gpu) {
            const StageLocation at = jobs.gpus[gpu];
            if (at.datacenter != int(d) || (gpu > 0 && at == jobs.gpus[gpu - 1]))
                continue;
            const HostRates rates = hostRates(*jobs.cluster, at);
            isWorthIt = rates.other > 0 && allAt(rates.other) <= kLittle * allAt(rates.own);
        }
        if (isWorthIt)
            joinNodes(jobs, *jobs.cluster, int(d));
    }
}

} // namespace trainyard
