// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/memory/off_gpu.h"

#include "core/base/units.h"
#include "core/facts/hardware/host_spec.h"
#include "core/iteration/model_states/stage_states.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace trainyard {

namespace {

struct OfGpu {
    double states = 0, activations = 0;
};

/// What one GPU of each of a stage's sets keeps in host memory.
using OfSets = std::vector<std::pair<StageLocation, OfGpu>>;

std::vector<OfSets> perStage(const Workload &workload, const std::vector<StageMemory> &stages)
{
    const bool activationsToHost = activationsLeaveTo(workload.plan->memory) == ActivationOffload::Host;
    std::vector<OfSets> result;
    for (const StageMemory &stage : stages) {
        OfSets &sets = result.emplace_back();
        for (const RankSet &ranks : unlikeSets(workload, stage.stage))
            sets.push_back({ ranks.at,
                OfGpu { stageStates(workload, ranks).inHost * builtinHost().memoryFactor,
                    activationsToHost ? double(stage.activationsOffloaded) : 0 } });
    }
    return result;
}

bool usesHost(const MemoryStrategy &memory)
{
    return activationsLeaveTo(memory) == ActivationOffload::Host || memory.optimizerOffload != OptimizerOffload::None
        || memory.parameterOffload != ParameterOffload::None;
}

} // namespace

std::vector<HostMemory> hostMemory(const Workload &workload, const std::vector<StageMemory> &stages)
{
    std::vector<HostMemory> fullest;
    if (stages.empty() || !usesHost(workload.plan->memory))
        return fullest;
    const std::vector<OfSets> ofStages = perStage(workload, stages);
    std::map<std::tuple<int, int, int>, OfGpu> nodes;
    for (const GpuRun &run : workload.layout.runs) {
        const int size = std::max(1, workload.pool({ run.datacenter, run.pool }).gpusPerNode),
                  end = run.firstGpu + run.gpus;
        const auto isHere = [&](const auto &set) { return areAlike(workload, set.first, run.location()); };
        const OfGpu &gpu = std::ranges::find_if(ofStages[std::size_t(run.stage)], isHere)->second;
        for (int first = run.firstGpu; first < end;) {
            const int last = std::min(end, (first / size + 1) * size);
            OfGpu &node = nodes[{ run.datacenter, run.pool, first / size }];
            node.states += gpu.states * (last - first);
            node.activations += gpu.activations * (last - first);
            first = last;
        }
    }
    for (const auto &[at, node] : nodes) {
        const auto &[datacenter, pool, number] = at;
        if (node.states + node.activations <= 0)
            continue;
        const auto &host = workload.pool({ datacenter, pool }).host;
        const HostMemory here { datacenter, pool, node.states, node.activations,
            host ? std::max(0.0, host->memoryGib) * kBytesPerGiB : 0 };
        const bool isSamePool =
            !fullest.empty() && fullest.back().datacenter == datacenter && fullest.back().pool == pool;
        if (!isSamePool)
            fullest.push_back(here);
        else if (here.total() > fullest.back().total())
            fullest.back() = here;
    }
    return fullest;
}

bool lacksDrives(const Plan &plan, const Pool &pool)
{
    const MemoryStrategy &memory = movedOffGpu(plan);
    return (memory.optimizerOffload == OptimizerOffload::Ssd || memory.parameterOffload == ParameterOffload::Ssd)
        && !hasDrives(pool);
}

bool lacksDrives(const Workload &workload)
{
    return std::ranges::any_of(workload.layout.runs, [&](const GpuRun &run) {
        return lacksDrives(*workload.plan, workload.pool({ run.datacenter, run.pool }));
    });
}

} // namespace trainyard
