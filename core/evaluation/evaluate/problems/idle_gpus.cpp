// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/idle_gpus.h"

#include "core/base/words.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

namespace trainyard {

namespace {

constexpr double kMuchIdle = 0.1; // of the cluster's GPUs

} // namespace

std::vector<IdleGroup> idleGroups(const Layout &layout, const Cluster &cluster)
{
    std::vector<IdleGroup> groups;
    std::unordered_map<std::string_view, std::size_t> known; // by reason, which the layout holds
    std::set<int> used;
    for (const GpuRun &run : layout.runs)
        used.insert(run.datacenter);
    for (const IdleGpus &idle : layout.idle) {
        const auto [at, isNew] = known.try_emplace(idle.reason, groups.size());
        if (isNew)
            groups.push_back({ idle.reason, 0, {}, idle.pool, idle.isUnlinked, false });
        IdleGroup *group = &groups[at->second];
        group->gpus += idle.gpus;
        group->isMuch = group->isMuch || !used.contains(idle.datacenter);
        if (group->datacenters.empty() || group->datacenters.back() != idle.datacenter)
            group->datacenters.push_back(idle.datacenter);
    }
    const int all = cluster.gpus();
    for (IdleGroup &group : groups)
        group.isMuch = group.isMuch || group.gpus >= kMuchIdle * all;
    std::ranges::stable_sort(groups, std::greater {}, &IdleGroup::gpus);
    return groups;
}

void addIdleProblems(std::vector<Problem> &problems, const Evaluation &evaluation)
{
    const auto &datacenters = evaluation.plan->cluster.datacenters;
    for (const IdleGroup &group : idleGroups(evaluation.layout, evaluation.plan->cluster)) {
        const int first = group.datacenters.front();
        const std::string place = group.datacenters.size() == 1
            ? datacenters[std::size_t(first)].label()
            : std::to_string(group.datacenters.size()) + " datacenters";
        problems.push_back({ group.isMuch ? Severity::Warning : Severity::Note,
            counted(group.gpus, "GPU") + " in " + place + " idle: " + group.reason,
            "cluster.datacenters[" + std::to_string(first) + "].pools[" + std::to_string(group.firstPool) + "]", {},
            group.isMuch ? FixSearchKind::IdleGpus : FixSearchKind::None });
    }
}

} // namespace trainyard
