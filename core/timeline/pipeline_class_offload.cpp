// SPDX-License-Identifier: GPL-3.0-or-later
// Operations cut into segments, and the stores and loads between them. A device has two queues, one in each direction, that
// serve in the order in which they are asked; the event loop decides there what is forwarded or dropped.
#include "core/timeline/pipeline_class_writer.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

const std::vector<OffloadSegment> *PipelineClassTasks::segmentsOf(const Op &op, std::size_t slot) const
{
    const bool isCut = !m_pipeline.offload.isEmpty() && (op.kind == OpKind::Forward || makesGradient(op.kind));
    return isCut && !m_pipeline.offload.ops[slot].empty() ? &m_pipeline.offload.ops[slot] : nullptr;
}

void PipelineClassTasks::findMoves()
{
    m_moves.resize(static_cast<std::size_t>(m_devices));
    m_stored.resize(m_stages.size() * static_cast<std::size_t>(m_microBatches));
    std::uint32_t segments = 0;
    for (const std::vector<OffloadSegment> &op : m_pipeline.offload.ops) {
        m_firstSegment.push_back(segments);
        segments += static_cast<std::uint32_t>(op.size());
    }
    for (int d = 0; d < m_devices; ++d) {
        DeviceMoves &moves = m_moves[static_cast<std::size_t>(d)];
        const std::vector<Op> &order = m_program.order[static_cast<std::size_t>(d)];
        const std::uint32_t first = m_resources[static_cast<std::size_t>(d)].track.first;
        std::uint32_t task = first;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const auto slot = static_cast<std::size_t>(d * m_chunks + order[i].chunk);
            if (segmentsOf(order[i], slot) && order[i].kind == OpKind::Forward)
                findStores(moves, order, i, d, task);
            else if (segmentsOf(order[i], slot))
                findLoads(moves, order[i], d, task, first);
            task += tasksOf(order[i], slot);
        }
        // First come, first served: the numbers of the loads follow what asks for them.
        std::vector<std::uint32_t> places(moves.loads.size());
        std::iota(places.begin(), places.end(), 0u);
        std::ranges::stable_sort(places, {}, [&](std::uint32_t i) { return moves.triggers[i] == kNoSpan ? 0 : moves.triggers[i] + 1; });
        const auto loads = moves.loads, triggers = moves.triggers;
        for (std::uint32_t i = 0; i < places.size(); ++i) {
            moves.loads[i] = loads[places[i]];
            moves.triggers[i] = triggers[places[i]];
            moves.stores[moves.loads[i]].load = i;
        }
    }
}

/// Of the forward at `place`, whose first task is `task`. The last module before its own backward stays where the
/// two follow each other: it is needed at once.
void PipelineClassTasks::findStores(DeviceMoves &moves, const std::vector<Op> &order, std::size_t place, int device, std::uint32_t task)
{
    const Op &op = order[place];
    const auto slot = static_cast<std::size_t>(device * m_chunks + op.chunk);
    const std::vector<OffloadSegment> &segments = m_pipeline.offload.ops[slot];
    const bool isTurn = place + 1 < order.size() && makesGradient(order[place + 1].kind) && order[place + 1].chunk == op.chunk
        && order[place + 1].microBatch == op.microBatch;
    StoredRange &stored = m_stored[cell(m_stageOf[slot], op.microBatch)];
    stored.first = static_cast<std::uint32_t>(moves.stores.size());
    for (std::uint32_t k = 0; k < segments.size(); ++k)
        if (segments[k].store > 0 && !(isTurn && segments[k].staysAtTurn))
            moves.stores.push_back({k, task + k, kNoSpan, kNoSpan, &op});
    stored.count = static_cast<std::uint32_t>(moves.stores.size()) - stored.first;
}

