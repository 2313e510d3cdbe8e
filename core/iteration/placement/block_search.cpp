// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/block_search.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace trainyard {

namespace {

/// What rounding of times to nanoseconds may take from a sum of bounds.
constexpr double kRounding = 1 - 1e-6;

const HopBound *hopBetween(const SearchTimes &times, int from, int to)
{
    const auto &hops = times.hops[std::size_t(from)];
    const auto found = std::ranges::find(hops, to, &HopBound::to);
    return found == hops.end() ? nullptr : &*found;
}

/// One walk down the stages of a candidate.
class Bounding {
public:
    Bounding(const SearchTimes &times, std::vector<DatacenterBlock> blocks)
        : m_times(times)
        , m_blocks(std::move(blocks))
    {
    }

    BoundedBlocks run()
    {
        walk();
        if (m_times.handsBack && m_blocks.size() > 1)
            handBack();
        m_round += m_times.passes * (m_waysThere + m_waysBack);
        BoundedBlocks result { {}, 0, 0, m_lateness, m_mayFit };
        result.seconds = kRounding * std::max({ m_round, busiest(), fullestLink(), mostInFlight(), twoPhases() });
        result.usd = m_usdPerSecond * result.seconds + kRounding * m_egress;
        result.blocks = std::move(m_blocks);
        return result;
    }

private:
    struct Crossing {
        const HopBound *hop;
        double before, back;
    }; // seconds before the first transfer and after the last gradient

    void walk()
    {
        const HopBound *next = nullptr;
        for (std::size_t b = 0; b < m_blocks.size(); ++b) {
            const auto &stages = m_times.sites[std::size_t(m_blocks[b].datacenter)];
            for (int i = 0; i < m_blocks[b].stages; ++i) {
                const StageBound &stage = stages[m_stages.size()];
                m_stages.push_back(&stage);
                m_before.push_back(m_there);
                m_after.push_back(m_back);
                m_round += stage.forward + stage.gradient;
                m_usdPerSecond += stage.usdPerSecond;
                m_mayFit = m_mayFit && stage.mayFit;
                m_there += stage.first;
                m_back += stage.last;
            }
            if (b + 1 == m_blocks.size())
                break;
            next = hopBetween(m_times, m_blocks[b].datacenter, m_blocks[b + 1].datacenter);
            m_crossings.push_back({ next, m_there, m_back });
            m_there += next->alone[0] + next->latency;
            m_back += next->alone[1] + next->latency;
            m_waysThere += next->alone[0] + next->latency;
            m_waysBack += next->alone[1] + next->latency;
            m_lateness += double(m_stages.size()) * (next->serialization[0] + next->latency);
            m_egress += next->usd;
        }
    }

    /// Not a chain's first way nor its last: those end on the last and begin on the first stage.
    void handBack()
    {
        const HopBound *hop = hopBetween(m_times, m_blocks.back().datacenter, m_blocks.front().datacenter);
        m_round += (m_times.passes - 1) * (hop->alone[0] + hop->alone[1] + 2 * hop->latency);
        m_handsBack = std::max(hop->serialization[0], hop->serialization[1]) * (m_times.passes - 1);
        m_egress += hop->usd * (m_times.passes - 1) / m_times.passes;
    }

    /// A device works for all its micro-batches, not before the first is there; after the last gradient that it makes,
    /// gradients go on to the first stage.
    [[nodiscard]] double busiest() const
    {
        double most = 0;
        for (std::size_t s = 0; s < m_stages.size(); ++s) {
            const double before = m_times.isTwoWay ? std::min(m_before[s], m_there - m_before[s]) : m_before[s];
            const double after = m_times.isTwoWay ? std::min(m_after[s], m_back - m_after[s]) : m_after[s];
            const StageBound &stage = *m_stages[s];
            most = std::max({ most, before + m_times.microBatches * stage.busy,
                before + m_times.microBatches * (stage.busy - stage.late) + after });
        }
        return most;
    }

    /// All transfers of a boundary follow each other, for every pipeline that shares the link; some may have one less.
    [[nodiscard]] double fullestLink() const
    {
        double most = (m_times.fewest - 1) * m_handsBack;
        for (const Crossing &c : m_crossings) {
            const double longer = std::max(c.hop->serialization[0], c.hop->serialization[1]),
                         shorter = std::min(c.hop->serialization[0], c.hop->serialization[1]);
            const double pace = m_times.isChain ? longer : shorter * m_times.transfers;
            most = std::max(most, m_times.isChain ? m_round + (m_times.fewest - 1) * pace : m_times.fewest * pace);
        }
        return most;
    }

