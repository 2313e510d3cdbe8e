// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/unequal_gpus/limits.h"

#include "core/systems/unequal_gpus/knapsack_internal.h"
#include "core/systems/unequal_gpus/layer_time.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace trainyard {

namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

/// How many samples fit on ranks, by the least bytes that each number of them takes: in micro-batches of one where they
/// may be cut, else in one micro-batch.
class Limits {
public:
    Limits(ShareWay way, ShareProblem problem)
        : m_problem(std::move(problem))
        , m_isEvenBatch(
              way == ShareWay::EvenSplit || way == ShareWay::EvenAccumulated || way == ShareWay::StateBalanced)
        , m_isEvenState(way != ShareWay::StateBalanced && way != ShareWay::Balanced)
        , m_accumulates(m_problem.accumulates && way != ShareWay::EvenSplit && way != ShareWay::Whale)
    {
        std::erase_if(m_problem.kinds, [](const RankKind &kind) { return kind.ranks == 0; });
        for (const RankKind &kind : m_problem.kinds) {
            m_ranks += kind.ranks;
            m_room += kind.ranks * kind.room;
        }
    }

    [[nodiscard]] std::int64_t batch(double states) const // kNoLimit
    {
        const std::vector<std::int64_t> caps = capsBeside(m_isEvenState ? states / m_ranks : 0);
        const std::int64_t least = std::ranges::min(caps);
        if (least < 1)
            return 0;
        if (m_isEvenState)
            return m_isEvenBatch ? evenBatch(caps) : sum(caps);
        if (m_room - states + kByteOfRounding < bytesOf(m_ranks, caps))
            return 0;
        const std::int64_t most = m_isEvenBatch ? evenBatch(caps) : sum(caps);
        const std::int64_t unbounded = std::int64_t(1) << 40; // samples: what this many need is more than any memory
        std::int64_t fits = m_ranks, over = std::min(most, unbounded) + 1;
        while (over - fits > 1) {
            const std::int64_t middle = fits + (over - fits) / 2;
            (bytesOf(middle, caps) + states <= m_room + kByteOfRounding ? fits : over) = middle;
        }
        return fits == unbounded ? kNoLimit : fits;
    }
    [[nodiscard]] double states() const
    {
        const std::int64_t samples = m_problem.batch;
        if (samples < m_ranks || batch(0) < samples)
            return 0;
        if (!m_isEvenState)
            return std::max(0.0, m_room - bytesOf(samples, capsBeside(0)));
        double fits = 0, over = m_room + 1;
        while (over - fits > kByteOfRounding / 2) {
            const double middle = fits + (over - fits) / 2;
            if (middle <= fits || middle >= over)
                break;
            (batch(middle) >= samples ? fits : over) = middle;
        }
        return fits;
    }

private:
    [[nodiscard]] double bytes(const RankKind &kind, std::int64_t samples) const
    {
        return m_accumulates ? kind.compute.front() + kind.perSample * double(samples)
                             : computeBytes(kind, int(samples), 1);
    }
    /// For each kind the most samples of a rank beside as many bytes of states.
    [[nodiscard]] std::vector<std::int64_t> capsBeside(double states) const
    {
        std::vector<std::int64_t> caps;
        for (const RankKind &kind : m_problem.kinds) {
            const double room = kind.room - states + kByteOfRounding;
            std::int64_t cap = 0;
            if (m_accumulates && bytes(kind, 1) <= room)
                cap = kind.perSample > 0
                    ? std::int64_t(std::min(1e12, std::floor((room - kind.compute.front()) / kind.perSample)))
                    : kNoLimit;
            while (!m_accumulates && cap < tableSize(kind) && bytes(kind, cap + 1) <= room)
                ++cap;
            caps.push_back(cap);
        }
        return caps;
    }
    [[nodiscard]] std::int64_t evenBatch(const std::vector<std::int64_t> &caps) const
    {
        const std::int64_t least = std::ranges::min(caps);
        if (least == kNoLimit)
            return kNoLimit;
        std::int64_t more = 0; // ranks that can have one more
        for (std::size_t k = 0; k < caps.size(); ++k)
            more += caps[k] > least ? m_problem.kinds[k].ranks : 0;
        return least * m_ranks + more;
    }
    [[nodiscard]] std::int64_t sum(const std::vector<std::int64_t> &caps) const
    {
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < caps.size(); ++k) {
            if (caps[k] == kNoLimit)
                return kNoLimit;
            sum += caps[k] * m_problem.kinds[k].ranks;
        }
        return sum;
    }
    /// Least bytes of compute of all ranks with as many samples, which the caps allow.
    [[nodiscard]] double bytesOf(std::int64_t samples, const std::vector<std::int64_t> &caps) const
    {
        if (m_isEvenBatch)
            return evenBytes(samples, caps);
        return m_accumulates ? cutBytes(samples, caps) : wholeBytes(samples, caps);
    }
    /// As many on each rank, one more where that takes least.
    [[nodiscard]] double evenBytes(std::int64_t samples, const std::vector<std::int64_t> &caps) const
    {
        const std::int64_t each = samples / m_ranks;
        std::int64_t more = samples % m_ranks;
        double total = 0;
        std::vector<std::pair<double, int>> further; // bytes of one more, ranks
        for (std::size_t k = 0; k < caps.size(); ++k) {
            const RankKind &kind = m_problem.kinds[k];
            total += kind.ranks * bytes(kind, each);
            if (caps[k] > each)
                further.emplace_back(bytes(kind, each + 1) - bytes(kind, each), kind.ranks);
        }
        std::ranges::sort(further);
        for (const auto &[one, ranks] : further) {
            const std::int64_t here = std::min<std::int64_t>(more, ranks);
            total += double(here) * one;
            more -= here;
        }
        return total;
    }
    /// One sample each, the others where a sample takes least.
    [[nodiscard]] double cutBytes(std::int64_t samples, const std::vector<std::int64_t> &caps) const
    {
        double total = 0;
        std::vector<std::size_t> order;
        for (std::size_t k = 0; k < caps.size(); ++k) {
            total += m_problem.kinds[k].ranks * bytes(m_problem.kinds[k], 1);
            order.push_back(k);
        }
        std::ranges::stable_sort(order, {}, [this](std::size_t k) { return m_problem.kinds[k].perSample; });
        std::int64_t rest = samples - m_ranks;
        for (const std::size_t k : order) {
            const RankKind &kind = m_problem.kinds[k];
            const std::int64_t here = caps[k] == kNoLimit ? rest : std::min(rest, (caps[k] - 1) * kind.ranks);
            total += double(here) * kind.perSample;
            rest -= here;
        }
        return total;
    }
    /// One micro-batch each: all numbers of samples at once, kept for the next.
    [[nodiscard]] double wholeBytes(std::int64_t samples, const std::vector<std::int64_t> &caps) const
    {
        if (m_whole.empty()) {
            const int most = int(sum(caps));
            m_whole = noSamples<double>();
            for (std::size_t k = 0; k < caps.size(); ++k) {
                CostTable<double> one { kUnreachable<double> };
                for (std::int64_t b = 1; b <= caps[k]; ++b)
                    one.push_back(bytes(m_problem.kinds[k], b));
                m_whole = plus(m_whole, EqualRanks<double>(one, m_problem.kinds[k].ranks, most).total(), most);
            }
        }
        return m_whole[std::size_t(samples)];
    }

    ShareProblem m_problem;
    bool m_isEvenBatch, m_isEvenState, m_accumulates;
    int m_ranks = 0;
    double m_room = 0;
    mutable CostTable<double> m_whole;
};

} // namespace

std::optional<std::int64_t> largestBatch(ShareWay way, const ShareProblem &problem)
{
    if (!checked(problem))
        return 0;
    const std::int64_t samples = Limits(way, problem).batch(problem.stateBytes);
    return samples == kNoLimit ? std::nullopt : std::optional(samples);
}

double largestStates(ShareWay way, const ShareProblem &problem)
{
    return checked(problem) ? Limits(way, problem).states() : 0;
}

} // namespace trainyard