void PipelineClassTasks::findLoads(DeviceMoves &moves, const Op &op, int device, std::uint32_t task, std::uint32_t trackFirst)
{
    const auto slot = static_cast<std::size_t>(device * m_chunks + op.chunk);
    const std::vector<OffloadSegment> &segments = m_pipeline.offload.ops[slot];
    const StoredRange stored = m_stored[cell(m_stageOf[slot], op.microBatch)];
    const bool recomputes = isRecomputed(op, slot);
    const PrefetchRule &rule = m_pipeline.offload.prefetch;
    std::vector<std::uint32_t> heads;   // of each group: the first task that needs it
    std::vector<std::uint32_t> groupOf;
    std::uint32_t at = task, left = stored.count;
    std::uint32_t turn = kNoSpan;       // the backward of the module that stayed
    int last = -1;
    for (std::size_t k = segments.size(); k-- > 0; at += recomputes && segments[k].recompute > 0 ? 2 : 1) {
        if (left == 0 || moves.stores[stored.first + left - 1].segment != k) {
            turn = segments[k].staysAtTurn && segments[k].store > 0 ? at : turn;
            continue;
        }
        Move &move = moves.stores[stored.first + --left];
        move.needed = task;
        if (heads.empty() || segments[k].group != last)
            heads.push_back(at);
        last = segments[k].group;
        moves.loads.push_back(stored.first + left);
        groupOf.push_back(static_cast<std::uint32_t>(heads.size() - 1));
    }
    for (const std::uint32_t group : groupOf) {
        const auto ahead = static_cast<std::uint32_t>(rule.ahead);
        std::uint32_t before = heads.front();   // the trigger is the end of the task before this one
        if (group >= ahead)
            before = heads[group - ahead];
        else if (rule.atHandOver && turn != kNoSpan)
            before = turn;
        else if (rule.atHandOver)
            before = task > trackFirst ? task - 1 : task;
        moves.triggers.push_back(before > trackFirst ? before - 1 : kNoSpan);
    }
}

void PipelineClassTasks::numberMoves(std::uint32_t &task)
{
    if (m_pipeline.offload.isEmpty())
        return;
    findMoves();
    for (int d = 0; d < m_devices; ++d) {
        DeviceMoves &moves = m_moves[static_cast<std::size_t>(d)];
        moves.firstStore = task;
        addTrack(task, static_cast<std::uint32_t>(moves.stores.size()), Discipline::Priority, {.stream = Stream::Store, .stage = d});
        moves.firstLoad = task;
        addTrack(task, static_cast<std::uint32_t>(moves.loads.size()), Discipline::Priority, {.stream = Stream::Load, .stage = d});
    }
}

bool PipelineClassTasks::writeSegments(Writer &writer, const Op &op, int device, const std::vector<OffloadSegment> &segments) const
{
    const auto slot = static_cast<std::size_t>(device * m_chunks + op.chunk);
    const int q = m_stageOf[slot];
    const auto classOf = [&](std::size_t segment, SegmentTime time) {
        return m_at.segments + kTimesOfSegment * (m_firstSegment[slot] + static_cast<std::uint32_t>(segment)) + time;
    };
    if (op.kind == OpKind::Forward) {
        for (std::size_t k = 0; k < segments.size(); ++k) {
            writer.task(WorkKind::Forward, classOf(k, kSegmentForward), op.microBatch, op.chunk);
            if (k == 0 && !dependOn(writer, q, op))
                return false;
        }
        return true;
    }
    const DeviceMoves &moves = m_moves[static_cast<std::size_t>(device)];
    const StoredRange stored = m_stored[cell(q, op.microBatch)];
    const bool recomputes = isRecomputed(op, slot);
    std::uint32_t left = stored.count;
    for (std::size_t k = segments.size(); k-- > 0;) {
        const bool makesAnew = recomputes && segments[k].recompute > 0;
        writer.task(makesAnew ? WorkKind::Recompute : workOf(op.kind), classOf(k, makesAnew ? kSegmentRecompute : kSegmentBackward), op.microBatch, op.chunk);
        if (k + 1 == segments.size() && !dependOn(writer, q, op))
            return false;
        if (left > 0 && moves.stores[stored.first + left - 1].segment == k)
            writer.after(moves.firstLoad + moves.stores[stored.first + --left].load);
        if (makesAnew)
            writer.task(workOf(op.kind), classOf(k, kSegmentBackward), op.microBatch, op.chunk);
    }
    return true;
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
        write(move, WorkKind::OffloadStore, kSegmentStore);
        writer.after(move.made);
    }
    ++writer.resource;
    for (std::size_t i = 0; i < moves.loads.size(); ++i) {
        const Move &move = moves.stores[moves.loads[i]];
        writer.graph.partner[writer.next] = moves.firstStore + moves.loads[i];
        write(move, WorkKind::OffloadLoad, kSegmentLoad);
        if (moves.triggers[i] != kNoSpan && moves.triggers[i] > move.made)
            writer.after(moves.triggers[i]);
        else
            writer.after(move.made);   // nothing is asked for before it is there
    }
    ++writer.resource;
}

} // namespace trainyard
