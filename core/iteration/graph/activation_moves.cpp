// SPDX-License-Identifier: GPL-3.0-or-later
// The stores and loads between operations that are cut into segments. A device has two queues, one in each direction,
// that serve in the order in which they are asked (device_moves); the event loop decides there what is forwarded or
// dropped.
#include "core/iteration/graph/contributors.h"

#include <algorithm>

namespace trainyard {

void ActivationMoves::shape(Fingerprint &print) const
{
    const OffloadTimes &offload = m_.pipeline.offload;
    print.add(offload.isEmpty());
    for (const int ahead : offload.ahead)
        print.add(static_cast<std::uint64_t>(ahead));
    for (const std::vector<OffloadSegment> &segments : offload.ops)
        for (const OffloadSegment &segment : segments)
            print.add(static_cast<std::uint64_t>(segment.releases + 1) << 32
                | static_cast<std::uint64_t>(segment.group) << 3 | (segment.staysAtTurn ? 4u : 0u)
                | (segment.store > 0 ? 1u : 0u) | (segment.recompute > 0 ? 2u : 0u));
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
                table.flows.push_back({ 0, path.storeCap, path.weight, path.storeLinks });
                table.flows.push_back({ 0, path.loadCap, path.weight, path.loadLinks });
            }
            flow = static_cast<std::uint32_t>(table.flows.size()) - 2;
        }
        m_first.push_back(static_cast<std::uint32_t>(table.durations.size()));
        for (const OffloadSegment &segment : offload.ops[slot]) {
            const std::uint32_t store = table.add(WorkKind::OffloadStore, segment.store, segment.bytes, flow);
            table.about[store].memory = OpMemory::moved(segment.bytes, true);
            const std::uint32_t load =
                table.add(WorkKind::OffloadLoad, segment.load, segment.bytes, flow == kNoSpan ? kNoSpan : flow + 1);
            table.about[load].memory = OpMemory::moved(segment.bytes, false);
        }
    }
}

void ActivationMoves::tasks(GraphBuilder &builder)
{
    if (!m_.offloads())
        return;
    if (!m_.isStrict()) {
        m_gradientBegins.resize(m_.result[1].size());
        for (const std::vector<PlacedOp> &ops : m_.placed)
            for (const PlacedOp &op : ops)
                if (makesGradient(op.op->kind))
                    m_gradientBegins[m_.cell(m_.stageOf[op.slot], op.op->microBatch)] = beginOf(op);
    }
    const OffloadTimes &offload = m_.pipeline.offload;
    const auto chunks = static_cast<std::size_t>(m_.chunks);
    for (int d = 0; d < m_.devices; ++d) {
        const std::size_t first = m_.slot(d, 0);
        addMoves(builder, d,
            movesOf({ m_.placed[static_cast<std::size_t>(d)], std::span(m_.pipeline.ops).subspan(first, chunks),
                std::span(offload.ops).subspan(first, chunks), m_.microBatches,
                offload.ahead[static_cast<std::size_t>(d)], m_.keepsOrder(d) }));
    }
}

void ActivationMoves::addMoves(GraphBuilder &builder, int device, DeviceMoves moves)
{
    const std::vector<PlacedOp> &ops = m_.placed[static_cast<std::size_t>(device)];
    const auto add = [&](GraphBuilder::Id resource, const DeviceMoves::Store &store, bool loads) {
        const PlacedOp &op = ops[store.forward];
        return builder.task(resource, m_first[op.slot] + 2 * store.segment + (loads ? 1 : 0),
            { op.op->microBatch, op.op->chunk, false });
    };
    const TaskId firstStore = builder.taskCount();
    const auto stores =
        builder.resource({ .stream = Stream::Store, .pipelineClass = m_.index, .stage = device }, Discipline::Priority);
    for (const DeviceMoves::Store &store : moves.stores)
        add(stores, store, false);
    const TaskId firstLoad = builder.taskCount();
    const auto loads =
        builder.resource({ .stream = Stream::Load, .pipelineClass = m_.index, .stage = device }, Discipline::Priority);
    for (const DeviceMoves::Load &load : moves.loads)
        builder.overtake(add(loads, moves.stores[load.store], true), firstStore + load.store);
    m_queues.push_back({ std::move(moves), firstStore, firstLoad });
}

Expected<void> ActivationMoves::order(GraphBuilder &builder)
{
    for (int d = 0; d < static_cast<int>(m_queues.size()); ++d) {
        waitForStores(builder, d);
        waitForLoads(builder, d);
    }
    return {};
}

/// Buffers: a segment of a forward may wait until what an earlier one keeps has left.
void ActivationMoves::waitForStores(GraphBuilder &builder, int device) const
{
    const Queues &queues = m_queues[static_cast<std::size_t>(device)];
    TaskId task = queues.firstStore;
    for (const DeviceMoves::Store &store : queues.moves.stores) {
        const PlacedOp &forward = m_.placed[static_cast<std::size_t>(device)][store.forward];
        const int released = m_.pipeline.offload.ops[forward.slot][store.segment].releases;
        if (forward.isCut && released >= 0)
            builder.after(forward.task + static_cast<TaskId>(released), task);
        builder.after(task++, store.made);
    }
}

void ActivationMoves::waitForLoads(GraphBuilder &builder, int device) const
{
    const Queues &queues = m_queues[static_cast<std::size_t>(device)];
    const auto from = [](const TaskEvent &moment) {
        return moment.isStart ? GraphBuilder::From::Start : GraphBuilder::From::End;
    };
    const bool isInOrder = m_.keepsOrder(device);
    TaskId task = queues.firstLoad;
    for (const DeviceMoves::Load &load : queues.moves.loads) {
        const TaskId made = queues.moves.stores[load.store].made;
        // Nothing is asked for before it is there.
        if (load.turn.task == kNoSpan || !isInOrder || load.turn.task <= made)
            builder.after(task, made);
        if (!isInOrder || load.turn.task > made)
            builder.after(task, load.turn.task, kNoLag, from(load.turn));
        if (!isInOrder) {
            const PlacedOp &backward = m_.placed[static_cast<std::size_t>(device)][load.backward];
            const TaskEvent &gradient =
                m_gradientBegins[m_.cell(m_.stageOf[backward.slot] + 1, backward.op->microBatch)];
            builder.after(task, gradient.task, kNoLag, from(gradient));
        }
        builder.after(load.user, task++);
    }
}

} // namespace trainyard
