// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/iteration_costs/state_rows.h"

#include "core/iteration/iteration_costs/step_rows.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Of a pair, what one of the two hides of its exchange with experts may hide the move as well: no longer than without
/// it.
Nanoseconds within(Seconds move, Nanoseconds operation, const OpSplit &split)
{
    return std::clamp<Nanoseconds>(
        toNanoseconds(move), 0, std::max<Nanoseconds>(0, operation - toNanoseconds(split.expert)));
}

StateMoves movesOf(const ChunkCost &chunk, const OpTimes &times)
{
    StateMoves moves;
    moves.time[StateMoves::InForward] = within(chunk.weightsIn, times.forward, chunk.forward);
    moves.time[StateMoves::InBackward] =
        within(chunk.weightsIn, times.backward, chunk.inputGrad); // split, it hides behind both parts
    moves.time[StateMoves::OutBackward] = std::min(toNanoseconds(chunk.gradientsOut), times.backward - times.recompute);
    // Split: gradients are there once they have been computed; what that is too short for has to leave before.
    moves.time[StateMoves::OutWeightGrad] = std::min(moves.time[StateMoves::OutBackward], times.weightGrad);
    moves.time[StateMoves::OutInputGrad] = moves.time[StateMoves::OutBackward] - moves.time[StateMoves::OutWeightGrad];
    return moves;
}

/// What a device computes in an iteration, without waiting and recomputation.
Nanoseconds computeOf(const PipelineCosts &pipeline, int device)
{
    const int chunks = pipeline.program.shape.chunks;
    Nanoseconds sum = 0;
    const Op *paired = nullptr;
    for (const Op &op : pipeline.program.order[std::size_t(device)]) {
        const auto slot = std::size_t(device * chunks + op.chunk);
        const OpTimes &times = pipeline.ops[slot];
        if (paired)
            sum +=
                pipeline
                    .pairs[std::size_t(device * chunks + paired->chunk) * std::size_t(chunks) + std::size_t(op.chunk)];
        else if (op.kind == OpKind::Forward)
            sum += times.forward;
        else if (op.kind == OpKind::Backward)
            sum += times.backward - times.recompute;
        else if (op.kind == OpKind::InputGrad)
            sum += times.inputGrad - times.recompute;
        else if (op.kind == OpKind::WeightGrad)
            sum += times.weightGrad;
        paired = op.kind == OpKind::PairedForward ? &op : nullptr;
    }
    return sum;
}

/// A step that runs beside an iteration is drawn within what it hides behind and what shows of it.
OffloadedStep besides(OffloadedStep step, const PipelineCosts &pipeline, int device)
{
    constexpr double kRounding = 1e-6; // of the operations' ticks
    const SyncAndStepTimes &syncAndStep = pipeline.syncAndStep[std::size_t(device)];
    const Seconds room = (toSeconds(computeOf(pipeline, device))
                             + toSeconds(syncAndStep.reduce - syncAndStep.reduceEarly + syncAndStep.gather))
            * (1 - kRounding)
        + toSeconds(syncAndStep.optimizer);
    if (step.time <= room)
        return step;
    const double scale = room / step.time;
    for (Seconds *part :
        { &step.time, &step.cpu, &step.gpu, &step.toHost, &step.toGpu, &step.statesToGpu, &step.write, &step.read })
        *part *= scale;
    return step;
}

/// What is still to be written of the gradients when the backward has ended comes first.
StepRows behindGradients(StepRows step, Seconds lateWrites)
{
    std::uint32_t first = 0; // number of the drive row's first task
    for (StepRow &row : step.rows) {
        if (row.stream != Stream::StepDrive) {
            first += static_cast<std::uint32_t>(row.tasks.size());
            continue;
        }
        for (StepRow &other : step.rows)
            for (StepTask &task : other.tasks)
                task.after = task.after == kNoSpan ? (&other == &row ? kNoSpan : first)
                                                   : task.after + (task.after >= first ? 1 : 0);
        row.tasks.insert(row.tasks.begin(),
            { WorkKind::DriveWrite, std::max<Nanoseconds>(1, toNanoseconds(lateWrites) - 1), kNoSpan, 0 }); // rounding
        break;
    }
    return step;
}

} // namespace

void addStateRows(const Plan &plan, const std::vector<StageCosts> &stages, PipelineCosts &pipeline)
{
    const auto moves = [](const ChunkCost &chunk) { return chunk.weightsIn.value > 0 || chunk.gradientsOut.value > 0; };
    if (std::ranges::any_of(stages, [&](const StageCosts &stage) { return std::ranges::any_of(stage.chunks, moves); }))
        for (const StageCosts &stage : stages)
            for (const ChunkCost &chunk : stage.chunks)
                pipeline.states.moves.push_back(movesOf(chunk, pipeline.ops[pipeline.states.moves.size()]));
    if (movedOffGpu(plan).optimizerOffload == OptimizerOffload::None)
        return;
    pipeline.states.runsBeside = plan.memory.delayedUpdate;
    for (int d = 0; d < int(stages.size()); ++d) {
        const OffloadedStep &step = stages[std::size_t(d)].step;
        const Seconds late = stages[std::size_t(d)].lateWrites;
        StepRows rows = stepRows(plan.memory.delayedUpdate ? besides(step, pipeline, d) : step);
        pipeline.states.steps.push_back(
            late.value > 0 && !plan.memory.delayedUpdate ? behindGradients(std::move(rows), late) : std::move(rows));
    }
}

} // namespace trainyard
