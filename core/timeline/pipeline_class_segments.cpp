// SPDX-License-Identifier: GPL-3.0-or-later
// Writes operations that are cut into segments, and the moves between them.
#include "core/timeline/pipeline_class_writer.h"

namespace trainyard {

namespace {

[[nodiscard]] bool isMadeAnew(const OffloadSegment &segment, bool recomputes)
{
    return recomputes && segment.recompute > 0;
}

} // namespace

/// The task that stores a segment of an operation; kNoSpan where it stays.
std::uint32_t PipelineClassTasks::storeOf(int device, const StoredRange &stored, std::uint32_t segment) const
{
    const DeviceMoves &moves = m_moves[static_cast<std::size_t>(device)];
    for (std::uint32_t i = stored.first; i < stored.first + stored.count; ++i)
        if (moves.stores[i].segment == segment)
            return moves.firstStore + i;
    return kNoSpan;
}

/// A recomputation of its own goes from the last segment to the first, as backwards do: it is in this order that loads come.
bool PipelineClassTasks::writeSegments(Writer &writer, const Op &op, int device, const std::vector<OffloadSegment> &segments) const
{
    const auto slot = static_cast<std::size_t>(device * m_chunks + op.chunk);
    const int q = m_stageOf[slot];
    const DeviceMoves &moves = m_moves[static_cast<std::size_t>(device)];
    const StoredRange &stored = m_stored[cell(q, op.microBatch)];
    const std::uint32_t first = writer.next;
    bool isReady = true;
    const auto task = [&](WorkKind kind, std::size_t segment, SegmentTime time) {
        if (writer.next > first && !writer.graph.continues.empty())
            writer.graph.continues[writer.next] = 1;
        writer.task(kind, m_at.segments + kTimesOfSegment * (m_firstSegment[slot] + static_cast<std::uint32_t>(segment)) + time, op.microBatch, op.chunk);
        if (writer.next > first + 1)
            return;
        isReady = dependOn(writer, q, op);
        dependOnOwnForward(writer, q, op);
    };
    if (op.kind == OpKind::Forward) {
        for (std::size_t k = 0; k < segments.size() && isReady; ++k) {
            task(WorkKind::Forward, k, kSegmentForward);
            if (segments[k].waitsFor >= 0)
                writer.after(storeOf(device, stored, static_cast<std::uint32_t>(segments[k].waitsFor)));
        }
        return isReady;
    }
    const bool isRecomputation = op.kind == OpKind::Recompute, recomputes = isRecomputed(op, slot);
    std::uint32_t left = stored.count;
    for (std::size_t k = segments.size(); k-- > 0 && isReady;) {
        const bool leaves = left > 0 && moves.stores[stored.first + left - 1].segment == k;
        left -= leaves ? 1 : 0;
        if (isRecomputation && segments[k].recompute <= 0)
            continue;
        const bool makesAnew = isRecomputation || isMadeAnew(segments[k], recomputes);
        task(makesAnew ? WorkKind::Recompute : workOf(op.kind), k, makesAnew ? kSegmentRecompute : kSegmentBackward);
        if (leaves && (isRecomputation || !isMadeAnew(segments[k], stored.isMadeAnew)))
            writer.after(moves.firstLoad + moves.stores[stored.first + left].load);
        if (makesAnew && !isRecomputation)
            task(workOf(op.kind), k, kSegmentBackward);
    }
    return isReady;
}

/// An operation that is not cut needs everything at its start.
void PipelineClassTasks::waitForLoads(Writer &writer, const Op &op, int device) const
{
    const DeviceMoves &moves = m_moves[static_cast<std::size_t>(device)];
    const StoredRange &stored = m_stored[cell(stageOf(device, op.chunk), op.microBatch)];
    for (std::uint32_t i = 0; i < stored.count; ++i)
        writer.after(moves.firstLoad + moves.stores[stored.first + i].load);
}

void PipelineClassTasks::writeMoves(Writer &writer, int device) const
{
    const DeviceMoves &moves = m_moves[static_cast<std::size_t>(device)];
    const auto write = [&](const Move &move, WorkKind kind, SegmentTime time) {
        const auto slot = static_cast<std::size_t>(device * m_chunks + move.op->chunk);
        const bool loads = kind == WorkKind::OffloadLoad;
        writer.task(kind, m_at.segments + kTimesOfSegment * (m_firstSegment[slot] + move.segment) + time, move.op->microBatch, move.op->chunk,
                    m_at.paths + 2 * static_cast<std::uint32_t>(device) + (loads ? 1 : 0));
    };
    for (const Move &move : moves.stores) {
        writer.graph.partner[writer.next] = m_pipeline.offload.prefetch.dropsQueued ? move.needed : kNoSpan;
        writer.graph.endsForwarded[writer.next] = m_pipeline.offload.prefetch.endsForwarded ? 1 : 0;
        write(move, WorkKind::OffloadStore, kSegmentStore);
        writer.after(move.made);
    }
    ++writer.resource;
    const bool isInOrder = keepsOrder(device);
    for (const Load &load : moves.loads) {
        const Move &move = moves.stores[load.store];
        writer.graph.partner[writer.next] = moves.firstStore + load.store;
        write(move, WorkKind::OffloadLoad, kSegmentLoad);
        // Nothing is asked for before it is there.
        if (load.turn.task == kNoSpan || !isInOrder || load.turn.task <= move.made)
            writer.after(move.made);
        if (!isInOrder || load.turn.task > move.made)
            writer.after(load.turn.task, load.turn.lag);
        writer.after(load.gradient.task, load.gradient.lag);
    }
    ++writer.resource;
}

} // namespace trainyard
