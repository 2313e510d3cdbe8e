// SPDX-License-Identifier: GPL-3.0-or-later
// The layer loop of Cephalo (arXiv 2411.01075; the released code's order of streams). A visit is all operations of one
// layer in one direction. Collectives of a class lie on one row in the order in which they are asked for:
//
//   prefetching:  G(0) G(1) | begin of visit 1: G(2) … | end of a backward visit v: R(v) G(v + 2) …
//   otherwise:    G(0) | end of visit 0: G(1) … | end of a backward visit v: R(v) G(v + 1) …
//
// A collective begins when every class has asked for it and is as long for each, so that all begin and end together.
// Boundaries: what enters a layer leaves after its forward and is back before its backward; its gradient leaves after
// the backward of the layer behind and is back before its own, unless there is one micro-batch, which stays. Two
// buffers each way: a copy is asked for when the operation before begins, and the operation after the next waits for
// what leaves.
#include "core/iteration/graph/contributors.h"

namespace trainyard {

void LayerLoop::shape(Fingerprint &print) const
{
    const LayerLoopTimes &loop = m_.pipeline.layers;
    print.add(loop.isEmpty() ? 0 : 1u | (loop.prefetches ? 2u : 0u) | (loop.movesBoundaries() ? 4u : 0u));
}

void LayerLoop::times(ClassTable &table)
{
    const LayerLoopTimes &loop = m_.pipeline.layers;
    m_first = static_cast<std::uint32_t>(table.durations.size());
    for (std::size_t layer = 0; layer < loop.gather.size(); ++layer) {
        table.add(WorkKind::ParameterGather, loop.gather[layer]);
        table.add(WorkKind::GradientReduce, loop.reduce[layer]);
    }
    m_firstMove = static_cast<std::uint32_t>(table.durations.size());
    if (!loop.movesBoundaries())
        return;
    for (const Move move : { StoreInput, LoadInput, StoreGradient, LoadGradient }) {
        const bool isStore = move == StoreInput || move == StoreGradient,
                   isInput = move == StoreInput || move == LoadInput;
        const double share = isInput ? loop.inputShare : 1, bytes = share * loop.boundaryBytes;
        const std::uint32_t added = table.add(isStore ? WorkKind::OffloadStore : WorkKind::OffloadLoad,
            static_cast<Nanoseconds>(share * static_cast<double>(isStore ? loop.store : loop.load)), bytes);
        if (isInput) // gradients are not counted among what is kept
            table.about[added].memory = OpMemory::moved(bytes, isStore);
    }
}

void LayerLoop::findVisits()
{
    for (std::size_t i = 0; i < ops().size(); ++i) {
        if (m_visits.empty() || m_visits.back().layer != ops()[i].chunk)
            m_visits.push_back({ i, i, ops()[i].chunk, false });
        m_visits.back().last = i + 1;
        m_visits.back().isBackward |= makesGradient(ops()[i].kind);
    }
}

void LayerLoop::tasks(GraphBuilder &builder)
{
    const LayerLoopTimes &loop = m_.pipeline.layers;
    if (loop.isEmpty())
        return;
    findVisits();
    m_.collective = builder.resource({ .stream = Stream::Collective, .pipelineClass = m_.index });
    const auto gather = [&](std::size_t visit) {
        if (visit >= m_visits.size())
            return;
        const int layer = m_visits[visit].layer;
        m_visits[visit].gather =
            builder.task(m_.collective, m_first + 2 * static_cast<std::uint32_t>(layer), { .chunk = layer });
    };
    const std::size_t ahead = loop.prefetches ? 1 : 0;
    gather(0);
    for (std::size_t v = 0; v < m_visits.size(); ++v) {
        if (loop.prefetches && v == 0)
            gather(1);
        if (m_visits[v].isBackward)
            m_visits[v].reduce = builder.task(m_.collective,
                m_first + 2 * static_cast<std::uint32_t>(m_visits[v].layer) + 1, { .chunk = m_visits[v].layer });
        gather(v + 1 + ahead);
    }
    m_.lastReduce = m_visits.back().reduce;
    if (loop.movesBoundaries())
        addMoves(builder);
}

void LayerLoop::addMoves(GraphBuilder &builder)
{
    const int last = m_.chunks - 1;
    const bool movesGradients = m_.microBatches > 1;
    const auto add = [&](GraphBuilder::Id resource, std::size_t op, Move move) {
        m_moves.push_back(
            { builder.task(resource, m_firstMove + move, { ops()[op].microBatch, ops()[op].chunk, false }), op, move });
    };
    const auto stores = builder.resource({ .stream = Stream::Store, .pipelineClass = m_.index });
    for (std::size_t i = 0; i < ops().size(); ++i) {
        if (isForward(ops()[i].kind) && ops()[i].chunk < last)
            add(stores, i, StoreInput);
        else if (makesGradient(ops()[i].kind) && ops()[i].chunk > 0 && movesGradients)
            add(stores, i, StoreGradient);
    }
    const auto loads = builder.resource({ .stream = Stream::Load, .pipelineClass = m_.index });
    for (std::size_t i = 0; i < ops().size(); ++i) {
        if (!makesGradient(ops()[i].kind) || ops()[i].chunk == last)
            continue;
        add(loads, i, LoadInput);
        if (movesGradients)
            add(loads, i, LoadGradient);
    }
}

void LayerLoop::orderMoves(GraphBuilder &builder) const
{
    std::vector<TaskId> storedInput(m_.result[0].size(), kNoSpan), storedGradient(storedInput);
    for (const Moved &moved : m_moves) {
        const Op &op = ops()[moved.op];
        const std::size_t cell = m_.cell(op.chunk, op.microBatch);
        if (moved.move == StoreInput || moved.move == StoreGradient) {
            builder.after(moved.task, lastTask(moved.op));
            if (moved.op + 2 < ops().size())
                builder.after(firstTask(moved.op + 2), moved.task);
            (moved.move == StoreInput ? storedInput : storedGradient)[cell] = moved.task;
        } else {
            builder.after(moved.task,
                moved.move == LoadInput ? storedInput[cell] : storedGradient[m_.cell(op.chunk + 1, op.microBatch)]);
            builder.after(moved.task, firstTask(moved.op - 1), kNoLag, GraphBuilder::From::Start);
            builder.after(firstTask(moved.op), moved.task);
        }
    }
}

Expected<void> LayerLoop::order(GraphBuilder &builder)
{
    const bool prefetches = m_.pipeline.layers.prefetches;
    for (std::size_t v = 0; v < m_visits.size(); ++v) {
        const Visit &visit = m_visits[v];
        for (const LayerLoop *other : m_all) {
            if (v >= other->m_visits.size())
                return std::unexpected(scheduleError("classes of pipelines with different layers"));
            if (v > 0) {
                const Visit &before = other->m_visits[v - 1];
                if (prefetches)
                    builder.after(visit.gather, other->firstTask(before.first), kNoLag, GraphBuilder::From::Start);
                else
                    builder.after(visit.gather, other->lastTask(before.last - 1));
            }
            if (visit.reduce != kNoSpan)
                builder.after(visit.reduce, other->lastTask(other->m_visits[v].last - 1));
        }
        builder.after(firstTask(visit.first), visit.gather);
    }
    orderMoves(builder);
    return {};
}

} // namespace trainyard
