// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/experts/exchange.h"

#include "core/systems/experts/fan_out.h"
#include "core/systems/experts/leg_chain.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

enum class ExchangeKernels : std::uint8_t { Nccl, Dedup };

ExchangeKernels kernelsOf(MoeDispatch dispatch)
{
    return dispatch == MoeDispatch::Dedup ? ExchangeKernels::Dedup : ExchangeKernels::Nccl;
}

double smsOf(MoeDispatch dispatch, const ExpertGroup &group)
{
    const ExpertKernels &kernels = builtinNetwork().experts;
    return kernelsOf(dispatch) == ExchangeKernels::Dedup ? kernels.dedupSms
        : group.nodes() > 1                              ? kernels.ncclSmsBetween
                                                         : kernels.ncclSms;
}

/// What an uneven load makes of the time: an all-gather moves all tokens whoever wants them.
double slowedBy(MoeDispatch dispatch, double skew)
{
    const ExpertKernels &kernels = builtinNetwork().experts;
    if (dispatch == MoeDispatch::AllGather)
        return 1;
    const double slope = kernelsOf(dispatch) == ExchangeKernels::Dedup ? kernels.dedupSkew : kernels.ncclSkew;
    return 1 + slope * std::max(0.0, skew - 1);
}

struct Sizes {
    double once = 0; // a copy of each token
    double visits = 0; // for each expert that it visits
    double logical = 0;
};

Sizes sizesOf(const ExchangeRequest &request, MoeDispatch dispatch, double tokenBytes)
{
    const ExpertTokens &tokens = request.tokens;
    const ExpertGroup &group = request.group;
    Sizes sizes { tokens.tokens * tokenBytes };
    sizes.visits = sizes.once * tokens.choices * tokens.kept;
    sizes.logical = sizes.visits;
    if (dispatch == MoeDispatch::Dedup)
        sizes.logical = sizes.once * placesVisited(group.nodes() > 1 ? group.nodes() : group.ranks, tokens);
    else if (dispatch == MoeDispatch::RankDedup)
        sizes.logical = sizes.once * placesVisited(group.ranks, tokens);
    else if (dispatch == MoeDispatch::AllGather)
        sizes.logical = sizes.once * group.ranks;
    return sizes;
}

void addAcross(LegChain &legs, const ExchangeRequest &request, MoeDispatch dispatch, bool isCombine, const Sizes &sizes)
{
    switch (dispatch) {
    case MoeDispatch::Dedup:
        return legs.deduplicated(isCombine ? request.tokens.combineBytes : request.tokens.dispatchBytes);
    case MoeDispatch::Hierarchical:
        return legs.allToAllInTwo(sizes.visits);
    case MoeDispatch::AllGather:
        return legs.gatherAll(sizes.once * request.group.ranks, isCombine);
    case MoeDispatch::RankDedup:
        return legs.allToAll(sizes.logical);
    case MoeDispatch::TensorSliced:
        return legs.allToAll(sizes.visits / std::max(1, request.group.sameTokens.ranks));
    case MoeDispatch::Flat:
    case MoeDispatch::TrafficAware:
        break;
    }
    legs.allToAll(sizes.visits);
}

/// Tensor groups whose tokens an expert's ranks have together: below 1 where they are part of a group, whose ranks all
/// hold the same.
double tensorGroups(const ExpertGroup &group)
{
    return double(group.expertTensor.ranks) / std::max(1, group.sameTokens.ranks);
}

/// One rank of each tensor group among those that compute an expert; and those of a tensor group.
RankGroup acrossTensorGroups(const ExpertGroup &group)
{
    RankGroup ranks = group.expertTensor;
    ranks.ranks = int(std::ceil(tensorGroups(group)));
    ranks.ranksPerNode =
        std::clamp(group.expertTensor.ranksPerNode / std::max(1, group.sameTokens.ranks), 1, ranks.ranks);
    return ranks;
}
RankGroup ofATensorGroup(const ExpertGroup &group)
{
    RankGroup ranks = group.expertTensor;
    ranks.ranks = std::min(group.expertTensor.ranks, group.sameTokens.ranks);
    ranks.ranksPerNode = std::min(ranks.ranksPerNode, ranks.ranks);
    return ranks;
}

