// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/offload/activation_policies.h"

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

namespace {

Seconds over(Bytes bytes, BytesPerSecond rate)
{
    return bytes.value <= 0
        ? Seconds {}
        : Seconds { rate.value > 0 ? bytes.value / rate.value : std::numeric_limits<double>::infinity() };
}

bool canSwap(const BlockLimits &limits)
{
    return limits.out.value > 0 && limits.in.value > 0;
}

/// A block is whole while it is worked on, forward and backward; beside it the swapped blocks before it are on their
/// way.
Bytes peakOf(const std::vector<Block> &blocks, const std::vector<BlockFate> &fates, const BlockLimits &limits)
{
    Bytes kept, moving, most, largest;
    std::size_t out = 0, oldest = 0; // swapped blocks on their way; the first of them
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        most = std::max(most, kept + moving + blocks[i].activations + limits.workspace);
        switch (fates[i]) {
        case BlockFate::Keep:
            kept += blocks[i].activations;
            break;
        case BlockFate::Recompute:
            kept += blocks[i].input;
            break;
        case BlockFate::Swap:
            largest = std::max(largest, blocks[i].activations);
            moving += blocks[i].activations;
            if (++out <= std::size_t(limits.moving))
                break;
            for (; fates[oldest] != BlockFate::Swap; ++oldest)
                ;
            moving -= blocks[oldest++].activations;
            --out;
            break;
        }
    }
    most = std::max(most, kept + moving + limits.turn);
    return most + kept * limits.waiting + (limits.waiting > 0 ? largest : Bytes {});
}

/// All but the peak. One block moves while another is worked on: a forward waits until the swap before the last one is
/// out, a load for the backward of the swapped block after its own to begin.
BlockPlan play(const std::vector<Block> &blocks, const std::vector<BlockFate> &fates, const BlockLimits &limits)
{
    BlockPlan plan;
    Seconds now, linkFree;
    const auto waitUntil = [&](Seconds then) {
        const Seconds wait = std::max(Seconds {}, then - now);
        plan.stall += wait;
        now += wait;
    };
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        now += blocks[i].forward;
        if (fates[i] != BlockFate::Swap)
            continue;
        plan.swapped += blocks[i].activations;
        waitUntil(linkFree);
        linkFree = now + over(blocks[i].activations, limits.out);
    }
    waitUntil(linkFree);
    for (std::size_t i = blocks.size(); i-- > 0;) {
        if (fates[i] == BlockFate::Swap) {
            waitUntil(linkFree + over(blocks[i].activations, limits.in));
            linkFree = now;
        } else if (fates[i] == BlockFate::Recompute) {
            plan.recomputed += blocks[i].forward;
            now += blocks[i].forward;
        }
        now += blocks[i].backward;
    }
    plan.time = now;
    return plan;
}

/// The best of the fates that are offered: inside the room the fastest, where nothing fits the smallest.
class Search {
public:
    Search(const std::vector<Block> &blocks, const BlockLimits &limits)
        : m_blocks(blocks)
        , m_limits(limits)
    {
        for (const Block &block : blocks)
            m_plain += block.forward + block.backward;
        offer(std::vector<BlockFate>(blocks.size(), BlockFate::Keep), {});
    }

    /// `again`: time that the fates recompute, a bound on what they take.
    void offer(const std::vector<BlockFate> &fates, Seconds recompute)
    {
        if (m_fits && m_plain + recompute >= m_best.time)
            return;
        const Bytes peak = peakOf(m_blocks, fates, m_limits);
        const bool fits = peak <= m_limits.room, isFirst = m_best.fates.empty();
        if (!isFirst && !fits && (m_fits || peak > m_best.peak))
            return;
        BlockPlan plan = play(m_blocks, fates, m_limits);
        plan.peak = peak;
        const bool isFaster = plan.time < m_best.time;
        const bool isSmaller = plan.peak < m_best.peak || (plan.peak == m_best.peak && isFaster);
        if (!isFirst && !(fits != m_fits ? fits : fits ? isFaster : isSmaller))
            return;
        m_fits = fits;
        m_best = std::move(plan);
        m_best.fates = fates;
    }
    [[nodiscard]] const BlockPlan &best() const { return m_best; }

private:
    const std::vector<Block> &m_blocks;
    const BlockLimits &m_limits;
    BlockPlan m_best;
    Seconds m_plain;
    bool m_fits = false;
};

} // namespace

BlockPlan playBlocks(const std::vector<Block> &blocks, std::vector<BlockFate> fates, const BlockLimits &limits)
{
    BlockPlan plan = play(blocks, fates, limits);
    plan.peak = peakOf(blocks, fates, limits);
    plan.fates = std::move(fates);
    return plan;
}

BlockPlan karma(const std::vector<Block> &blocks, const BlockLimits &limits)
{
    constexpr std::size_t kFinest = 128; // blocks; of deeper stages every second, third ... number is tried
    const std::size_t step = std::max<std::size_t>(1, blocks.size() / kFinest);
    Search search(blocks, limits);
    std::vector<BlockFate> fates(blocks.size(), BlockFate::Keep);
    const auto offer = [&](std::size_t leaving, std::size_t count) {
        Seconds recompute;
        for (std::size_t j = 0; j < leaving; ++j) { // from the last one that leaves
            const std::size_t i = leaving - 1 - j;
            const bool isAgain = (j + 1) * count / leaving > j * count / leaving;
            fates[i] = isAgain ? BlockFate::Recompute : BlockFate::Swap;
            recompute += isAgain ? blocks[i].forward : Seconds {};
        }
        search.offer(fates, recompute);
    };
    for (std::size_t leaving = std::min<std::size_t>(1, blocks.size()); leaving > 0;
         leaving = std::min(leaving + step, blocks.size())) {
        for (std::size_t count = 0; canSwap(limits) && count < leaving; count += step)
            offer(leaving, count);
        offer(leaving, leaving);
        if (leaving == blocks.size())
            break;
    }
    return search.best();
}

BlockPlan proTrain(const std::vector<Block> &blocks, const BlockLimits &limits)
{
    Search search(blocks, limits);
    const std::size_t mostSwapped = canSwap(limits) ? blocks.size() : 0;
    for (std::size_t swap = 0; swap <= mostSwapped; ++swap) {
        std::vector<BlockFate> fates(blocks.size(), BlockFate::Keep);
        std::fill_n(fates.begin(), swap, BlockFate::Swap);
        Seconds recompute;
        for (std::size_t last = swap;; ++last) {
            search.offer(fates, recompute);
            if (last == blocks.size())
                break;
            fates[last] = BlockFate::Recompute;
            recompute += blocks[last].forward;
        }
    }
    return search.best();
}

} // namespace trainyard