    /// A stage that holds K micro-batches takes the (m + K)th when the mth has come back: rounds of m, m + K, m + 2K …
    /// in a row.
    [[nodiscard]] double mostInFlight() const
    {
        double most = 0;
        if (m_times.inFlight.empty() || !m_times.isChain)
            return most;
        for (std::size_t s = 0; s < m_stages.size(); ++s) {
            const int rounds = (m_times.microBatches - 1) / std::max(1, m_times.inFlight[s]) + 1;
            most = std::max(most, m_round + (rounds - 1) * (m_round - m_before[s] - m_after[s]));
        }
        return most;
    }

    [[nodiscard]] double twoPhases() const
    {
        if (!m_times.waitsBetween)
            return 0;
        double forward = 0, gradient = 0;
        for (const StageBound *stage : m_stages) {
            forward = std::max(forward, stage->forward);
            gradient = std::max(gradient, stage->gradient);
        }
        for (const Crossing &c : m_crossings) {
            const double(&own)[2] = m_times.takesTurns ? c.hop->alone : c.hop->serialization;
            forward = std::max(forward, own[0]);
            gradient = std::max(gradient, own[1]);
        }
        return m_round + (m_times.fewest - 1) * (forward + gradient);
    }

    const SearchTimes &m_times;
    std::vector<DatacenterBlock> m_blocks;
    std::vector<const StageBound *> m_stages;
    std::vector<double> m_before, m_after; // per stage: on the chain's way there, and back
    std::vector<Crossing> m_crossings;
    double m_there = 0, m_back = 0, m_round = 0, m_waysThere = 0, m_waysBack = 0, m_handsBack = 0;
    double m_lateness = 0, m_usdPerSecond = 0, m_egress = 0;
    bool m_mayFit = true;
};

/// Depth first over linked datacenters, each at most once; keeps the candidates of the least bounds.
class BlockSearch {
public:
    BlockSearch(const SearchTimes &times, const SearchLimits &limits, bool stopsAtFirst = false)
        : m_times(times)
        , m_limits(limits)
        , m_used(times.holds.size())
        , m_stopsAtFirst(stopsAtFirst)
    {
        m_found.rest = kInfinite;
        for (const int stages : times.holds)
            m_room += stages;
    }

    FoundBlocks run()
    {
        for (const bool fromBack : { false, true }) {
            m_fromBack = fromBack;
            for (int d = 0; d < int(m_used.size()) && (!fromBack || m_limits.sizes == BlockSizes::Most); ++d) {
                m_visitsLeft = std::max(1, m_limits.visits / int(m_used.size()));
                enter(d, m_times.stages, 0);
            }
        }
        return std::move(m_found);
    }

private:
    static constexpr double kInfinite = std::numeric_limits<double>::infinity();

    [[nodiscard]] double key(const BoundedBlocks &b) const { return m_limits.byCost ? b.usd : b.seconds; }

    [[nodiscard]] bool isBefore(const BoundedBlocks &a, const BoundedBlocks &b) const
    {
        return std::tuple(!a.mayFit, key(a), a.lateness) < std::tuple(!b.mayFit, key(b), b.lateness);
    }

    void enter(int d, int left, double latency)
    {
        const int room = std::min(left, m_times.holds[std::size_t(d)]);
        if (room == 0 || left > m_room || (m_stopsAtFirst && m_found.looked > 0))
            return;
        if (m_visitsLeft-- <= 0) {
            m_found.rest = 0;
            return;
        }
        if (2 * latency > m_worstKept) { // each candidate on this way needs that at least
            m_found.rest = std::min(m_found.rest, m_worstKept);
            return;
        }
        m_used[std::size_t(d)] = true;
        m_room -= m_times.holds[std::size_t(d)];
        for (int stages = m_limits.sizes == BlockSizes::Any ? 1 : room; stages <= room; ++stages) {
            m_path.push_back({ d, stages });
            if (stages == left)
                finish();
            else
                for (const HopBound &hop : m_times.hops[std::size_t(d)])
                    if (!m_used[std::size_t(hop.to)])
                        enter(hop.to, left - stages, latency + hop.latency);
            m_path.pop_back();
        }
        m_room += m_times.holds[std::size_t(d)];
        m_used[std::size_t(d)] = false;
    }

