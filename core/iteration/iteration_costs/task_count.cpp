// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/iteration_costs/task_count.h"

#include "core/engine/schedule/traits.h"
#include "core/iteration/offload/settings.h"
#include "core/iteration/placement/activations_leave.h"

#include <algorithm>
#include <cstdio>

namespace trainyard {

namespace {

bool movesStates(const MemoryStrategy &memory)
{
    return memory.optimizerOffload != OptimizerOffload::None || memory.parameterOffload != ParameterOffload::None;
}

/// Of one chunk and one micro-batch. Where activations leave, an operation is cut into modules, half layers and the two
/// ends of a model, each of which is stored and loaded.
double tasksOf(const Plan &plan, const StageChunk &chunk, bool leaves)
{
    const int operations = (traitsOf(plan).splitsBackward ? 3 : 2) + (plan.memory.recompute != Recompute::None),
              moves = movesStates(plan.memory) ? 3 : 0;
    if (!leaves)
        return operations + moves;
    const int modules = 2 * chunk.layers + chunk.hasEmbedding + chunk.hasHead;
    return (operations + 2.0) * std::max(1, modules) + moves;
}

int crossings(const PipelineClass &pipelines, int chunks)
{
    int count = 0;
    for (std::size_t s = 0; s < pipelines.locations.size(); ++s)
        count +=
            pipelines.locations[s].datacenter != pipelines.locations[(s + 1) % pipelines.locations.size()].datacenter;
    return count * chunks * (pipelines.cellMembers > 1 ? 6 : 2); // there and back; pieces of a cell's transfers
}

} // namespace

std::int64_t simulatedTasks(const Workload &workload)
{
    const Plan &plan = *workload.plan;
    const bool leaves = activationsLeaveTo(plan.memory) != ActivationOffload::None && whyActivationsStay(plan).empty();
    const int slices = workload.degrees.slices;
    double ofMicroBatch = 0;
    for (const std::vector<StageChunk> &stage : workload.layout.chunks)
        for (const StageChunk &chunk : stage)
            ofMicroBatch += tasksOf(plan, chunk, leaves) * slices;
    double tasks = 0;
    for (const PipelineClass &pipelines : workload.layout.classes)
        tasks += (ofMicroBatch / workload.degrees.copies + crossings(pipelines, workload.degrees.programChunks()))
            * pipelines.microBatches;
    return std::int64_t(std::min(tasks, 9e18));
}

std::string taskCountText(std::int64_t tasks)
{
    if (tasks < 1'000'000)
        return std::to_string(tasks);
    char text[32];
    std::snprintf(text, sizeof text, "%.3g million", double(tasks) / 1e6);
    return text;
}

} // namespace trainyard
