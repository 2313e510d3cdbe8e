// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/unequal_gpus/offers_internal.h"
#include "core/systems/unequal_gpus/shares.h"

#include "core/base/words.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>

namespace trainyard {

namespace {

constexpr double kMostSteps = 1e10; // of the innermost loop: some ten seconds

struct Cell {
    double time = std::numeric_limits<double>::infinity();
    int offer = -1; // of the last rank
};

class Programme {
public:
    Programme(const ShareProblem &problem, const ReleasedOptions &options)
        : m_problem(problem)
        , m_groups(offerGroups(problem))
        , m_side(std::size_t(problem.batch) + 1)
    {
        for (std::size_t g = 0; g < m_groups.size(); ++g) {
            auto &offers = m_groups[g].offers;
            const auto isTooLarge = [&](const Offer &o) {
                return o.samples() > problem.batch
                    || (options.largestMicroBatch > 0 && o.microBatch > options.largestMicroBatch);
            };
            std::erase_if(offers, isTooLarge);
            std::ranges::sort(offers, {}, [](const Offer &o) { return std::pair(o.microBatch, o.microBatches); });
            m_order.insert(m_order.end(), std::size_t(m_groups[g].ranks), g);
        }
    }
    [[nodiscard]] double steps() const
    {
        double steps = 0;
        for (const OfferGroup &group : m_groups)
            steps += double(group.ranks) * double(group.offers.size()) * double(m_side) * double(m_side) / 2;
        return steps;
    }
    [[nodiscard]] Expected<std::vector<std::vector<Offer>>> run()
    {
        m_cells.assign((m_order.size() + 1) * m_side * m_side, {});
        m_cells[0].time = 0;
        for (std::size_t rank = 0; rank < m_order.size(); ++rank)
            addRank(rank);
        return best();
    }
    [[nodiscard]] const std::vector<OfferGroup> &groups() const { return m_groups; }

private:
    [[nodiscard]] Cell &cell(std::size_t ranks, int samples, int sum)
    {
        return m_cells[(ranks * m_side + std::size_t(samples)) * m_side + std::size_t(sum)];
    }
    void addRank(std::size_t rank)
    {
        const auto &offers = m_groups[m_order[rank]].offers;
        for (int j = 0; j <= m_problem.batch; ++j) {
            for (int k = 0; k <= j; ++k) {
                Cell &here = cell(rank + 1, j, k);
                for (std::size_t o = 0; o < offers.size(); ++o) {
                    const Offer &offer = offers[o];
                    if (offer.samples() > j || offer.microBatch > k)
                        continue;
                    const double before = cell(rank, j - offer.samples(), k - offer.microBatch).time;
                    if (const double time = std::max(before, offer.time); time < here.time)
                        here = { time, int(o) };
                }
            }
        }
    }
    [[nodiscard]] Expected<std::vector<std::vector<Offer>>> best()
    {
        const double most = bytesForOffers(m_problem);
        double bestTime = std::numeric_limits<double>::infinity(), leastBytes = bestTime;
        std::vector<std::vector<Offer>> best;
        for (int k = 0; k <= m_problem.batch; ++k) {
            const double time = cell(m_order.size(), m_problem.batch, k).time;
            if (time == std::numeric_limits<double>::infinity())
                continue;
            auto [chosen, bytes] = trace(k);
            leastBytes = std::min(leastBytes, bytes);
            if (bytes <= most && time < bestTime) {
                bestTime = time;
                best = std::move(chosen);
            }
        }
        if (leastBytes == std::numeric_limits<double>::infinity())
            return std::unexpected(whyNone(m_problem, m_groups));
        if (best.empty())
            return std::unexpected(whyTooFull(m_problem, leastBytes));
        return best;
    }
    [[nodiscard]] std::pair<std::vector<std::vector<Offer>>, double> trace(int sum)
    {
        std::vector<std::vector<Offer>> chosen(m_groups.size());
        double bytes = 0;
        int samples = m_problem.batch;
        for (std::size_t rank = m_order.size(); rank-- > 0;) {
            const Offer &offer = m_groups[m_order[rank]].offers[std::size_t(cell(rank + 1, samples, sum).offer)];
            chosen[m_order[rank]].push_back(offer);
            bytes += offer.bytes;
            samples -= offer.samples();
            sum -= offer.microBatch;
        }
        return { std::move(chosen), bytes };
    }

    const ShareProblem &m_problem;
    std::vector<OfferGroup> m_groups;
    std::size_t m_side; // samples and sums, 0 … B
    std::vector<std::size_t> m_order; // the group of each rank
    std::vector<Cell> m_cells;
};

} // namespace

Expected<Shares> releasedShares(const ShareProblem &problem, const ReleasedOptions &options)
{
    const auto part = partOf(problem, options.extrapolate);
    if (!part)
        return std::unexpected(part.error());
    const ShareProblem &small = *part;
    Programme programme(small, options);
    if (programme.steps() > kMostSteps)
        return std::unexpected(Error { ErrorCode::OutOfRange, "dynamic programme",
            "of " + counted(rankCount(small), "GPU") + " and " + counted(small.batch, "sample") + " takes too long",
            "fewer, a larger factor of extrapolation, or the fast search" });
    auto chosen = programme.run();
    if (!chosen)
        return std::unexpected(chosen.error());
    return sharesOf(problem, programme.groups(), std::move(*chosen), options.extrapolate);
}

} // namespace trainyard
