// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/graph/contributors.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr std::uint32_t kTimesOfMoves = 5;

} // namespace

void StateRows::shape(Fingerprint &print) const
{
    const StateTimes &states = m_.pipeline.states;
    print.add(static_cast<std::uint64_t>(states.moves.size()) << 2 | (states.runsBeside ? 1u : 0u)
        | (states.isEmpty() ? 2u : 0u));
    for (const StateMoves &moves : states.moves)
        for (const Nanoseconds time : moves.time)
            print.add(time > 0);
    for (const StepRows &step : states.steps) {
        print.add(step.rows.size());
        for (const StepRow &row : step.rows) {
            print.add(static_cast<std::uint64_t>(row.stream) << 32 | row.tasks.size());
            for (const StepTask &task : row.tasks)
                print.add(static_cast<std::uint64_t>(task.kind) << 32 | task.after);
        }
    }
}

void StateRows::times(ClassTable &table)
{
    const StateTimes &states = m_.pipeline.states;
    m_moves = static_cast<std::uint32_t>(table.durations.size());
    for (const StateMoves &moves : states.moves)
        for (std::uint32_t kind = 0; kind < kTimesOfMoves; ++kind)
            table.add(
                kind <= StateMoves::InBackward ? WorkKind::WeightsToGpu : WorkKind::GradientsToHost, moves.time[kind]);
    m_steps = static_cast<std::uint32_t>(table.durations.size());
    m_stepLags = static_cast<std::uint32_t>(table.lags.size());
    for (const StepRows &step : states.steps)
        for (const StepRow &row : step.rows)
            for (const StepTask &task : row.tasks) {
                table.add(task.kind, task.duration);
                table.addLag(task.lag);
            }
}

/// Calls visit(move, operation, task) for each move of the device in the order of its operations; `task` is the one
/// that it begins with. Weights are there for a recomputation too; gradients leave from the backward on.
template <class Visit> void StateRows::eachMove(int device, Stream stream, Visit visit) const
{
    const bool goesIn = stream == Stream::WeightsIn;
    const std::vector<PlacedOp> &ops = m_.placed[static_cast<std::size_t>(device)];
    const auto isPaired = [&](std::size_t i) { // with a recomputation behind it that comes before the pair
        return i + 1 < ops.size() && ops[i].op->kind == OpKind::PairedForward && ops[i + 1].task < ops[i].task;
    };
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const PlacedOp &op = isPaired(i) ? ops[i + 1] : i > 0 && isPaired(i - 1) ? ops[i - 1] : ops[i];
        const auto move = [&](StateMoves::Kind kind, TaskId task) {
            if (m_.pipeline.states.moves[op.slot].time[kind] > 0)
                visit(kind, op, task);
        };
        const OpKind kind = op.op->kind;
        const TaskId begin = op.isCut ? op.task : op.last; // behind a recomputation
        if (goesIn && isForward(kind))
            move(StateMoves::InForward, op.task);
        else if (goesIn && makesGradient(kind))
            move(StateMoves::InBackward, op.task);
        else if (!goesIn && kind == OpKind::Backward)
            move(StateMoves::OutBackward, begin);
        else if (!goesIn && kind == OpKind::InputGrad)
            move(StateMoves::OutInputGrad, begin);
        else if (!goesIn && kind == OpKind::WeightGrad)
            move(StateMoves::OutWeightGrad, begin);
    }
}

void StateRows::tasks(GraphBuilder &builder)
{
    const StateTimes &states = m_.pipeline.states;
    // Where a device decides while it runs, its moves come as its operations do.
    const Discipline discipline = m_.isStrict() ? Discipline::FixedOrder : Discipline::Priority;
    std::uint32_t step = m_steps;
    for (int d = 0; d < m_.devices && !states.isEmpty(); ++d) {
        for (const Stream stream : { Stream::WeightsIn, Stream::GradientsOut }) {
            GraphBuilder::Id resource = kNoSpan;
            if (states.moves.empty())
                break;
            eachMove(d, stream, [&](StateMoves::Kind kind, const PlacedOp &op, TaskId with) {
                if (resource == kNoSpan)
                    resource =
                        builder.resource({ .stream = stream, .pipelineClass = m_.index, .stage = d }, discipline);
                const std::uint32_t made = m_moves + kTimesOfMoves * static_cast<std::uint32_t>(op.slot) + kind;
                m_begins.emplace_back(builder.task(resource, made, { op.op->microBatch, op.op->chunk, false }), with);
            });
        }
        m_firstStep.push_back(builder.taskCount());
        if (states.steps.empty())
            continue;
        for (const StepRow &row : states.steps[static_cast<std::size_t>(d)].rows) {
            const auto resource = builder.resource({ .stream = row.stream, .pipelineClass = m_.index, .stage = d });
            for (std::size_t i = 0; i < row.tasks.size(); ++i)
                builder.task(resource, step++);
        }
    }
}

Expected<void> StateRows::order(GraphBuilder &builder)
{
    for (const auto &[task, with] : m_begins)
        builder.after(task, with, kNoLag, GraphBuilder::From::Start);
    const StateTimes &states = m_.pipeline.states;
    std::uint32_t lag = m_stepLags;
    for (std::size_t d = 0; d < states.steps.size(); ++d) {
        TaskId next = m_firstStep[d];
        for (const StepRow &row : states.steps[d].rows)
            for (const StepTask &task : row.tasks) {
                if (task.after != kNoSpan)
                    builder.after(next, m_firstStep[d] + task.after, lag);
                else if (!states.runsBeside)
                    builder.after(next, optimizer[d], kNoLag, GraphBuilder::From::Start);
                ++next;
                ++lag;
            }
    }
    return {};
}

} // namespace trainyard
