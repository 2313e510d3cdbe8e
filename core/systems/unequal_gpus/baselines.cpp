// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/unequal_gpus/baselines.h"

#include "core/systems/unequal_gpus/offers_internal.h"
#include "core/systems/unequal_gpus/shares.h"

#include <algorithm>
#include <cstddef>

namespace trainyard {

namespace {

/// Of as many samples the one with the largest micro-batch; null where there is none.
const Offer *largestOf(const OfferGroup &group, int samples)
{
    const Offer *largest = nullptr;
    for (const Offer &offer : group.offers)
        if (offer.samples() == samples)
            largest = &offer; // sorted by micro-batch
    return largest;
}

Expected<Shares> evenShares(const ShareProblem &problem)
{
    const std::vector<OfferGroup> groups = offerGroups(problem);
    int rest = problem.batch;
    const SampleRange range = freeSamples(problem);
    for (const OfferGroup &group : groups)
        rest -= group.ranks * (group.isPinned && !group.offers.empty() ? group.offers.front().samples() : range.least);
    std::vector<std::vector<Offer>> chosen(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const OfferGroup &group = groups[g];
        for (int rank = 0; rank < group.ranks; ++rank) {
            const Offer *more = group.isPinned || rest <= 0 ? nullptr : largestOf(group, range.least + 1);
            const Offer *offer = more ? more
                : group.isPinned      ? (group.offers.empty() ? nullptr : &group.offers.front())
                                      : largestOf(group, range.least);
            if (!offer)
                return std::unexpected(whyNone(problem, groups));
            rest -= more ? 1 : 0;
            chosen[g].push_back(*offer);
        }
    }
    if (rest != 0)
        return std::unexpected(whyNone(problem, groups));
    return sharesOf(problem, groups, std::move(chosen));
}

double speedOf(const RankKind &kind)
{
    return 1 / (2 * kind.forward.front() + kind.backward.front());
}

/// Each next sample to the rank that would have done it first, of those with room: batch by speed, and what overflows
/// on the others in the same proportion.
Expected<Shares> whaleShares(const ShareProblem &problem, const std::vector<double> &speeds)
{
    const std::vector<OfferGroup> groups = offerGroups(problem);
    std::vector<std::vector<int>> samples(groups.size());
    int rest = problem.batch;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        if (groups[g].offers.empty())
            return std::unexpected(whyNone(problem, groups));
        samples[g].assign(std::size_t(groups[g].ranks), groups[g].offers.front().samples());
        rest -= groups[g].ranks * samples[g].front();
    }
    for (; rest > 0; --rest) {
        int *next = nullptr;
        double earliest = 0;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const auto kind = std::size_t(groups[g].kinds.front());
            const double speed = speeds.empty() ? speedOf(problem.kinds[kind]) : speeds[kind];
            int &fewest = *std::ranges::min_element(samples[g]);
            if (fewest >= groups[g].offers.back().samples())
                continue;
            const double end = (fewest + 1) / speed;
            if (!next || end < earliest) {
                next = &fewest;
                earliest = end;
            }
        }
        if (!next)
            return std::unexpected(whyNone(problem, groups));
        ++*next;
    }
    if (rest < 0)
        return std::unexpected(whyNone(problem, groups));
    std::vector<std::vector<Offer>> chosen(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (const int b : samples[g]) {
            const Offer *offer = largestOf(groups[g], b);
            if (!offer)
                return std::unexpected(whyNone(problem, groups));
            chosen[g].push_back(*offer);
        }
    return sharesOf(problem, groups, std::move(chosen));
}

} // namespace

Expected<Shares> sharesBy(ShareWay way, const ShareProblem &problem, const std::vector<double> &speeds)
{
    if (auto sound = checked(problem); !sound)
        return std::unexpected(sound.error());
    ShareProblem same = problem;
    same.balancesCompute = way == ShareWay::Whale || way == ShareWay::ComputeBalanced || way == ShareWay::Balanced;
    same.balancesState = way == ShareWay::StateBalanced || way == ShareWay::Balanced;
    if (way == ShareWay::EvenSplit || way == ShareWay::Whale)
        same.accumulates = false;
    switch (way) {
    case ShareWay::EvenSplit:
    case ShareWay::EvenAccumulated:
        return evenShares(same);
    case ShareWay::Whale:
        return whaleShares(same, speeds);
    case ShareWay::StateBalanced:
    case ShareWay::ComputeBalanced:
    case ShareWay::Balanced:
        return fastShares(same);
    }
    return fastShares(same);
}

} // namespace trainyard
