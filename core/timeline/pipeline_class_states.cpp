// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of states off the GPU. A task that begins with another is its successor with a lag of minus its duration, which is exact
// whatever decided when the other one began; the lag classes mirror the duration classes for that.
#include "core/timeline/pipeline_class_writer.h"

#include <algorithm>

namespace trainyard {

/// Calls visit(move, operation, task) for each move of the device in the order of its operations; `task` is the one that it begins
/// with. Weights are there for a recomputation too; gradients leave from the backward on.
template <class Visit>
void PipelineClassTasks::forEachStateMove(int device, Stream stream, Visit visit) const
{
    const bool goesIn = stream == Stream::WeightsIn;
    const auto move = [&](StateMoves::Kind kind, const PlacedOp &op, std::uint32_t task) {
        if (m_pipeline.states.moves[op.slot].time[kind] > 0)
            visit(kind, op, task);
    };
    const auto moveOf = [&](const PlacedOp &op) {
        const OpKind kind = op.op->kind;
        const std::uint32_t begin = op.isCut ? op.task : op.last;   // behind a recomputation
        if (goesIn && isForward(kind))
            move(StateMoves::InForward, op, op.task);
        else if (goesIn && makesGradient(kind))
            move(StateMoves::InBackward, op, op.task);
        else if (!goesIn && kind == OpKind::Backward)
            move(StateMoves::OutBackward, op, begin);
        else if (!goesIn && kind == OpKind::InputGrad)
            move(StateMoves::OutInputGrad, op, begin);
        else if (!goesIn && kind == OpKind::WeightGrad)
            move(StateMoves::OutWeightGrad, op, begin);
    };
    std::vector<PlacedOp> ops = placedOps(device);
    for (std::size_t i = 1; i < ops.size(); ++i)   // the recomputation of a pair comes before the pair
        if (ops[i - 1].op->kind == OpKind::PairedForward && ops[i].task < ops[i - 1].task)
            std::swap(ops[i - 1], ops[i]);
    for (const PlacedOp &op : ops)
        moveOf(op);
}

void PipelineClassTasks::numberStates(std::uint32_t &task)
{
    const StateTimes &states = m_pipeline.states;
    // Where a device decides while it runs, its moves come as its operations do.
    const Discipline discipline = m_program.rule == OrderRule::Strict ? Discipline::FixedOrder : Discipline::Priority;
    for (int d = 0; d < m_devices && !states.isEmpty(); ++d) {
        for (const Stream stream : {Stream::WeightsIn, Stream::GradientsOut}) {
            std::uint32_t count = 0;
            if (!states.moves.empty())
                forEachStateMove(d, stream, [&](StateMoves::Kind, const PlacedOp &, std::uint32_t) { ++count; });
            if (count > 0)
                addTrack(task, count, discipline, {.stream = stream, .stage = d});
        }
        m_firstStep.push_back(task);
        if (states.steps.empty())
            continue;
        for (const StepRow &row : states.steps[static_cast<std::size_t>(d)].rows)
            addTrack(task, static_cast<std::uint32_t>(row.tasks.size()), Discipline::FixedOrder, {.stream = row.stream, .stage = d});
    }
}

void PipelineClassTasks::writeStates(Writer &writer, int device) const
{
    const auto startsWith = [&](std::uint32_t task) { writer.after(task, m_at.begins + writer.graph.durationClass[task] - m_at.ops); };
    for (const Stream stream : {Stream::WeightsIn, Stream::GradientsOut}) {
        if (m_pipeline.states.moves.empty())
            break;
        const std::uint32_t before = writer.next;
        forEachStateMove(device, stream, [&](StateMoves::Kind kind, const PlacedOp &op, std::uint32_t task) {
            writer.task(stream == Stream::WeightsIn ? WorkKind::WeightsToGpu : WorkKind::GradientsToHost,
                        m_at.states + kTimesOfMoves * static_cast<std::uint32_t>(op.slot) + kind, op.op->microBatch, op.op->chunk);
            startsWith(task);
        });
        writer.resource += writer.next > before ? 1 : 0;
    }
    if (m_pipeline.states.steps.empty())
        return;
    const std::uint32_t first = m_firstStep[static_cast<std::size_t>(device)], optimizer = m_syncAndStep[static_cast<std::size_t>(device)].optimizer;
    std::uint32_t before = 0;      // steps of the devices before this one
    for (int d = 0; d < device; ++d)
        before += static_cast<std::uint32_t>(m_pipeline.states.steps[static_cast<std::size_t>(d)].taskCount());
    const std::uint32_t durations = m_at.states + kTimesOfMoves * static_cast<std::uint32_t>(m_pipeline.states.moves.size()) + before;
    for (const StepRow &row : m_pipeline.states.steps[static_cast<std::size_t>(device)].rows) {
        for (const StepTask &task : row.tasks) {
            const std::uint32_t index = writer.next - first;
            writer.task(task.kind, durations + index);
            if (task.after != kNoSpan)
                writer.after(first + task.after, m_at.stepLags + before + index);
            else if (!m_pipeline.states.runsBeside && optimizer != kNoSpan)
                startsWith(optimizer);
        }
        ++writer.resource;
    }
}

} // namespace trainyard
