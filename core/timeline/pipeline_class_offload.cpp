// SPDX-License-Identifier: GPL-3.0-or-later
// Operations cut into segments, and the stores and loads between them. A device has two queues, one in each direction, that
// serve in the order in which they are asked; the event loop decides there what is forwarded or dropped.
// Where devices decide while they run, nobody knows which operation comes before a backward: the first groups are asked
// for when the stage works on the last segment of the backward before, and the next stage has begun its own of the same
// micro-batch. The rest of that backward and the transfer of the gradient hide the load.
#include "core/timeline/pipeline_class_writer.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

const std::vector<OffloadSegment> *PipelineClassTasks::segmentsOf(const Op &op, std::size_t slot) const
{
    if (m_pipeline.offload.isEmpty() || m_pipeline.offload.ops[slot].empty())
        return nullptr;
    const bool isCut = op.kind == OpKind::Forward || op.kind == OpKind::InputGrad || op.kind == OpKind::Recompute
        || (op.kind == OpKind::Backward && !m_splitsBackward);
    return isCut ? &m_pipeline.offload.ops[slot] : nullptr;
}

std::vector<PipelineClassTasks::PlacedOp> PipelineClassTasks::placedOps(int device) const
{
    std::vector<PlacedOp> placed;
    std::uint32_t task = m_resources[static_cast<std::size_t>(device)].track.first;
    bool isPaired = false;
    for (const Op &op : m_program.order[static_cast<std::size_t>(device)]) {
        const auto slot = static_cast<std::size_t>(device * m_chunks + op.chunk);
        if (op.kind == OpKind::PairedForward) {
            placed.push_back({&op, slot, task, task, false});
            isPaired = true;
            continue;
        }
        const std::uint32_t count = tasksOf(op, slot, isPaired);
        if (isPaired)              // its task is the backward's, after the recomputation
            placed.back().task = placed.back().last = task + count - 1;
        if (count > 0)
            placed.push_back({&op, slot, task, task + count - 1, !isPaired && segmentsOf(op, slot)});
        isPaired = false;
        task += count;
    }
    return placed;
}

/// Of an operation that is not cut, its end.
PipelineClassTasks::Moment PipelineClassTasks::beginOf(const PlacedOp &op) const
{
    if (!op.isCut)
        return {op.last, kNoLag};
    const std::vector<OffloadSegment> &segments = m_pipeline.offload.ops[op.slot];
    if (op.op->kind == OpKind::Forward)
        return beginOf(op.task, op.slot, 0, kSegmentForward);
    std::size_t k = segments.size() - 1;
    while (op.op->kind == OpKind::Recompute && segments[k].recompute <= 0)
        --k;
    const bool makesAnew = op.op->kind == OpKind::Recompute || (isRecomputed(*op.op, op.slot) && segments[k].recompute > 0);
    return beginOf(op.task, op.slot, k, makesAnew ? kSegmentRecompute : kSegmentBackward);
}

void PipelineClassTasks::findMoves()
{
    m_moves.resize(static_cast<std::size_t>(m_devices));
    m_stored.resize(m_stages.size() * static_cast<std::size_t>(m_microBatches));
    std::vector<std::vector<PlacedOp>> placed;
    for (int d = 0; d < m_devices; ++d)
        placed.push_back(placedOps(d));
    if (m_program.rule != OrderRule::Strict) {
        m_gradientBegins.resize(m_stored.size());
        for (const std::vector<PlacedOp> &ops : placed)
            for (const PlacedOp &op : ops)
                if (makesGradient(op.op->kind))
                    m_gradientBegins[cell(m_stageOf[op.slot], op.op->microBatch)] = beginOf(op);
    }
    for (int d = 0; d < m_devices; ++d) {
        DeviceMoves &moves = m_moves[static_cast<std::size_t>(d)];
        const std::vector<PlacedOp> &ops = placed[static_cast<std::size_t>(d)];
        for (std::size_t i = 0; i < ops.size(); ++i) {
            if (m_pipeline.offload.ops[ops[i].slot].empty())
                continue;
            if (isForward(ops[i].op->kind))
                findStores(moves, ops, i, keepsOrder(d));
            else if (makesGradient(ops[i].op->kind))
                findLoads(moves, ops, i, d);
        }
        if (keepsOrder(d))
            sortByAsking(moves);
        for (std::uint32_t i = 0; i < moves.loads.size(); ++i)
            moves.stores[moves.loads[i].store].load = i;
    }
}

