#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What numbers of samples add up to, and at what least cost: sums of sets as bits, and sums of cost tables (min-plus).
// Equal ranks are added by doubling: 64 of them are six sums, and how they divide samples is found by going back.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

namespace trainyard {

/// Which of 0 … most samples can be had.
class SampleSet {
public:
    explicit SampleSet(int most)
        : m_most(most)
        , m_words(std::size_t(most) / 64 + 1)
    {
    }
    void insert(int samples) { m_words[std::size_t(samples) / 64] |= std::uint64_t(1) << (samples % 64); }
    [[nodiscard]] bool has(int samples) const { return (m_words[std::size_t(samples) / 64] >> (samples % 64)) & 1; }
    /// All a + b up to most.
    [[nodiscard]] SampleSet plus(const SampleSet &other) const;
    /// All sums of as many.
    [[nodiscard]] SampleSet times(int count) const;

private:
    int m_most;
    std::vector<std::uint64_t> m_words;
};

/// Least cost of 0, 1, 2, … samples; beyond its end nothing can be had.
template <class Cost> using CostTable = std::vector<Cost>;
template <class Cost>
inline constexpr Cost kUnreachable = std::numeric_limits<Cost>::has_infinity ? std::numeric_limits<Cost>::infinity()
                                                                             : std::numeric_limits<Cost>::max() / 2;

/// Of no ranks.
template <class Cost> [[nodiscard]] CostTable<Cost> noSamples()
{
    return { 0 };
}

template <class Cost> [[nodiscard]] Cost costOf(const CostTable<Cost> &table, int samples)
{
    return std::size_t(samples) < table.size() ? table[std::size_t(samples)] : kUnreachable<Cost>;
}

/// Of up to `most` samples of both together.
template <class Cost> [[nodiscard]] CostTable<Cost> plus(const CostTable<Cost> &a, const CostTable<Cost> &b, int most)
{
    CostTable<Cost> sum(std::min(a.size() + b.size() - 1, std::size_t(most) + 1), kUnreachable<Cost>);
    for (std::size_t i = 0; i < std::min(a.size(), sum.size()); ++i) {
        const Cost cost = a[i];
        if (cost >= kUnreachable<Cost>)
            continue;
        const Cost *from = b.data();
        Cost *to = sum.data() + i;
        const std::size_t size = std::min(b.size(), sum.size() - i);
        for (std::size_t j = 0; j < size; ++j) {
            const Cost both = cost + from[j];
            to[j] = both < to[j] ? both : to[j];
        }
    }
    return sum;
}

/// How many of `samples` the first summand has in a cheapest sum: of several such numbers the one nearest to `wanted`,
/// the larger of two. The sum has to be reachable.
template <class Cost>
[[nodiscard]] int firstPart(const CostTable<Cost> &a, const CostTable<Cost> &b, Cost cheapest, int samples, int wanted)
{
    const auto isCheapest = [&](int i) {
        return i >= 0 && i <= samples
            && costOf(a, i) < kUnreachable<Cost> && costOf(a, i) + costOf(b, samples - i) == cheapest;
    };
    for (int off = 0; off <= samples; ++off) {
        if (isCheapest(wanted + off))
            return wanted + off;
        if (isCheapest(wanted - off))
            return wanted - off;
    }
    return -1;
}

/// Equal ranks, each with the same table, of up to `most` samples together.
template <class Cost> class EqualRanks {
public:
    EqualRanks(const CostTable<Cost> &one, int ranks, int most)
        : m_ranks(ranks)
        , m_sums { noSamples<Cost>() }
    {
        for (int left = ranks; left > 0; left /= 2) {
            m_doubled.push_back(m_doubled.empty() ? one : plus(m_doubled.back(), m_doubled.back(), most));
            m_sums.push_back(left % 2 > 0 ? plus(m_sums.back(), m_doubled.back(), most) : m_sums.back());
        }
    }
    [[nodiscard]] const CostTable<Cost> &total() const { return m_sums.back(); }
    /// Samples of each rank in a cheapest sum, as equal as they can be halved.
    [[nodiscard]] std::vector<int> parts(int samples) const
    {
        std::vector<int> each;
        int ranks = m_ranks;
        for (std::size_t bit = m_doubled.size(); bit-- > 0;) {
            const int here = 1 << bit;
            if ((m_ranks & here) == 0)
                continue;
            const int part = firstPart(m_doubled[bit], m_sums[bit], m_sums[bit + 1][std::size_t(samples)], samples,
                int(std::int64_t(samples) * here / ranks));
            halve(bit, part, each);
            samples -= part;
            ranks -= here;
        }
        return each;
    }

private:
    void halve(std::size_t bit, int samples, std::vector<int> &each) const
    {
        if (bit == 0) {
            each.push_back(samples);
            return;
        }
        const CostTable<Cost> &half = m_doubled[bit - 1];
        const int part = firstPart(half, half, m_doubled[bit][std::size_t(samples)], samples, samples / 2);
        halve(bit - 1, part, each);
        halve(bit - 1, samples - part, each);
    }

    int m_ranks;
    /// of 1, 2, 4, … ranks
    std::vector<CostTable<Cost>> m_doubled;
    /// of the ranks in the lowest 0, 1, 2, … bits of their number
    std::vector<CostTable<Cost>> m_sums;
};

/// Groups of equal ranks together.
template <class Cost> class AllRanks {
public:
    explicit AllRanks(int most)
        : m_most(most)
        , m_sums { noSamples<Cost>() }
    {
    }
    void add(const CostTable<Cost> &one, int ranks)
    {
        m_groups.emplace_back(one, ranks, m_most);
        m_sums.push_back(plus(m_sums.back(), m_groups.back().total(), m_most));
    }
    [[nodiscard]] Cost least(int samples) const { return costOf(m_sums.back(), samples); }
    /// Samples of each rank of each group in a cheapest sum; the earlier groups get as many as they can.
    [[nodiscard]] std::vector<std::vector<int>> parts(int samples) const
    {
        std::vector<std::vector<int>> each(m_groups.size());
        for (std::size_t g = m_groups.size(); g-- > 0;) {
            const Cost least = m_sums[g + 1][std::size_t(samples)];
            const int part = firstPart(m_groups[g].total(), m_sums[g], least, samples, 0);
            each[g] = m_groups[g].parts(part);
            samples -= part;
        }
        return each;
    }

private:
    int m_most;
    std::vector<EqualRanks<Cost>> m_groups;
    /// of the first 0, 1, 2, … groups
    std::vector<CostTable<Cost>> m_sums;
};

} // namespace trainyard
