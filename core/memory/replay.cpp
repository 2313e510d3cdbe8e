// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/replay.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Adds what one micro-batch of a chunk holds after its forward, or takes it away.
void hold(LiveBytes &live, const ChunkMemory &c, bool isWhole, double sign, double chunkShare)
{
    live.activations += sign * (isWhole ? c.whole : c.kept);
    live.ends += sign * c.ends;
    live.loss += sign * c.loss;
    live.inFlight += sign * chunkShare;
}

/// Of an input gradient: at its last layer what waits for weight gradients has taken the place of what the layers kept.
struct LastLayer {
    Workspace workspace;
    double grown = 0;
    [[nodiscard]] double total() const { return workspace.total() + grown; }
};
LastLayer lastLayer(const ChunkMemory &c, bool isWhole)
{
    LastLayer last{c.atLayers, std::max(0.0, c.forWeightGrads - (isWhole ? c.whole : c.kept))};
    if (isWhole)
        last.workspace.recomputed = 0;
    return last;
}

/// The order in which a device holds most. With opportunistic forwards it may take every forward before the first gradient comes, but for
/// the last device, which makes its gradients itself.
std::vector<Op> fullestOrder(const Program &program, int device)
{
    std::vector<Op> order = program.order[std::size_t(device)];
    if (program.rule == OrderRule::OpportunisticForward && device + 1 < program.shape.devices)
        std::ranges::stable_partition(order, isForward, &Op::kind);
    return order;
}

} // namespace

Replay::Replay(const Program &program, int device, const std::vector<ChunkMemory> &chunks, bool isRecomputing)
    : m_microBatches(std::size_t(program.shape.microBatches))
{
    m_sizes.reserve(chunks.size());
    for (const ChunkMemory &c : chunks)
        m_sizes.push_back({{c.kept + c.ends + c.loss, c.whole + c.ends + c.loss}, {c.backward.total(), c.sparedBackward.total()},
                           {std::max(c.backward.total(), lastLayer(c, false).total()), std::max(c.sparedBackward.total(), lastLayer(c, true).total())},
                           c.forward.total(), c.forWeightGrads});
    if (!isRecomputing)
        return;
    const std::vector<Op> &order = program.order[std::size_t(device)];
    for (const Op &op : order) {
        m_hasRecomputeOps |= op.kind == OpKind::Recompute;
        if ((op.kind != OpKind::Backward && op.kind != OpKind::InputGrad) || op.recomputes)
            continue;
        m_isWhole.resize(chunks.size() * m_microBatches);
        m_isWhole[index(op.chunk, op.microBatch)] = 1;
    }
    if (!m_hasRecomputeOps)
        return;
    m_isWhole.resize(chunks.size() * m_microBatches);
    for (const Op &op : order)
        if (op.kind == OpKind::Recompute)   // a forward that keeps little, made whole before its backward
            m_isWhole[index(op.chunk, op.microBatch)] = 0;
}

double Replay::recompute(const Sizes &c, int chunk, int microBatch)
{
    if (!m_isWhole.empty() && m_isWhole[index(chunk, microBatch)] == 0) {
        m_isWhole[index(chunk, microBatch)] = 1;
        m_now += c.live[1] - c.live[0];
    }
    return m_now;
}

Fullest fullestMoment(const Program &program, int device, const std::vector<ChunkMemory> &chunks, bool isRecomputing)
{
    Replay replay(program, device, chunks, isRecomputing);
    Fullest fullest;
    const std::vector<Op> &fixed = program.order[std::size_t(device)];
    const std::vector<Op> opportunistic = program.rule == OrderRule::OpportunisticForward ? fullestOrder(program, device) : std::vector<Op>{};
    const std::vector<Op> &order = program.rule == OrderRule::OpportunisticForward ? opportunistic : fixed;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const double during = replay.run(order[i].kind, order[i].chunk, order[i].microBatch);
        if (during > fullest.total)
            fullest = {during, i, false};
        if (replay.now() > fullest.total)
            fullest = {replay.now(), i, true};
    }
    return fullest;
}

LiveBytes liveAt(const Fullest &moment, const Program &program, int device, const std::vector<ChunkMemory> &chunks, bool isRecomputing)
{
    Replay replay(program, device, chunks, isRecomputing);
    LiveBytes live;
    const std::vector<Op> order = fullestOrder(program, device);
    const double share = 1.0 / double(chunks.size());
    for (std::size_t i = 0; i <= moment.op && i < order.size(); ++i) {
        const Op &op = order[i];
        const ChunkMemory &c = chunks[std::size_t(op.chunk)];
        const bool wasWhole = replay.isWhole(op.chunk, op.microBatch);
        const bool isDuring = i == moment.op && !moment.isAfter;
        replay.run(op.kind, op.chunk, op.microBatch);
        switch (op.kind) {
        case OpKind::PairedForward:
        case OpKind::Forward:
            hold(live, c, wasWhole, 1, share);
            if (isDuring)
                live.workspace = c.forward;
            break;
        case OpKind::Recompute:
            if (!wasWhole && replay.isWhole(op.chunk, op.microBatch))
                live.activations += c.whole - c.kept;
            break;
        case OpKind::Backward:
        case OpKind::InputGrad:
            if (isDuring) {
                live.workspace = wasWhole ? c.sparedBackward : c.backward;
                if (const LastLayer last = lastLayer(c, wasWhole); op.kind == OpKind::InputGrad && last.total() > live.workspace.total()) {
                    live.workspace = last.workspace;
                    live.forWeightGrads += last.grown;
                }
                break;
            }
            hold(live, c, wasWhole, -1, share);
            if (op.kind == OpKind::InputGrad)
                live.forWeightGrads += c.forWeightGrads;
            break;
        case OpKind::WeightGrad:
            if (!isDuring)
                live.forWeightGrads -= c.forWeightGrads;
            break;
        }
    }
    return live;
}

} // namespace trainyard