/// The last module before its own backward stays where the two follow each other: it is needed at once.
void PipelineClassTasks::findStores(DeviceMoves &moves, const std::vector<PlacedOp> &ops, std::size_t place, bool isOrderKnown)
{
    const PlacedOp &at = ops[place];
    const std::vector<OffloadSegment> &segments = m_pipeline.offload.ops[at.slot];
    const bool isTurn = isOrderKnown && place + 1 < ops.size() && makesGradient(ops[place + 1].op->kind) && ops[place + 1].slot == at.slot
        && ops[place + 1].op->microBatch == at.op->microBatch;
    StoredRange &stored = m_stored[cell(m_stageOf[at.slot], at.op->microBatch)];
    stored.first = static_cast<std::uint32_t>(moves.stores.size());
    for (std::uint32_t k = 0; k < segments.size(); ++k)
        if (segments[k].store > 0 && !(isTurn && segments[k].staysAtTurn))
            moves.stores.push_back({k, at.isCut ? at.task + k : at.last, kNoSpan, kNoSpan, at.op});
    stored.count = static_cast<std::uint32_t>(moves.stores.size()) - stored.first;
}

/// What a backward loads, last segment first.
struct PipelineClassTasks::Groups {
    std::vector<std::uint32_t> heads;      // of each group: the first task that needs it
    std::vector<std::size_t> groupOf;      // of each load
    std::uint32_t turn = kNoSpan;          // the backward of the module that stayed
};

PipelineClassTasks::Groups PipelineClassTasks::groupsOf(DeviceMoves &moves, const PlacedOp &backward, const PlacedOp *recomputation) const
{
    const std::vector<OffloadSegment> &segments = m_pipeline.offload.ops[backward.slot];
    const StoredRange &stored = m_stored[cell(m_stageOf[backward.slot], backward.op->microBatch)];
    const bool recomputes = isRecomputed(*backward.op, backward.slot);
    Groups groups;
    std::uint32_t at = backward.task, recompute = recomputation ? recomputation->task : kNoSpan, left = stored.count;
    int last = -1;
    for (std::size_t k = segments.size(); k-- > 0;) {
        const bool makesAnew = segments[k].recompute > 0;
        const std::uint32_t task = recomputation && makesAnew ? recompute : at;
        if (backward.isCut)
            at += recomputes && makesAnew ? 2 : 1;
        if (recomputation && makesAnew)
            ++recompute;
        if (left == 0 || moves.stores[stored.first + left - 1].segment != k) {
            groups.turn = segments[k].staysAtTurn && segments[k].store > 0 ? task : groups.turn;
            continue;
        }
        moves.stores[stored.first + --left].needed = recomputation ? recomputation->task : backward.task;
        if (groups.heads.empty() || segments[k].group != last)
            groups.heads.push_back(task);
        last = segments[k].group;
        groups.groupOf.push_back(groups.heads.size() - 1);
    }
    for (std::size_t g = groups.heads.size(); g-- > 1;)   // no later than what is behind it in the queue
        groups.heads[g - 1] = std::min(groups.heads[g - 1], groups.heads[g]);
    return groups;
}

