// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/feasibility.h"

#include "core/evaluation/evaluate/metrics/metrics.h"
#include "core/iteration/placement/location_book.h"
#include "core/iteration/placement/shard_exchange.h"

#include <algorithm>

namespace trainyard {

double Judged::need() const
{
    double most = 0;
    for (const StageMemory &stage : stages)
        most = std::max(most, stage.capacity > 0 ? double(stage.device) / double(stage.capacity) : 1e300);
    for (const HostMemory &node : nodes)
        if (node.isStated())
            most = std::max(most, node.total() / node.capacity);
    return most;
}

Judged judge(const Workload &workload, std::vector<StageMemory> stages)
{
    Judged judged { {}, std::move(stages), {} };
    judged.nodes = hostMemory(workload, judged.stages);
    Feasibility &f = judged.feasibility;
    f.isShaped = hasRunnableShape(workload);
    f.isSharded = !refusesSharding(*workload.plan, workload.stack);
    f.fitsGpus = std::ranges::all_of(judged.stages, &StageMemory::fits);
    f.fitsHosts = std::ranges::all_of(judged.nodes, &HostMemory::fits);
    f.hasDrives = !lacksDrives(workload);
    return judged;
}

void setJudged(Evaluation &evaluation, Judged judged)
{
    evaluation.feasibility = judged.feasibility;
    addMemoryMetrics(evaluation.metrics, std::move(judged.stages), judged.nodes);
}

Evaluation begun(const Requested &asked)
{
    Evaluation evaluation;
    evaluation.plan = asked.plan;
    evaluation.model = asked.model;
    return evaluation;
}

} // namespace trainyard
