// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/experts/exchange.h"

#include "core/experts/fan_out.h"
#include "core/experts/leg_chain.h"

#include <algorithm>

namespace trainyard {

namespace {

enum class Kernels : std::uint8_t { Nccl, Dedup };

Kernels kernelsOf(MoeDispatch dispatch)
{
    return dispatch == MoeDispatch::Dedup ? Kernels::Dedup : Kernels::Nccl;
}

double smsOf(MoeDispatch dispatch, const ExpertGroup &group)
{
    const ExpertKernels &kernels = builtinNetwork().experts;
    return kernelsOf(dispatch) == Kernels::Dedup ? kernels.dedupSms
        : group.nodes() > 1                      ? kernels.ncclSmsBetween
                                                 : kernels.ncclSms;
}

/// What an uneven load makes of the time: an all-gather moves all tokens whoever wants them.
double slowedBy(MoeDispatch dispatch, double skew)
{
    const ExpertKernels &kernels = builtinNetwork().experts;
    if (dispatch == MoeDispatch::AllGather)
        return 1;
    const double slope = kernelsOf(dispatch) == Kernels::Dedup ? kernels.dedupSkew : kernels.ncclSkew;
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
    std::vector<double> ends(legs.size()); // of the piece before
    double over = 0;
    for (int piece = 0; piece < pieces; ++piece) {
        const double ready = piecesWait ? over : 0;
        for (std::size_t i = 0; i < legs.size(); ++i) {
            const Leg &leg = legs[i];
            double begin = std::max(ready, ends[i]);
            for (std::size_t k = 0; leg.afterAll && k < i; ++k)
                begin = std::max(begin, ends[k]);
            if (leg.after >= 0)
                begin = std::max(begin, ends[std::size_t(leg.after)]);
            ends[i] = begin + leg.start.value + leg.moving.value / pieces;
            over = std::max(over, ends[i]);
        }
    }
    return Seconds { over };
}

Exchange exchangeOf(const ExchangeRequest &request, MoeDispatch dispatch, bool isCombine, int pieces)
{
    const ExpertGroup &group = request.group;
    LegChain legs(request, std::max(1, pieces), slowedBy(dispatch, request.tokens.skew));
    const Sizes sizes =
        sizesOf(request, dispatch, isCombine ? request.tokens.combineBytes : request.tokens.dispatchBytes);
    const bool areAlike = group.sameTokens.ranks > 1; // the ranks of a tensor group hold the same tokens
    const bool isSliced = dispatch == MoeDispatch::TensorSliced && areAlike;
    // Ranks that compute an expert together: what they made is added up before it goes back. Where each brought tokens
    // of its own they gather all of them first, and each takes back its own.
    if (group.expertTensor.ranks > 1 && isCombine) {
        if (areAlike)
            legs.reduce(sizes.visits, group.expertTensor);
        else
            legs.scatter(sizes.visits * group.expertTensor.ranks, group.expertTensor);
    }
    addAcross(legs, request, dispatch, isCombine, sizes);
    if (isSliced && (isCombine || group.expertTensor.ranks > 1)) {
        legs.gather(sizes.visits, group.sameTokens);
        legs.copy(sizes.visits); // from the order in which it came, slice by slice
    } else if (group.expertTensor.ranks > 1 && !isCombine && !areAlike) {
        legs.gather(sizes.visits * group.expertTensor.ranks, group.expertTensor);
    }
    return legs.take(sizes.logical, smsOf(dispatch, group));
}

} // namespace trainyard
