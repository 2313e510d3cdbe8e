#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the contributors of one class of pipelines know of each other's tasks: which task makes which result, and where
// each operation lies on its device. Internal to core/iteration/graph.

#include "core/engine/timeline/graph_builder.h"
#include "core/iteration/graph/device_moves.h"

namespace trainyard {

using TaskId = GraphBuilder::Id;

/// Virtual stages of a program, and which boundaries between them lie between two devices.
struct StageOfChain {
    int device = 0, chunk = 0;
    /// the first and the last of its chain
    bool begins = false, ends = false;
    /// its boundary to the next lies between two devices
    bool crosses = false;
};

struct ClassTasks {
    ClassTasks(const IterationCosts &costs, int index);

    const IterationCosts &costs;
    const PipelineCosts &pipeline;
    const Program &program;
    int index;
    int devices, chunks, microBatches;
    /// where something is offloaded: input gradients are cut, whole backwards are not
    bool splitsBackward = false;
    /// [device * chunks + chunk] -> virtual stage
    std::vector<int> stageOf;
    std::vector<StageOfChain> stages;
    // Made by the operations, for the others
    /// [device]: the resource
    std::vector<TaskId> compute;
    /// [device]: kNoSpan where it has none
    std::vector<TaskId> lastOp;
    std::vector<std::vector<TaskId>>
        begins; // [device]: the first task of each operation in its order, and past the last
    /// [cell]: the forward; the task that makes the gradient for the stage before
    std::vector<TaskId> result[2];
    std::vector<std::vector<PlacedOp>>
        placed; // [device], in the order of the tasks; empty unless activations or states move

    // Made by the layer loop; empty where there is none
    /// its row of collectives, for who reduces and gathers after it
    TaskId collective = kNoSpan;
    /// what the optimizer waits for
    TaskId lastReduce = kNoSpan;

    [[nodiscard]] std::size_t cell(int q, int microBatch) const
    {
        return static_cast<std::size_t>(q) * static_cast<std::size_t>(microBatches)
            + static_cast<std::size_t>(microBatch);
    }
    [[nodiscard]] std::size_t slot(int device, int chunk) const
    {
        return static_cast<std::size_t>(device * chunks + chunk);
    }
    [[nodiscard]] const StageOfChain &stage(int q) const { return stages[static_cast<std::size_t>(q)]; }
    [[nodiscard]] bool offloads() const { return !pipeline.offload.isEmpty(); }
    [[nodiscard]] bool isRecomputed(const Op &op, std::size_t at) const
    {
        return op.recomputes && pipeline.ops[at].recompute > 0;
    }
    /// Of an operation that is cut; else nullptr.
    [[nodiscard]] const std::vector<OffloadSegment> *segmentsOf(const Op &op, std::size_t at) const;
    /// Whether which operation comes next is known beforehand.
    [[nodiscard]] bool keepsOrder(int device) const
    {
        return program.rule == OrderRule::Strict || stage(stageOf[slot(device, 0)]).ends;
    }
    /// Whether operations lie on their device in the order of the program.
    [[nodiscard]] bool isStrict() const { return program.rule == OrderRule::Strict; }
};

[[nodiscard]] inline Error scheduleError(std::string what)
{
    return { ErrorCode::Internal, "schedule", std::move(what), "" };
}

} // namespace trainyard
