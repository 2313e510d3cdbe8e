#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What papers write down of a GPT's stages, boundaries and collectives (docs/model.md, "Closed forms"), beside what the
// program counts for itself. Seconds and bytes.

#include "core/engine/schedule/closed_forms.h"

namespace trainyard::test {

/// A stage of a GPT: `layers` layers of width `hidden` on `tensor` GPUs that reach `flops` FLOP/s each.
struct GptStage {
    double layers = 1, microBatch = 1, sequence = 0, hidden = 0, tensor = 1, flops = 0;
};

/// tf = nl·b·L(24H² + 4LH)/(TP·F), tb = 2 tf, tr = tf or 0.
inline FormStage gptStageTimes(const GptStage &s, bool recomputes)
{
    const double forward = s.layers * s.microBatch * s.sequence * (24 * s.hidden * s.hidden + 4 * s.sequence * s.hidden)
        / (s.tensor * s.flops);
    return { forward, 2 * forward, recomputes ? forward : 0 };
}

/// A = 2bLH: 16-bit activations of a micro-batch at a stage boundary.
inline double gptBoundaryBytes(const GptStage &s)
{
    return 2 * s.microBatch * s.sequence * s.hidden;
}

/// C = s/tf = 16·TP·F/(BW·nl·(24H + 4L)), BW in bit/s of one node pair.
inline double gptWanToForwardRatio(const GptStage &s, double nodePairBitsPerSecond)
{
    return 16 * s.tensor * s.flops / (nodePairBitsPerSecond * s.layers * (24 * s.hidden + 4 * s.sequence));
}

/// Ring all-reduce of `bytes` among n ranks: 2(n−1)(S/(nB) + α), B in bytes/s.
inline double ringAllReduceSeconds(int ranks, double bytes, double bytesPerSecond, double stepSeconds)
{
    return ranks < 2 ? 0 : 2.0 * (ranks - 1) * (bytes / (ranks * bytesPerSecond) + stepSeconds);
}

/// 2·M·A·|X|·D: bytes on the WAN in one iteration, half of them in each direction.
inline double wanBytesPerIteration(double microBatches, double boundaryBytes, int cuts, int pipelines)
{
    return 2 * microBatches * boundaryBytes * cuts * pipelines;
}

} // namespace trainyard::test
