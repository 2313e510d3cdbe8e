// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ladder/activation_policies.h"

#include <algorithm>
#include <limits>

namespace trainyard {

double memoTokenShare(const MemoLayer &layer, int layers, BytesPerSecond link, Bytes hostMemory)
{
    if (layer.others.value <= 0)
        return 1;
    const Bytes always = layer.input + layer.attention;
    double share = ((link * layer.forward - always) / layer.others);
    if (layers > 2)
        share = std::min(share, (hostMemory / (layers - 2) - always) / layer.others);
    return std::clamp(share, 0.0, 1.0);
}

Bytes memoResident(const MemoLayer &layer, int layers)
{
    return (layer.input + layer.attention + layer.others) * std::min(4, std::max(0, layers));
}

Seconds memoRecompute(const MemoLayer &layer, double alpha, double othersShareOfForward)
{
    return layer.forward * ((1 - alpha) * othersShareOfForward);
}

namespace {

Seconds over(Bytes bytes, BytesPerSecond rate)
{
    return bytes.value <= 0 ? Seconds{} : Seconds{rate.value > 0 ? bytes.value / rate.value : std::numeric_limits<double>::infinity()};
}

/// A block is whole while it is worked on, forward and backward; beside it one swapped block is on its way.
Bytes peakOf(const std::vector<Block> &blocks, const std::vector<BlockFate> &fates)
{
    Bytes kept, moving, most;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        most = std::max(most, kept + moving + blocks[i].activations);
        switch (fates[i]) {
        case BlockFate::Keep: kept += blocks[i].activations; break;
        case BlockFate::Recompute: kept += blocks[i].input; break;
        case BlockFate::Swap: moving = blocks[i].activations; break;
        }
    }
    return most;
}

/// Every block's wait for its own swap-in, and the micro-batch in all.
struct Played {
    BlockPlan plan;
    std::vector<Seconds> waits;
};

/// One block moves while another is worked on: a forward waits until the swap before the last one is out, a load for the
/// backward of the swapped block after its own to begin.
Played play(const std::vector<Block> &blocks, std::vector<BlockFate> fates, const BlockLimits &limits)
{
    Played played{{std::move(fates), {}, {}, {}, {}, {}}, std::vector<Seconds>(blocks.size())};
    BlockPlan &plan = played.plan;
    plan.peak = peakOf(blocks, plan.fates);
    Seconds now, linkFree;
    const auto waitUntil = [&](Seconds then) {
        const Seconds wait = std::max(Seconds{}, then - now);
        plan.stall += wait;
        now += wait;
        return wait;
    };
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        now += blocks[i].forward;
        if (plan.fates[i] != BlockFate::Swap)
            continue;
        plan.swapped += blocks[i].activations;
        waitUntil(linkFree);
        linkFree = now + over(blocks[i].activations, limits.out);
    }
    waitUntil(linkFree);
    for (std::size_t i = blocks.size(); i-- > 0;) {
        if (plan.fates[i] == BlockFate::Swap) {
            linkFree += over(blocks[i].activations, limits.in);
            played.waits[i] = waitUntil(linkFree);
            linkFree = now;
        } else if (plan.fates[i] == BlockFate::Recompute) {
            plan.recomputed += blocks[i].forward;
            now += blocks[i].forward;
        }
        now += blocks[i].backward;
    }
    plan.time = now;
    return played;
}

/// From the last block that leaves to the first: recomputing one also shortens the waits of those before it.
BlockPlan withRecomputation(const std::vector<Block> &blocks, std::vector<BlockFate> fates, const BlockLimits &limits)
{
    Played best = play(blocks, fates, limits);
    for (std::size_t i = blocks.size(); i-- > 0;) {
        if (fates[i] != BlockFate::Swap || best.waits[i] <= blocks[i].forward)
            continue;
        fates[i] = BlockFate::Recompute;
        Played next = play(blocks, fates, limits);
        if (next.plan.peak <= std::max(limits.room, best.plan.peak) && next.plan.time < best.plan.time)
            best = std::move(next);
        else
            fates[i] = BlockFate::Swap;
    }
    return best.plan;
}

} // namespace

BlockPlan playBlocks(const std::vector<Block> &blocks, std::vector<BlockFate> fates, const BlockLimits &limits)
{
    return play(blocks, std::move(fates), limits).plan;
}

BlockPlan karma(const std::vector<Block> &blocks, const BlockLimits &limits)
{
    std::vector<BlockFate> fates(blocks.size(), BlockFate::Keep);
    std::size_t leaving = 0;       // blocks from the first on that do not stay
    while (leaving < blocks.size() && peakOf(blocks, fates) > limits.room)
        fates[leaving++] = BlockFate::Swap;
    BlockPlan best = withRecomputation(blocks, fates, limits);
    // One block less may stay for the inputs that recomputation starts from.
    for (; leaving < blocks.size(); ++leaving) {
        fates[leaving] = BlockFate::Swap;
        BlockPlan other = withRecomputation(blocks, fates, limits);
        if (other.peak <= limits.room && (best.peak > limits.room || other.time < best.time))
            best = std::move(other);
    }
    return best;
}

BlockPlan proTrain(const std::vector<Block> &blocks, const BlockLimits &limits)
{
    BlockPlan best;
    bool hasBest = false, bestFits = false;
    for (std::size_t swap = 0; swap <= blocks.size(); ++swap) {
        for (std::size_t again = 0; swap + again <= blocks.size(); ++again) {
            std::vector<BlockFate> fates(blocks.size(), BlockFate::Keep);
            std::fill_n(fates.begin(), swap, BlockFate::Swap);
            std::fill_n(fates.begin() + std::ptrdiff_t(swap), again, BlockFate::Recompute);
            BlockPlan plan = play(blocks, std::move(fates), limits).plan;
            const bool fits = plan.peak <= limits.room;
            const bool isBetter = !hasBest || (fits != bestFits ? fits : fits ? plan.time < best.time : plan.peak < best.peak);
            if (!isBetter)
                continue;
            best = std::move(plan);
            bestFits = fits;
            hasBest = true;
        }
    }
    return best;
}

} // namespace trainyard