/// Ranks that compute an expert together need each other's tokens: of all tensor groups that they belong to. Slices of
/// a group's tokens come one to each rank, else each has all of its own group.
void bringTogether(LegChain &legs, const ExpertGroup &group, double visits, bool isSliced)
{
    const double groups = tensorGroups(group);
    if (isSliced)
        legs.gather(visits * groups, group.expertTensor);
    else if (groups > 1)
        legs.gather(visits * groups, acrossTensorGroups(group));
}

/// What they made is added up before it goes back: each tensor group takes its own, of which every rank then has all.
void addUp(LegChain &legs, const ExpertGroup &group, double visits, bool isSliced)
{
    const double groups = tensorGroups(group);
    if (groups > 1)
        legs.scatter(visits * groups, acrossTensorGroups(group));
    legs.reduce(visits * (isSliced ? std::min(1.0, groups) : 1), ofATensorGroup(group));
}

} // namespace

double Exchange::bytes(Way way) const
{
    double sum = 0;
    for (const Leg &leg : legs)
        sum += leg.way == way ? leg.bytes : 0;
    return sum;
}

Seconds Exchange::alone() const
{
    std::vector<double> ends(legs.size()), arrived(legs.size()); // of the piece before
    double over = 0;
    for (int piece = 0; piece < pieces; ++piece) {
        const double ready = piecesWait ? over : 0;
        for (std::size_t i = 0; i < legs.size(); ++i) {
            const Leg &leg = legs[i];
            double begin = std::max(ready, ends[i]);
            for (std::size_t k = 0; leg.afterAll && k < i; ++k)
                begin = std::max(begin, arrived[k]);
            if (leg.after >= 0)
                begin = std::max(begin, arrived[std::size_t(leg.after)]);
            ends[i] = begin + leg.start.value + leg.moving.value / pieces;
            arrived[i] = ends[i] + leg.lag.value;
            over = std::max(over, arrived[i]);
        }
    }
    return Seconds { over };
}

WanCopies wanCopies(MoeDispatch dispatch)
{
    return dispatch == MoeDispatch::AllGather ? WanCopies::EachSite
        : dispatch == MoeDispatch::Dedup      ? WanCopies::VisitedSites
                                              : WanCopies::EachRank;
}

double wanCopiesTo(WanCopies copies, int there, int ranks, const ExpertTokens &tokens)
{
    switch (copies) {
    case WanCopies::EachRank:
        return there;
    case WanCopies::EachSite:
        return 1;
    case WanCopies::VisitedSites:
        return visitChance(double(there) / ranks, tokens);
    }
    return 0;
}

Exchange exchangeOf(const ExchangeRequest &request, MoeDispatch dispatch, bool isCombine, int pieces)
{
    const ExpertGroup &group = request.group;
    LegChain legs(request, std::max(1, pieces), slowedBy(dispatch, request.tokens.skew));
    const Sizes sizes =
        sizesOf(request, dispatch, isCombine ? request.tokens.combineBytes : request.tokens.dispatchBytes);
    const bool isSliced = dispatch == MoeDispatch::TensorSliced && group.sameTokens.ranks > 1;
    if (group.expertTensor.ranks > 1 && isCombine)
        addUp(legs, group, sizes.visits, isSliced);
    addAcross(legs, request, dispatch, isCombine, sizes);
    if (group.expertTensor.ranks > 1 && !isCombine)
        bringTogether(legs, group, sizes.visits, isSliced);
    if (isSliced && isCombine)
        legs.gather(sizes.visits, group.sameTokens);
    if (isSliced && (isCombine || group.expertTensor.ranks > 1)) // from the order in which it came, slice by slice
        legs.copy(isCombine ? sizes.visits : sizes.visits * tensorGroups(group));
    return legs.take(sizes.logical, smsOf(dispatch, group));
}

} // namespace trainyard
