// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/state_problems_internal.h"

#include "core/evaluation/evaluate/problems/fix_of.h"
#include "core/iteration/memory/off_gpu.h"

#include <set>

namespace trainyard {

namespace {

void addMissingStateDrives(std::vector<Problem> &problems, const Workload &workload)
{
    std::set<std::pair<int, int>> named;
    for (const GpuRun &run : workload.layout.runs) {
        const Pool &pool = workload.pool({ run.datacenter, run.pool });
        if (!lacksDrives(*workload.plan, pool) || !named.insert({ run.datacenter, run.pool }).second)
            continue;
        problems.push_back({ Severity::Blocking,
            "States are to lie on drives, and pool " + pool.id + " has none: the numbers are for host memory",
            "cluster.datacenters[" + std::to_string(run.datacenter) + "].pools[" + std::to_string(run.pool) + "].ssd",
            { fixOf(*workload.plan, "States in host memory", [](Plan &p) {
                if (p.memory.optimizerOffload == OptimizerOffload::Ssd)
                    p.memory.optimizerOffload = OptimizerOffload::Host;
                if (p.memory.parameterOffload == ParameterOffload::Ssd)
                    p.memory.parameterOffload = ParameterOffload::Host;
            }) } });
    }
}

} // namespace

void addStateProblems(std::vector<Problem> &problems, const Workload &workload)
{
    const MemoryStrategy &memory = movedOffGpu(*workload.plan);
    if (memory.optimizerOffload == OptimizerOffload::None && memory.parameterOffload == ParameterOffload::None)
        return;
    addMissingStateDrives(problems, workload);
    if (memory.delayedUpdate && memory.optimizerOffload != OptimizerOffload::None)
        problems.push_back({ Severity::Note,
            "Delayed update: each step applies the gradients of the iteration before, which affects convergence",
            "memory.delayed_update", {} });
}

} // namespace trainyard