    void finish()
    {
        std::vector<DatacenterBlock> blocks = m_path;
        if (m_fromBack)
            std::ranges::reverse(blocks);
        if (m_times.handsBack && blocks.size() > 1
            && !hopBetween(m_times, blocks.back().datacenter, blocks.front().datacenter))
            return;
        ++m_found.looked;
        if (!m_stopsAtFirst)
            keep(boundBlocks(m_times, std::move(blocks)));
    }

    void keep(BoundedBlocks &&candidate)
    {
        auto &kept = m_found.blocks;
        if (std::ranges::any_of(kept, [&](const BoundedBlocks &known) { return isNeverSlower(known, candidate); }))
            return;
        std::erase_if(kept, [&](const BoundedBlocks &known) { return isNeverSlower(candidate, known); });
        kept.insert(
            std::ranges::upper_bound(kept, candidate, [this](const auto &a, const auto &b) { return isBefore(a, b); }),
            std::move(candidate));
        if (int(kept.size()) <= m_limits.most)
            return;
        if (kept.back().mayFit)
            m_found.rest = std::min(m_found.rest, key(kept.back()));
        kept.pop_back();
        if (!m_limits.byCost && kept.back().mayFit)
            m_worstKept = kept.back().seconds;
    }

    /// The same GPUs in the same order, and no hop of `a` slower or dearer than that of `b` in its place: nothing of a
    /// plan that runs in a fixed order can be later in `a`, and hardly anything where GPUs choose while they run. Equal
    /// ones are one; where the order itself is made by times, only these.
    [[nodiscard]] bool isNeverSlower(const BoundedBlocks &a, const BoundedBlocks &b) const
    {
        const auto isSame = [&](const DatacenterBlock &x, const DatacenterBlock &y) {
            return x.stages == y.stages
                && m_times.alike[std::size_t(x.datacenter)] == m_times.alike[std::size_t(y.datacenter)];
        };
        if (m_times.isTwoWay && a.blocks.size() > 2)
            return a.blocks == b.blocks; // copies of the model at either end exchange over links that no hop tells of
        if (!std::ranges::equal(a.blocks, b.blocks, isSame) || a.usd > b.usd)
            return false;
        const auto hopInto = [&](const std::vector<DatacenterBlock> &blocks, std::size_t i) {
            return hopBetween(
                m_times, blocks[(i + blocks.size() - 1) % blocks.size()].datacenter, blocks[i].datacenter);
        };
        for (std::size_t i = m_times.handsBack ? 0 : 1; i < a.blocks.size() && a.blocks.size() > 1; ++i) {
            const HopBound *x = hopInto(a.blocks, i), *y = hopInto(b.blocks, i);
            for (int way = 0; way < 2; ++way)
                if (isWorse(x->serialization[way], y->serialization[way]) || isWorse(x->alone[way], y->alone[way]))
                    return false;
            if (isWorse(x->latency, y->latency))
                return false;
        }
        return true;
    }

    [[nodiscard]] bool isWorse(double x, double y) const { return m_times.isListed ? x != y : x > y; }

    const SearchTimes &m_times;
    SearchLimits m_limits;
    std::vector<bool> m_used;
    std::vector<DatacenterBlock> m_path;
    FoundBlocks m_found;
    double m_worstKept = kInfinite;
    int m_visitsLeft = 0, m_room = 0; // stages that unused datacenters hold
    bool m_fromBack = false, m_stopsAtFirst = false;
};

} // namespace

FoundBlocks searchBlocks(const SearchTimes &times, const SearchLimits &limits)
{
    return BlockSearch(times, limits).run();
}

bool canHoldAll(const SearchTimes &times)
{
    SearchLimits limits;
    limits.sizes =
        times.handsBack ? BlockSizes::Any : BlockSizes::Most; // a ring may need a datacenter that is not full
    return BlockSearch(times, limits, true).run().looked > 0;
}

BoundedBlocks boundBlocks(const SearchTimes &times, std::vector<DatacenterBlock> blocks)
{
    return Bounding(times, std::move(blocks)).run();
}

} // namespace trainyard
