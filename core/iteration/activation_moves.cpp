// SPDX-License-Identifier: GPL-3.0-or-later
// The stores and loads between operations that are cut into segments. A device has two queues, one in each direction, that serve in
// the order in which they are asked; the event loop decides there what is forwarded or dropped.
// Where devices decide while they run, nobody knows which operation comes before a backward: the first groups are asked
// for when the stage works on the last segment of the backward before, and the next stage has begun its own of the same
// micro-batch. The rest of that backward and the transfer of the gradient hide the load.
#include "core/iteration/contributors.h"

#include <algorithm>

namespace trainyard {

void ActivationMoves::shape(Fingerprint &print) const
{
    const OffloadTimes &offload = m_.pipeline.offload;
    print.add(static_cast<std::uint64_t>(offload.prefetch.ahead) << 4 | (offload.prefetch.prefetchFromPreviousModule ? 1u : 0u) | (offload.prefetch.dropsQueued ? 2u : 0u)
              | (offload.prefetch.endsForwarded ? 4u : 0u) | (offload.isEmpty() ? 8u : 0u));
    for (const int ahead : offload.ahead)
        print.add(static_cast<std::uint64_t>(ahead));
    for (const std::vector<OffloadSegment> &segments : offload.ops)
        for (const OffloadSegment &segment : segments)
            print.add(static_cast<std::uint64_t>(segment.waitsFor + 1) << 32 | static_cast<std::uint64_t>(segment.group) << 3
                      | (segment.staysAtTurn ? 4u : 0u) | (segment.store > 0 ? 1u : 0u) | (segment.recompute > 0 ? 2u : 0u));
}

void ActivationMoves::times(ClassTable &table)
{
    const OffloadTimes &offload = m_.pipeline.offload;
    m_first.clear();
    for (std::size_t slot = 0; slot < offload.ops.size(); ++slot) {
        const std::size_t device = slot / static_cast<std::size_t>(m_.chunks);
        std::uint32_t flow = kNoSpan;
        if (!m_.costs.linkCapacity.empty()) {
            if (slot % static_cast<std::size_t>(m_.chunks) == 0) {
                const OffloadPath &path = offload.paths[device];
                table.flows.push_back({0, path.storeCap, path.weight, path.storeLinks});
                table.flows.push_back({0, path.loadCap, path.weight, path.loadLinks});
            }
            flow = static_cast<std::uint32_t>(table.flows.size()) - 2;
        }
        m_first.push_back(static_cast<std::uint32_t>(table.durations.size()));
        for (const OffloadSegment &segment : offload.ops[slot]) {
            const std::uint32_t store = table.add(WorkKind::OffloadStore, segment.store, segment.bytes, flow);
            table.about[store].memory = OpMemory::moved(segment.bytes, true);
            const std::uint32_t load = table.add(WorkKind::OffloadLoad, segment.load, segment.bytes, flow == kNoSpan ? kNoSpan : flow + 1);
            table.about[load].memory = OpMemory::moved(segment.bytes, false);
        }
    }
}

void ActivationMoves::tasks(GraphBuilder &builder)
{
    if (!m_.offloads())
        return;
    m_moves.resize(static_cast<std::size_t>(m_.devices));
    m_stored.resize(m_.stages.size() * static_cast<std::size_t>(m_.microBatches));
    if (!m_.isStrict()) {
        m_gradientBegins.resize(m_stored.size());
        for (const std::vector<PlacedOp> &ops : m_.placed)
            for (const PlacedOp &op : ops)
                if (makesGradient(op.op->kind))
                    m_gradientBegins[m_.cell(m_.stageOf[op.slot], op.op->microBatch)] = beginOf(op);
    }
    for (int d = 0; d < m_.devices; ++d) {
        findMoves(d);
        addMoves(builder, d);
    }
}

/// Of an operation that is not cut, its end.
ActivationMoves::Moment ActivationMoves::beginOf(const PlacedOp &op) const
{
    return op.isCut ? Moment{op.task, From::Start} : Moment{op.last, From::End};
}

void ActivationMoves::findMoves(int device)
{
    DeviceMoves &moves = m_moves[static_cast<std::size_t>(device)];
    const std::vector<PlacedOp> &ops = m_.placed[static_cast<std::size_t>(device)];
    for (std::size_t i = 0; i < ops.size(); ++i) {
        if (m_.pipeline.offload.ops[ops[i].slot].empty())
            continue;
        if (isForward(ops[i].op->kind))
            findStores(moves, ops, i, m_.keepsOrder(device));
        else if (makesGradient(ops[i].op->kind))
            findLoads(moves, ops, i, device);
    }
    if (m_.keepsOrder(device))     // first come, first served: the numbers of the loads follow what asks for them
        std::ranges::stable_sort(moves.loads, {}, [](const Load &load) { return load.turn.task == kNoSpan ? 0 : load.turn.task + 1; });
    for (std::uint32_t i = 0; i < moves.loads.size(); ++i)
        moves.stores[moves.loads[i].store].load = i;
}

/// The last module before its own backward stays where the two follow each other: it is needed at once.
void ActivationMoves::findStores(DeviceMoves &moves, const std::vector<PlacedOp> &ops, std::size_t place, bool isOrderKnown)
{
    const PlacedOp &at = ops[place];
    const std::vector<OffloadSegment> &segments = m_.pipeline.offload.ops[at.slot];
    const bool isTurn = isOrderKnown && place + 1 < ops.size() && makesGradient(ops[place + 1].op->kind) && ops[place + 1].slot == at.slot
        && ops[place + 1].op->microBatch == at.op->microBatch;
    StoredRange &stored = m_stored[m_.cell(m_.stageOf[at.slot], at.op->microBatch)];
    stored.first = static_cast<std::uint32_t>(moves.stores.size());
    for (std::uint32_t k = 0; k < segments.size(); ++k)
        if (segments[k].store > 0 && !(isTurn && segments[k].staysAtTurn))
            moves.stores.push_back({k, at.isCut ? at.task + k : at.last, kNoSpan, kNoSpan, at.op});
    stored.count = static_cast<std::uint32_t>(moves.stores.size()) - stored.first;
}

/// What a backward loads, last segment first.
struct ActivationMoves::Groups {
    std::vector<TaskId> heads;             // of each group: the first task that needs it
    std::vector<std::size_t> groupOf;      // of each load
    TaskId turn = kNoSpan;                 // the backward of the module that stayed
};

ActivationMoves::Groups ActivationMoves::groupsOf(DeviceMoves &moves, const PlacedOp &backward, const PlacedOp *recomputation) const
{
    const std::vector<OffloadSegment> &segments = m_.pipeline.offload.ops[backward.slot];
    const StoredRange &stored = m_stored[m_.cell(m_.stageOf[backward.slot], backward.op->microBatch)];
    const bool recomputes = m_.isRecomputed(*backward.op, backward.slot);
    Groups groups;
    TaskId at = backward.task, recompute = recomputation ? recomputation->task : kNoSpan;
    std::uint32_t left = stored.count;
    int last = -1;
    for (std::size_t k = segments.size(); k-- > 0;) {
        const bool makesAnew = segments[k].recompute > 0;
        const TaskId task = recomputation && makesAnew ? recompute : at;
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
        groups.heads.back() = std::min(groups.heads.back(), task);   // a recomputation comes before the backwards
        last = segments[k].group;
        groups.groupOf.push_back(groups.heads.size() - 1);
    }
    for (std::size_t g = groups.heads.size(); g-- > 1;)   // no later than what is behind it in the queue
        groups.heads[g - 1] = std::min(groups.heads[g - 1], groups.heads[g]);
    return groups;
}

void ActivationMoves::findLoads(DeviceMoves &moves, const std::vector<PlacedOp> &ops, std::size_t place, int device)
{
    const PlacedOp &at = ops[place];
    StoredRange &stored = m_stored[m_.cell(m_.stageOf[at.slot], at.op->microBatch)];
    stored.isMadeAnew = place > 0 && ops[place - 1].op->kind == OpKind::Recompute;
    const Groups groups = groupsOf(moves, at, stored.isMadeAnew ? &ops[place - 1] : nullptr);
    for (std::uint32_t i = 0; i < stored.count; ++i) {
        Load load{stored.first + stored.count - 1 - i, {}, {}};
        if (m_.keepsOrder(device))
            load.turn = askInOrder(groups, groups.groupOf[i], ops, place, device);
        else
            askAtRunTime(load, groups, groups.groupOf[i], ops, place, device);
        moves.loads.push_back(load);
    }
}

/// At the end of the task before the one that turns to a group `ahead` places before it. What an operation that is not cut
/// needs is asked for as a whole when the operation before it begins.
ActivationMoves::Moment ActivationMoves::askInOrder(const Groups &groups, std::size_t group, const std::vector<PlacedOp> &ops, std::size_t place, int device) const
{
    const PrefetchRule &rule = m_.pipeline.offload.prefetch;
    const auto ahead = static_cast<std::size_t>(m_.pipeline.offload.aheadOf(device));
    const TaskId first = ops.front().task, task = ops[place].task;
    TaskId before = groups.heads.front();
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
    return {before > first ? before - 1 : kNoSpan, From::End};
}

void ActivationMoves::askAtRunTime(Load &load, const Groups &groups, std::size_t group, const std::vector<PlacedOp> &ops, std::size_t place, int device) const
{
    const PrefetchRule &rule = m_.pipeline.offload.prefetch;
    const auto ahead = static_cast<std::size_t>(m_.pipeline.offload.aheadOf(device));
    const PlacedOp &at = ops[place];
    const std::size_t next = m_.cell(m_.stageOf[at.slot] + 1, at.op->microBatch);
    // Also of later groups: a recomputation ahead of its gradient may have begun with segments that stayed.
    load.gradient = rule.prefetchFromPreviousModule ? m_gradientBegins[next] : Moment{m_.result[1][next], From::End};
    if (group >= ahead) {
        const TaskId head = groups.heads[group - ahead];
        const PlacedOp *begins = head == at.task ? &at : place > 0 && head == ops[place - 1].task ? &ops[place - 1] : nullptr;
        if (!begins || head != groups.heads[group]) {
            load.turn = begins ? beginOf(*begins) : Moment{head - 1, From::End};
            return;
        }
        // What its recomputation needs at once is needed with the group ahead: asked for like that one, or it would wait for itself.
    }
    for (std::size_t i = place; i-- > 0;)
        if (makesGradient(ops[i].op->kind)) {
            load.turn = {ops[i].last, rule.prefetchFromPreviousModule && ops[i].isCut ? From::Start : From::End};
            return;
        }
}

void ActivationMoves::addMoves(GraphBuilder &builder, int device)
{
    DeviceMoves &moves = m_moves[static_cast<std::size_t>(device)];
    const auto add = [&](GraphBuilder::Id resource, const Move &move, bool loads) {
        const std::uint32_t made = m_first[m_.slot(device, move.op->chunk)] + 2 * move.segment + (loads ? 1 : 0);
        return builder.task(resource, made, {move.op->microBatch, move.op->chunk, false});
    };
    moves.firstStore = builder.taskCount();
    const auto stores = builder.resource({.stream = Stream::Store, .pipelineClass = m_.index, .stage = device}, Discipline::Priority);
    for (const Move &move : moves.stores) {
        const TaskId store = add(stores, move, false);
        if (m_.pipeline.offload.prefetch.dropsQueued)
            builder.voidAfter(store, move.needed);
    }
    moves.firstLoad = builder.taskCount();
    const auto loads = builder.resource({.stream = Stream::Load, .pipelineClass = m_.index, .stage = device}, Discipline::Priority);
    for (const Load &load : moves.loads)
        builder.overtake(add(loads, moves.stores[load.store], true), moves.firstStore + load.store, m_.pipeline.offload.prefetch.endsForwarded);
}

Expected<void> ActivationMoves::order(GraphBuilder &builder)
{
    for (int d = 0; d < m_.devices && m_.offloads(); ++d) {
        for (const PlacedOp &op : m_.placed[static_cast<std::size_t>(d)]) {
            if (isForward(op.op->kind))
                waitForStores(builder, op, d);
            else
                waitForLoads(builder, op, d);
        }
        waitForMoves(builder, d);
    }
    return {};
}

/// Buffers: a segment of a forward may wait until what an earlier one keeps has left.
void ActivationMoves::waitForStores(GraphBuilder &builder, const PlacedOp &op, int device) const
{
    const DeviceMoves &moves = m_moves[static_cast<std::size_t>(device)];
    const StoredRange &stored = m_stored[m_.cell(m_.stageOf[op.slot], op.op->microBatch)];
    const std::vector<OffloadSegment> &segments = m_.pipeline.offload.ops[op.slot];
    for (std::uint32_t k = 0; op.isCut && k < segments.size(); ++k)
        for (std::uint32_t i = stored.first; segments[k].waitsFor >= 0 && i < stored.first + stored.count; ++i)
            if (moves.stores[i].segment == static_cast<std::uint32_t>(segments[k].waitsFor))
                builder.after(op.task + k, moves.firstStore + i);
}

/// Each segment that uses what left waits for its load; an operation that is not cut needs everything at its start.
void ActivationMoves::waitForLoads(GraphBuilder &builder, const PlacedOp &op, int device) const
{
    const bool isRecomputation = op.op->kind == OpKind::Recompute, recomputes = m_.isRecomputed(*op.op, op.slot);
    if (!isRecomputation && !makesGradient(op.op->kind))
        return;
    const DeviceMoves &moves = m_moves[static_cast<std::size_t>(device)];
    const StoredRange &stored = m_stored[m_.cell(m_.stageOf[op.slot], op.op->microBatch)];
    const auto loadOf = [&](std::uint32_t store) { return moves.firstLoad + moves.stores[stored.first + store].load; };
    for (std::uint32_t i = 0; !op.isCut && !isRecomputation && i < stored.count; ++i)
        builder.after(op.task, loadOf(i));
    if (!op.isCut)
        return;
    const std::vector<OffloadSegment> &segments = m_.pipeline.offload.ops[op.slot];
    std::uint32_t left = stored.count;
    TaskId task = op.task;
    for (std::size_t k = segments.size(); k-- > 0;) {
        const bool leaves = left > 0 && moves.stores[stored.first + left - 1].segment == k, makesAnew = segments[k].recompute > 0;
        left -= leaves ? 1 : 0;
        if (isRecomputation && !makesAnew)
            continue;
        // What a recomputation of its own has made anew is there.
        if (leaves && (isRecomputation || !(stored.isMadeAnew && makesAnew)))
            builder.after(task, loadOf(left));
        task += !isRecomputation && recomputes && makesAnew ? 2 : 1;
    }
}

void ActivationMoves::waitForMoves(GraphBuilder &builder, int device) const
{
    const DeviceMoves &moves = m_moves[static_cast<std::size_t>(device)];
    for (std::uint32_t i = 0; i < moves.stores.size(); ++i)
        builder.after(moves.firstStore + i, moves.stores[i].made);
    const bool isInOrder = m_.keepsOrder(device);
    for (std::uint32_t i = 0; i < moves.loads.size(); ++i) {
        const Load &load = moves.loads[i];
        const TaskId task = moves.firstLoad + i, made = moves.stores[load.store].made;
        // Nothing is asked for before it is there.
        if (load.turn.task == kNoSpan || !isInOrder || load.turn.task <= made)
            builder.after(task, made);
        if (!isInOrder || load.turn.task > made)
            builder.after(task, load.turn.task, kNoLag, load.turn.from);
        builder.after(task, load.gradient.task, kNoLag, load.gradient.from);
    }
}

} // namespace trainyard
