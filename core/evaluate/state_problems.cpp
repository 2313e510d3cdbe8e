// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluate/state_problems_internal.h"

#include "core/hardware/host_spec.h"
#include "core/memory/stage_states.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

using PoolKey = std::pair<int, int>;   // datacenter, pool

/// Bytes of states in the host memory of one node of each pool that the plan uses, buffers included.
std::map<PoolKey, double> hostBytes(const Workload &workload)
{
    std::map<PoolKey, double> bytes;
    for (int stage = 0; stage < workload.plan->parallelism.pipeline; ++stage) {
        const double ofGpu = stageStates(workload, stage).inHost * builtinHost().memoryFactor;
        for (const PipelineClass &pipelines : workload.layout.classes) {
            const StageSeat seat = pipelines.seats[std::size_t(stage)];
            double &most = bytes[{seat.datacenter, seat.pool}];
            most = std::max(most, ofGpu * workload.pool(seat).gpusPerNode);
        }
    }
    return bytes;
}

Fix fixOf(const Plan &plan, std::string label, void (*change)(Plan &))
{
    Plan next = plan;
    change(next);
    return {std::move(label), std::make_shared<const Plan>(std::move(next))};
}

void addHostMemory(std::vector<Problem> &problems, const Workload &workload, const Pool &pool, const std::string &where, double bytes)
{
    if (!pool.host || pool.host->memoryGib <= 0 || bytes <= pool.host->memoryGib * 0x1p30)
        return;
    Problem problem{Severity::Blocking,
                    "States off the GPU need " + std::to_string(std::llround(bytes / 1e9)) + " GB of host memory a node, and there are "
                        + std::to_string(std::llround(pool.host->memoryGib * 0x1p30 / 1e9)) + " GB",
                    where + ".host.memory_gib", {}};
    if (pool.ssd && workload.plan->memory.optimizerOffload != OptimizerOffload::Ssd)
        problem.fixes.push_back(fixOf(*workload.plan, "Optimizer states on drives", [](Plan &p) { p.memory.optimizerOffload = OptimizerOffload::Ssd; }));
    problems.push_back(std::move(problem));
}

} // namespace

void addStateProblems(std::vector<Problem> &problems, const Workload &workload)
{
    const MemoryStrategy &memory = workload.plan->memory;
    if (workload.plan->profile || (memory.optimizerOffload == OptimizerOffload::None && memory.parameterOffload == ParameterOffload::None))
        return;
    const bool wantsDrives = memory.optimizerOffload == OptimizerOffload::Ssd || memory.parameterOffload == ParameterOffload::Ssd;
    for (const auto &[key, bytes] : hostBytes(workload)) {
        const Pool &pool = workload.plan->cluster.datacenters[std::size_t(key.first)].pools[std::size_t(key.second)];
        const std::string where = "cluster.datacenters[" + std::to_string(key.first) + "].pools[" + std::to_string(key.second) + "]";
        if (wantsDrives && (!pool.ssd || pool.ssd->writeGBps <= 0 || pool.ssd->readGBps <= 0))
            problems.push_back({Severity::Blocking, "States are to lie on drives, and pool " + pool.id + " has none: the numbers are for host memory",
                                where + ".ssd",
                                {fixOf(*workload.plan, "States in host memory", [](Plan &p) {
                                    if (p.memory.optimizerOffload == OptimizerOffload::Ssd)
                                        p.memory.optimizerOffload = OptimizerOffload::Host;
                                    if (p.memory.parameterOffload == ParameterOffload::Ssd)
                                        p.memory.parameterOffload = ParameterOffload::Host;
                                })}});
        addHostMemory(problems, workload, pool, where, bytes);
    }
    if (memory.delayedUpdate && memory.optimizerOffload != OptimizerOffload::None)
        problems.push_back({Severity::Note, "Delayed update: each step applies the gradients of the iteration before, which changes what is trained",
                            "memory.delayed_update", {}});
}

} // namespace trainyard
