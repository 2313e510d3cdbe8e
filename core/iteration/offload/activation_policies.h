#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which activations of a stage leave the GPU, which are recomputed and which stay, by the published rules of
// systems that mix the three: MEMO token by token, KARMA and ProTrain block by block. The rules, and the closed forms
// of time and memory by which they decide; core/iteration/offload makes a timeline of what they say. Equations in
// docs/model.md, "Policies of activations"; pure functions.

#include "core/base/units.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainyard {

// MEMO (arXiv 2407.12117, §4.1)

struct MemoLayer { // of one micro-batch on one GPU
    /// always leave: the layer's input and the output of its attention
    Bytes input, attention;
    /// of which a share alpha of the tokens leaves and the rest is recomputed
    Bytes others;
    Seconds forward;
};

/// max alpha  with (S_in + S_attn + alpha S_oth) / B <= T_fwd  and  (n - 2) (S_in + S_attn + alpha S_oth) <= M_host,
/// in [0, 1]; the last two of n layers never leave, two buffers in turns serve the others.
[[nodiscard]] double memoTokenShare(const MemoLayer &layer, int layers, BytesPerSecond link, Bytes hostMemory);

// KARMA (arXiv 2008.11421) and ProTrain (arXiv 2406.08334)

enum class BlockFate : std::uint8_t { Keep, Swap, Recompute };

struct Block { // consecutive layers of one micro-batch on one GPU
    /// input: what recomputation starts from
    Bytes activations, input;
    Seconds forward, backward;
};

struct BlockPlan {
    /// by block, in the order of the forward
    std::vector<BlockFate> fates;
    /// activations on the GPU, the block at work whole and one beside it on its way
    Bytes peak;
    /// out, and in again
    Bytes swapped;
    /// forward and backward of the micro-batch, with what transfers do not hide
    Seconds time;
    Seconds recomputed, stall;
};

struct BlockLimits {
    /// for activations
    Bytes room;
    /// 0: nothing can be swapped
    BytesPerSecond out, in;
    /// more micro-batches of the stage between their forward and their backward
    double waiting = 0;
    /// that exist beside the block at work; between forward and backward (loss, logits)
    Bytes workspace, turn;
    /// blocks on their way at a time
    int moving = 1;
};

/// Time and peak of given fates: the peak is waiting sum kept + max(max_i(kept before i + moving + A_i + beside), kept
/// + moving
/// + turn), and with others in flight one block more that moves for them. Swaps leave while later blocks run forward
/// and return, the last one first, while later blocks run backward, one block on its way at a time; what the link has
/// not moved by then stalls.
[[nodiscard]] BlockPlan playBlocks(
    const std::vector<Block> &blocks, std::vector<BlockFate> fates, const BlockLimits &limits);

/// The last blocks stay, as many as have room; of the first ones, which leave, some are recomputed instead of
/// swapped, evenly between the swaps, while the link works on those: as many as is shorter than the waits that it
/// spares, t_recompute(block) < exposed swap(block). The fastest of all such numbers within `room`; where none fits,
/// the smallest. Where nothing can be swapped all that leaves is recomputed.
[[nodiscard]] BlockPlan karma(const std::vector<Block> &blocks, const BlockLimits &limits);

/// The first n_swap blocks are swapped, the next n_checkpoint recomputed, the others stay: the fastest pair whose
/// peak is within `room`, of all pairs. With no pair inside, the one with the smallest peak.
[[nodiscard]] BlockPlan proTrain(const std::vector<Block> &blocks, const BlockLimits &limits);

} // namespace trainyard
