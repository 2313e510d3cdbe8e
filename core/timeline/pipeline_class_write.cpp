// SPDX-License-Identifier: GPL-3.0-or-later
// The second pass: tasks with their predecessors, in the order of their numbers.
#include "core/timeline/pipeline_class_writer.h"

#include <algorithm>

namespace trainyard {

Expected<void> PipelineClassTasks::write(TaskGraph &graph, const std::vector<PipelineClassTasks> &classes) const
{
    Writer writer{graph, m_firstResource, m_resources.front().track.first};
    for (int d = 0; d < m_devices; ++d, ++writer.resource) {
        const Op *paired = nullptr;
        for (const Op &op : m_program.order[static_cast<std::size_t>(d)]) {
            if (op.kind == OpKind::PairedForward)
                paired = &op;
            else if (paired ? !writePair(writer, *paired, op, d) : !writeOp(writer, op, d))
                return std::unexpected(missingBefore(op, d));
            else
                paired = nullptr;
        }
        const SyncAndStep &syncAndStep = m_syncAndStep[static_cast<std::size_t>(d)];
        if (syncAndStep.optimizer != kNoSpan) {
            writer.task(WorkKind::Optimizer, m_at.syncAndStep + 3 * static_cast<std::uint32_t>(d) + 1);
            writer.after(m_costs.optimizerBarrier ? classes.front().m_barrier : syncAndStep.reduce);
        }
        if (syncAndStep.overhead != kNoSpan) {
            writer.task(WorkKind::Overhead, kOverheadDuration);
            writer.after(syncAndStep.gather != kNoSpan ? syncAndStep.gather : syncAndStep.reduce);
        }
    }
    for (int d = 0; d < m_devices && offloads(); ++d)
        writeMoves(writer, d);
    for (int d = 0; d < m_devices && !m_pipeline.states.isEmpty(); ++d)
        writeStates(writer, d);
    // In the order of their numbers: moves and states above; channels, unless another member has them; pieces; collectives.
    for (const Channel &channel : m_channels) {
        if (m_pipeline.cellMember > 0)
            break;
        writeChannel(writer, channel, classes);
        ++writer.resource;
    }
    for (const Channel &channel : m_channels) {
        if (channel.scatters)
            writePieces(writer, channel, false);
        if (channel.gathers)
            writePieces(writer, channel, true);
    }
    for (; writer.resource < m_firstResource + m_resources.size(); ++writer.resource)
        writeCollectives(writer, m_resources[writer.resource - m_firstResource].track.stage, classes);
    return {};
}

/// False where something that the operation needs is missing or comes later on the same device.
bool PipelineClassTasks::writeOp(Writer &writer, const Op &op, int device) const
{
    const auto slot = static_cast<std::size_t>(device * m_chunks + op.chunk);
    const int q = m_stageOf[slot];
    const std::uint32_t costs = m_at.ops + 5 * static_cast<std::uint32_t>(slot);
    if (op.kind == OpKind::Recompute && m_pipeline.ops[slot].recompute <= 0)
        return true;
    const bool isRecomputedNow = isRecomputed(op, slot);
    if (!isForward(op.kind) && m_result[0][cell(q, op.microBatch)] >= writer.next)
        return false;
    if (op.kind == OpKind::WeightGrad && m_result[1][cell(q, op.microBatch)] >= writer.next)
        return false;
    if (const std::vector<OffloadSegment> *segments = segmentsOf(op, slot))
        return writeSegments(writer, op, device, *segments);
    // Not cut although other operations are: a backward that the program also splits.
    const OpKind first = isRecomputedNow ? OpKind::Recompute : op.kind;
    writer.task(workOf(first), costs + static_cast<std::uint32_t>(first), op.microBatch, op.chunk);
    if (!dependOn(writer, q, op))
        return false;
    dependOnOwnForward(writer, q, op);
    if (offloads() && makesGradient(op.kind))
        waitForLoads(writer, op, device);
    // Fused: the recomputation waits for the gradient like the backward that it belongs to.
    if (isRecomputedNow)
        writer.task(workOf(op.kind), costs + static_cast<std::uint32_t>(op.kind), op.microBatch, op.chunk);
    return true;
}

/// One task for both, which starts when both can and gives both results at its end.
bool PipelineClassTasks::writePair(Writer &writer, const Op &forward, const Op &backward, int device) const
{
    const auto chunks = static_cast<std::uint32_t>(m_chunks);
    const auto forwardSlot = static_cast<std::uint32_t>(device * m_chunks + forward.chunk);
    const auto slot = static_cast<std::uint32_t>(device * m_chunks + backward.chunk);
    if (m_result[0][cell(m_stageOf[slot], backward.microBatch)] >= writer.next)
        return false;
    const std::uint32_t duration = m_at.pairs + forwardSlot * chunks + static_cast<std::uint32_t>(backward.chunk);
    const auto writeTask = [&] {
        writer.graph.pairedMicroBatch[writer.next] = backward.microBatch;
        writer.graph.pairedChunk[writer.next] = static_cast<std::uint16_t>(backward.chunk);
        writer.task(WorkKind::ForwardBackward, duration, forward.microBatch, forward.chunk);
    };
    const bool isRecomputedNow = isRecomputed(backward, slot);
    if (isRecomputedNow)
        writer.task(WorkKind::Recompute, m_at.ops + 5 * slot + static_cast<std::uint32_t>(OpKind::Recompute), backward.microBatch, backward.chunk);
    else
        writeTask();
    if (!dependOn(writer, m_stageOf[forwardSlot], forward) || !dependOn(writer, m_stageOf[slot], backward))
        return false;
    if (offloads())
        waitForLoads(writer, backward, device);
    if (isRecomputedNow)
        writeTask();
    return true;
}

/// What a fixed order implies: a recomputation, or the last stage's backward, follows its own forward.
void PipelineClassTasks::dependOnOwnForward(Writer &writer, int q, const Op &op) const
{
    if (m_program.rule == OrderRule::WorkConserving && (op.kind == OpKind::Recompute || (makesGradient(op.kind) && m_stages[static_cast<std::size_t>(q)].ends)))
        writer.after(m_result[0][cell(q, op.microBatch)]);
}

/// Lets the task written last wait for the neighbour in the chain that the operation needs.
bool PipelineClassTasks::dependOn(Writer &writer, int q, const Op &op) const
{
    const Stage &stage = m_stages[static_cast<std::size_t>(q)];
    if (isForward(op.kind))
        return stage.begins || dependOn(writer, q - 1, q, op.microBatch, 0);
    return !makesGradient(op.kind) || stage.ends || dependOn(writer, q + 1, q, op.microBatch, 1);
}

bool PipelineClassTasks::dependOn(Writer &writer, int producer, int consumer, int microBatch, int direction) const
{
    const std::uint32_t result = m_result[direction][cell(producer, microBatch)];
    const int boundary = std::min(producer, consumer);
    if (result == kNoSpan)
        return false;
    if (!m_stages[static_cast<std::size_t>(boundary)].crosses)
        return result < writer.next;
    const std::uint32_t lag = m_at.boundary + 2 * static_cast<std::uint32_t>(boundary) + static_cast<std::uint32_t>(direction);
    const int index = m_stages[static_cast<std::size_t>(producer)].sends[direction];
    if (index < 0) {
        writer.after(result, lag);
        return true;
    }
    const Channel &channel = m_channels[static_cast<std::size_t>(index)];
    const std::uint32_t place = m_transfer[direction][cell(producer, microBatch)];
    if (channel.gathers)
        writer.after(channel.firstGather + place);
    else
        writer.after(channel.first + place, lag);
    return true;
}

Error PipelineClassTasks::missingBefore(const Op &op, int device) const
{
    const int q = stageOf(device, op.chunk);
    const bool forward = isForward(op.kind);
    const int from = forward ? q - 1 : q + 1;   // the stage of its input or gradient
    std::string needed;
    if (op.kind == OpKind::WeightGrad)
        needed = "input gradient";
    else if (!forward && m_result[0][cell(q, op.microBatch)] >= m_result[1][cell(q, op.microBatch)])
        needed = "forward";
    else if (from < 0 || from >= static_cast<int>(m_stages.size()))
        needed = "partner's input";
    else
        needed = std::string(forward ? "input" : "gradient") + " from stage "
            + std::to_string(m_stages[static_cast<std::size_t>(from)].device);
    return {ErrorCode::Internal, "schedule",
            "stage " + std::to_string(device) + ": " + toString(workOf(op.kind)) + " of micro-batch " + std::to_string(op.microBatch)
                + ", chunk " + std::to_string(op.chunk) + " waits for its " + needed + ", which the program lacks or has later",
            ""};
}

/// Calls write(transfer) for each transfer of this class over the channel, in the order in which the sender makes them.
template <class Write>
void PipelineClassTasks::forEachTransfer(const Channel &channel, Write write) const
{
    const auto index = static_cast<int>(&channel - m_channels.data());
    std::uint32_t place = 0;
    for (const Op &op : m_program.order[static_cast<std::size_t>(channel.from)]) {
        const bool forward = isForward(op.kind);
        if (!forward && !makesGradient(op.kind))
            continue;
        const int direction = forward ? 0 : 1;
        const int q = stageOf(channel.from, op.chunk);
        if (m_stages[static_cast<std::size_t>(q)].sends[direction] == index)
            write(Transfer{static_cast<std::uint32_t>(2 * (forward ? q : q - 1) + direction), place++, m_result[direction][cell(q, op.microBatch)], &op});
    }
}

/// All members' transfers, member by member. Whose turn it is goes by the place of a transfer among those that its sender makes: in
/// the order of micro-batches where the schedule keeps it, in reverse where gradients are made so.
void PipelineClassTasks::writeChannel(Writer &writer, const Channel &channel, const std::vector<PipelineClassTasks> &classes) const
{
    const auto index = static_cast<std::size_t>(&channel - m_channels.data());
    const auto memberClasses = static_cast<std::int64_t>(m_pipeline.cellMembers);
    for (std::int64_t k = 0; k < memberClasses; ++k) {
        const PipelineClassTasks &member = classes[static_cast<std::size_t>(m_index + k)];
        const Channel &own = member.m_channels[index];
        member.forEachTransfer(own, [&](const Transfer &transfer) {
            if (!writer.graph.priority.empty())
                writer.graph.priority[writer.next] = m_costs.turns == TurnOrder::RoundRobin ? transfer.place * memberClasses + k : (k << 32) + transfer.place;
            writer.task(WorkKind::WanTransfer, m_at.serializations + transfer.boundary, transfer.op->microBatch, transfer.op->chunk, m_at.flows + transfer.boundary);
            writer.after(transfer.result);   // first: it is what the transfer carries
            if (own.scatters)
                writer.after(own.firstScatter + transfer.place);
        });
    }
}

/// What a member does inside its datacenter before and after its turn on the cell's channel.
void PipelineClassTasks::writePieces(Writer &writer, const Channel &channel, bool gathers) const
{
    forEachTransfer(channel, [&](const Transfer &transfer) {
        writer.task(WorkKind::PipelineTransfer, m_at.pieces + 2 * transfer.boundary + (gathers ? 1 : 0), transfer.op->microBatch, transfer.op->chunk);
        if (gathers)
            writer.after(channel.first + transfer.place, m_at.boundary + transfer.boundary);
        else
            writer.after(transfer.result);
    });
    ++writer.resource;
}

void PipelineClassTasks::writeCollectives(Writer &writer, int device, const std::vector<PipelineClassTasks> &classes) const
{
    const auto d = static_cast<std::size_t>(device);
    const SyncAndStep &syncAndStep = m_syncAndStep[d];
    const std::uint32_t costs = m_at.syncAndStep + 3 * static_cast<std::uint32_t>(device);
    if (syncAndStep.reduce != kNoSpan) {
        writer.task(WorkKind::GradientReduce, costs);
        for (std::size_t e = 0; e < classes.size(); ++e)
            if ((m_costs.reduceJoinsClasses || static_cast<int>(e) == m_index) && d < classes[e].m_syncAndStep.size()) {
                const auto lag = m_at.reduce + static_cast<std::uint32_t>(d * classes.size() + e);
                writer.after(classes[e].m_syncAndStep[d].lastOp, lag);
                if (m_program.placement == ChunkPlacement::Bidirectional)   // the other copy of the same layers
                    writer.after(classes[e].m_syncAndStep[classes[e].m_syncAndStep.size() - 1 - d].lastOp, lag);
            }
    }
    if (m_barrier != kNoSpan && device == 0) {
        writer.task(WorkKind::Collective, kNoDuration);
        for (const PipelineClassTasks &other : classes)
            for (const SyncAndStep &otherSyncAndStep : other.m_syncAndStep)
                writer.after(otherSyncAndStep.reduce != kNoSpan ? otherSyncAndStep.reduce : otherSyncAndStep.lastOp);
    }
    if (syncAndStep.gather != kNoSpan) {
        writer.task(WorkKind::ParameterGather, costs + 2);
        writer.after(syncAndStep.optimizer != kNoSpan ? syncAndStep.optimizer : syncAndStep.lastOp);
    }
}

} // namespace trainyard