void PipelineClassTasks::findLoads(DeviceMoves &moves, const std::vector<PlacedOp> &ops, std::size_t place, int device)
{
    const PlacedOp &at = ops[place];
    StoredRange &stored = m_stored[cell(m_stageOf[at.slot], at.op->microBatch)];
    stored.isMadeAnew = place > 0 && ops[place - 1].op->kind == OpKind::Recompute;
    const Groups groups = groupsOf(moves, at, stored.isMadeAnew ? &ops[place - 1] : nullptr);
    for (std::uint32_t i = 0; i < stored.count; ++i) {
        Load load{stored.first + stored.count - 1 - i, {}, {}};
        if (keepsOrder(device))
            load.turn = askInOrder(groups, groups.groupOf[i], ops, place, device);
        else
            askAtRunTime(load, groups, groups.groupOf[i], ops, place, device);
        moves.loads.push_back(load);
    }
}

/// At the end of the task before the one that turns to a group `ahead` places before it. What an operation that is not cut
/// needs is asked for as a whole when the operation before it begins.
PipelineClassTasks::Moment PipelineClassTasks::askInOrder(const Groups &groups, std::size_t group, const std::vector<PlacedOp> &ops, std::size_t place, int device) const
{
    const PrefetchRule &rule = m_pipeline.offload.prefetch;
    const auto ahead = static_cast<std::size_t>(m_pipeline.offload.aheadOf(device));
    const std::uint32_t first = ops.front().task, task = ops[place].task;
    std::uint32_t before = groups.heads.front();
    if (!ops[place].isCut) {
        std::size_t last = place;
        while (last > 0 && ops[last].last >= task)   // past the forward of its pair
            --last;
        before = rule.prefetchFromPreviousModule ? std::min(ops[last].task, task) : task;
    } else if (group >= ahead)
        before = groups.heads[group - ahead];
    else if (rule.prefetchFromPreviousModule && groups.turn != kNoSpan)
        before = groups.turn;
    else if (rule.prefetchFromPreviousModule)      // not during its own forward: what is asked for then would never leave
        before = task > first && !(isForward(ops[place - 1].op->kind) && ops[place - 1].slot == ops[place].slot && ops[place - 1].op->microBatch == ops[place].op->microBatch) ? task - 1 : task;
    return {before > first ? before - 1 : kNoSpan, kNoLag};
}

void PipelineClassTasks::askAtRunTime(Load &load, const Groups &groups, std::size_t group, const std::vector<PlacedOp> &ops, std::size_t place, int device) const
{
    const PrefetchRule &rule = m_pipeline.offload.prefetch;
    const auto ahead = static_cast<std::size_t>(m_pipeline.offload.aheadOf(device));
    const PlacedOp &at = ops[place];
    const int q = stageOf(device, at.op->chunk);
    // Also of later groups: a recomputation ahead of its gradient may have begun with segments that stayed.
    load.gradient = rule.prefetchFromPreviousModule ? m_gradientBegins[cell(q + 1, at.op->microBatch)] : Moment{m_result[1][cell(q + 1, at.op->microBatch)], kNoLag};
    if (group >= ahead) {
        const std::uint32_t head = groups.heads[group - ahead];
        if (head == at.task)
            load.turn = beginOf(at);
        else if (place > 0 && head == ops[place - 1].task)   // its recomputation
            load.turn = beginOf(ops[place - 1]);
        else
            load.turn = {head - 1, kNoLag};
        return;
    }
    for (std::size_t i = place; i-- > 0;) {
        if (!makesGradient(ops[i].op->kind))
            continue;
        load.turn = rule.prefetchFromPreviousModule && ops[i].isCut ? beginOf(ops[i].last, ops[i].slot, 0, kSegmentBackward) : Moment{ops[i].last, kNoLag};
        return;
    }
}

/// First come, first served: the numbers of the loads follow what asks for them.
void PipelineClassTasks::sortByAsking(DeviceMoves &moves)
{
    std::ranges::stable_sort(moves.loads, {}, [](const Load &load) { return load.turn.task == kNoSpan ? 0 : load.turn.task + 1; });
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

} // namespace trainyard
