// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/unequal_gpus/knapsack_internal.h"
#include "core/systems/unequal_gpus/label_search_internal.h"
#include "core/systems/unequal_gpus/offers_internal.h"
#include "core/systems/unequal_gpus/shares.h"

#include <algorithm>
#include <cstddef>

namespace trainyard {

namespace {

class Search {
public:
    explicit Search(const ShareProblem &problem)
        : m_problem(problem)
        , m_groups(offerGroups(problem))
        , m_most(bytesForOffers(problem))
    {
        for (const OfferGroup &group : m_groups)
            for (const Offer &offer : group.offers)
                m_times.push_back(offer.time);
        std::ranges::sort(m_times);
        m_times.erase(std::ranges::unique(m_times).begin(), m_times.end());
    }

    [[nodiscard]] const std::vector<OfferGroup> &groups() const { return m_groups; }
    /// Of each rank of each group.
    [[nodiscard]] Expected<std::vector<std::vector<Offer>>> run() const
    {
        // More offers within more time: what can be had stays so, and the least bytes only fall.
        const auto first = std::ranges::partition_point(m_times, [this](double limit) { return !addsUp(limit); });
        if (first == m_times.end())
            return std::unexpected(whyNone(m_problem, m_groups));
        const auto fitting =
            std::partition_point(first, m_times.end(), [this](double limit) { return leastBytes(limit) > m_most; });
        if (fitting == m_times.end())
            return std::unexpected(whyTooFull(m_problem, leastBytes(m_times.back())));
        return chosenWithin(*fitting);
    }

private:
    /// Of each number of samples the offer of the smallest micro-batch within the limit, which is that of the fewest
    /// bytes too: offers[samples], null where there is none.
    [[nodiscard]] std::vector<const Offer *> within(const OfferGroup &group, double limit) const
    {
        std::vector<const Offer *> best(std::size_t(m_problem.batch) + 1);
        for (const Offer &offer : group.offers)
            if (const auto b = std::size_t(offer.samples()); offer.time <= limit && b < best.size() && !best[b])
                best[b] = &offer;
        return best;
    }
    [[nodiscard]] bool addsUp(double limit) const
    {
        SampleSet sums(m_problem.batch);
        sums.insert(0);
        for (const OfferGroup &group : m_groups) {
            SampleSet one(m_problem.batch);
            for (const Offer &offer : group.offers)
                if (offer.time <= limit && offer.samples() <= m_problem.batch)
                    one.insert(offer.samples());
            sums = sums.plus(one.times(group.ranks));
        }
        return sums.has(m_problem.batch);
    }
    template <class Cost, class Of> [[nodiscard]] AllRanks<Cost> ranksWithin(double limit, Of of) const
    {
        AllRanks<Cost> all(m_problem.batch);
        for (const OfferGroup &group : m_groups) {
            const std::vector<const Offer *> best = within(group, limit);
            CostTable<Cost> one;
            for (std::size_t b = 0; b < best.size(); ++b) {
                if (!best[b])
                    continue;
                one.resize(b + 1, kUnreachable<Cost>);
                one[b] = of(*best[b]);
            }
            all.add(one, group.ranks);
        }
        return all;
    }
    [[nodiscard]] double leastBytes(double limit) const
    {
        if (!m_problem.balancesState)
            return 0;
        return ranksWithin<double>(limit, [](const Offer &o) { return o.bytes; }).least(m_problem.batch);
    }
    [[nodiscard]] std::vector<std::vector<Offer>> chosenWithin(double limit) const
    {
        const auto ranks = ranksWithin<int>(limit, [](const Offer &o) { return o.microBatch; });
        const std::vector<std::vector<int>> parts = ranks.parts(m_problem.batch);
        std::vector<std::vector<Offer>> chosen(m_groups.size());
        std::vector<LabelGroup> groups;
        double bytes = 0;
        for (std::size_t g = 0; g < m_groups.size(); ++g) {
            const LabelGroup &group = groups.emplace_back(m_groups[g].ranks, within(m_groups[g], limit));
            for (const int samples : parts[g]) {
                chosen[g].push_back(*group.offers[std::size_t(samples)]);
                bytes += chosen[g].back().bytes;
            }
        }
        if (bytes <= m_most)
            return chosen;
        return leastMicroBatches(groups, m_problem.batch, m_most); // as small, or the next that fits
    }

    const ShareProblem &m_problem;
    std::vector<OfferGroup> m_groups;
    double m_most; // bytes of all offers
    std::vector<double> m_times; // of all offers, each once: the least time of the slowest rank is one of them
};

} // namespace

Expected<Shares> fastShares(const ShareProblem &problem, int extrapolate)
{
    const auto part = partOf(problem, extrapolate);
    if (!part)
        return std::unexpected(part.error());
    const Search search(*part);
    auto chosen = search.run();
    if (!chosen)
        return std::unexpected(chosen.error());
    return sharesOf(problem, search.groups(), std::move(*chosen), extrapolate);
}

} // namespace trainyard
