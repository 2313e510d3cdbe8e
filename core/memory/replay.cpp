// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/replay.h"

#include <algorithm>

namespace trainyard {

Replay::Replay(const Program &program, int device, const std::vector<ChunkMemory> &chunks, bool isRecomputing)
    : m_chunks(chunks), m_microBatches(std::size_t(program.shape.microBatches)), m_state(chunks.size() * m_microBatches, State::Kept)
{
    if (!isRecomputing)
        return;
    for (const Op &op : program.order[std::size_t(device)]) {
        m_hasRecomputeOps |= op.kind == OpKind::Recompute;
        // A backward that does not recompute finds everything that its forward made.
        if ((op.kind == OpKind::Backward || op.kind == OpKind::InputGrad) && !op.recomputes)
            state(op.chunk, op.microBatch) = State::Whole;
    }
    for (const Op &op : program.order[std::size_t(device)])
        if (op.kind == OpKind::Recompute)   // a forward that keeps little, made whole before its backward
            state(op.chunk, op.microBatch) = State::Kept;
}

Held Replay::run(OpKind kind, int chunk, int microBatch)
{
    const ChunkMemory &c = m_chunks[std::size_t(chunk)];
    State &at = state(chunk, microBatch);
    const double one = 1.0 / double(m_chunks.size());
    const double held = at == State::Whole ? c.whole : c.kept;
    Held during = m_now;
    switch (kind) {
    case OpKind::Forward:
        m_now.activations += held;
        m_now.ends += c.ends;
        m_now.loss += c.loss;
        m_now.inFlight += one;
        during = m_now;
        during.beside = c.forward;
        break;
    case OpKind::Recompute:
        if (at == State::Kept)
            m_now.activations += c.whole - c.kept;
        at = State::Whole;
        during = m_now;
        break;
    case OpKind::Backward:
    case OpKind::InputGrad:
        during.beside = at == State::Whole ? c.sparedBackward : c.backward;
        m_now.activations -= held;
        m_now.ends -= c.ends;
        m_now.loss -= c.loss;
        m_now.inFlight -= one;
        if (kind == OpKind::InputGrad)
            m_now.forWeightGrads += c.forWeightGrads;
        break;
    case OpKind::WeightGrad: m_now.forWeightGrads -= c.forWeightGrads; break;
    }
    return during;
}

Held fullestMoment(const Program &program, int device, const std::vector<ChunkMemory> &chunks, bool isRecomputing)
{
    Replay replay(program, device, chunks, isRecomputing);
    Held fullest;
    for (const Op &op : program.order[std::size_t(device)]) {
        const Held during = replay.run(op.kind, op.chunk, op.microBatch);
        if (during.total() > fullest.total())
            fullest = during;
        if (replay.now().total() > fullest.total())
            fullest = replay.now();
    }
    return fullest;
}

} // namespace trainyard
