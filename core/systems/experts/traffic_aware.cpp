// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/experts/traffic_aware.h"

#include "core/base/number_text.h"
#include "core/systems/experts/piece_pipeline.h"

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

/// Both ways of one pass, and what the layer takes with them.
struct Pass {
    Exchange dispatch, combine;
    int pieces = 1;
    Seconds seconds;
};

class Chooser {
public:
    Chooser(const ExchangeRequest &request, const MoeStrategy &moe, const ExchangeWorks &works)
        : m_request(request)
        , m_moe(moe)
        , m_works(works)
    {
    }

    [[nodiscard]] Pass pass(MoeDispatch dispatch, bool isForward, int pieces) const
    {
        Pass result { exchangeOf(m_request, dispatch, false, pieces), exchangeOf(m_request, dispatch, true, pieces),
            pieces };
        // The release that pipelines the forward waits for each piece of the backward.
        if (dispatch == MoeDispatch::TensorSliced && !isForward && !m_moe.pipelineBackward)
            result.dispatch.piecesWait = result.combine.piecesWait = pieces > 1;
        return result;
    }

    [[nodiscard]] int asked(bool isForward) const { return std::max(1, m_moe.chunks(isForward).value_or(1)); }
    /// The faster of one piece and those asked for, under which experts work piece by piece.
    [[nodiscard]] Pass flat(bool isForward) const
    {
        Pass one = judged(pass(MoeDispatch::Flat, isForward, 1), isForward, m_works.whole);
        const int pieces = m_request.group.ranks > 1 ? asked(isForward) : 1;
        if (pieces == 1)
            return one;
        Pass several = judged(pass(MoeDispatch::Flat, isForward, pieces), isForward, m_works.inPieces, true);
        return several.seconds < one.seconds ? several : one;
    }

    /// The fewest pieces of the fastest layer: as asked, or few ones and those of the closed form with its neighbours.
    /// The form knows one exchange with its ways to itself; in the layer both share ways and have one number.
    [[nodiscard]] Pass sliced(bool isForward) const
    {
        std::set<int> candidates { 1 };
        if (const Auto<int> asked = m_moe.chunks(isForward)) {
            candidates = { std::max(1, *asked) };
        } else if (isForward || m_moe.pipelineBackward) { // pieces that wait only add their starts
            constexpr int kFew = 8;
            for (int pieces = 2; pieces <= kFew; ++pieces)
                candidates.insert(pieces);
            for (const bool isCombine : { false, true }) {
                const int best = closedForm(isCombine);
                for (const int pieces : { best - 1, best, best + 1 })
                    candidates.insert(std::clamp(pieces, 1, kMostPiecesOfExchange));
            }
        }
        Pass best;
        for (const int pieces : candidates) {
            Pass candidate = judged(pass(MoeDispatch::TensorSliced, isForward, pieces), isForward, m_works.slices);
            if (pieces == *candidates.begin() || candidate.seconds < best.seconds)
                best = std::move(candidate);
        }
        return best;
    }

private:
    [[nodiscard]] static Pass judged(
        Pass candidate, bool isForward, const LayerPasses &passes, bool productsInPieces = false)
    {
        LayerWork work = isForward ? passes.forward : passes.backward;
        work.dispatch = candidate.dispatch;
        work.combine = candidate.combine;
        work.productsInPieces = productsInPieces;
        candidate.seconds = layerTimes(work).total;
        return candidate;
    }

    /// What a piece pays falls with its size, as long messages ramp up: repeated with the starts of the pieces found.
    [[nodiscard]] int closedForm(bool isCombine) const
    {
        int pieces = 1;
        constexpr int kRounds = 3;
        for (int round = 0; round < kRounds; ++round) {
            std::vector<PipelineStage> stages;
            const Exchange exchange = exchangeOf(m_request, MoeDispatch::TensorSliced, isCombine, pieces);
            for (std::size_t i = 0; i < exchange.legs.size(); ++i) {
                const Leg &leg = exchange.legs[i];
                const PipelineStage stage { leg.start, leg.moving };
                // Legs side by side are one stage, as long as the longer.
                if (i > 0 && leg.after == exchange.legs[i - 1].after && !stages.empty()) {
                    if (leg.alone() > stages.back().start + stages.back().moving)
                        stages.back() = stage;
                } else {
                    stages.push_back(stage);
                }
            }
            const int next = bestPieces(stages, kMostPiecesOfExchange);
            if (next == pieces)
                break;
            pieces = next;
        }
        return pieces;
    }

    const ExchangeRequest &m_request;
    const MoeStrategy &m_moe;
    const ExchangeWorks &m_works;
};

ExchangeChoice choiceOf(MoeDispatch dispatch, Pass forward, Pass backward, bool isAsked,
    std::optional<ComparedExchanges> compared = std::nullopt)
{
    return { dispatch, forward.pieces, backward.pieces, std::move(forward.dispatch), std::move(forward.combine),
        std::move(backward.dispatch), std::move(backward.combine), isAsked, compared };
}

std::string timeText(Seconds forward, Seconds backward)
{
    return secondsText(forward.value) + " forward and " + secondsText(backward.value) + " backward";
}

std::string piecesText(int forward, int backward)
{
    if (forward == 1 && backward == 1)
        return "Slices, each sent as a whole";
    const std::string there = std::to_string(forward), back = std::to_string(backward);
    return "Slices in " + there + (there == back ? " pieces" : " pieces forward and " + back + " backward");
}

/// What leaves a node or, of one node, a GPU.
double crossing(const Exchange &exchange)
{
    const double away = exchange.bytes(Way::Nic) + exchange.bytes(Way::Wan);
    return away > 0 ? away : exchange.bytes(Way::Nvlink);
}

ExchangeChoice trafficAware(const Chooser &chooser, const ExpertGroup &group)
{
    const bool canSlice = group.ranks > 1 && group.sameTokens.ranks > 1;
    const bool hasPieces = group.ranks > 1 && (chooser.asked(true) > 1 || chooser.asked(false) > 1);
    if (!canSlice && !hasPieces) // nothing to judge
        return choiceOf(MoeDispatch::Flat, chooser.pass(MoeDispatch::Flat, true, 1),
            chooser.pass(MoeDispatch::Flat, false, 1), false);
    Pass flatForward = chooser.flat(true), flatBackward = chooser.flat(false);
    if (!canSlice)
        return choiceOf(MoeDispatch::Flat, std::move(flatForward), std::move(flatBackward), false);
    Pass forward = chooser.sliced(true), backward = chooser.sliced(false);
    const ComparedExchanges compared { flatForward.seconds, flatBackward.seconds, forward.seconds, backward.seconds,
        forward.pieces, backward.pieces, crossing(flatForward.dispatch) / crossing(forward.dispatch) };
    // Never slower than flat in either pass: a pipeline may wait for one of them alone.
    if (forward.seconds > flatForward.seconds || backward.seconds > flatBackward.seconds
        || forward.seconds + backward.seconds >= flatForward.seconds + flatBackward.seconds)
        return choiceOf(MoeDispatch::Flat, std::move(flatForward), std::move(flatBackward), false, compared);
    return choiceOf(MoeDispatch::TensorSliced, std::move(forward), std::move(backward), false, compared);
}

const char *reason(MoeDispatch dispatch)
{
    switch (dispatch) {
    case MoeDispatch::Flat:
        return "a copy of a token for every expert";
    case MoeDispatch::RankDedup:
        return "a copy of a token for every rank";
    case MoeDispatch::Dedup:
        return "a copy of a token for every node, handed on inside";
    case MoeDispatch::Hierarchical:
        return "inside nodes first, then between them";
    case MoeDispatch::AllGather:
        return "all tokens to all ranks";
    case MoeDispatch::TensorSliced:
        return "each rank of a tensor group sends its slice, the group gathers";
    case MoeDispatch::TrafficAware:
        break;
    }
    return "";
}

} // namespace

ExchangeChoice chooseExchange(const ExchangeRequest &request, const MoeStrategy &moe, const ExchangeWorks &works)
{
    const Chooser chooser(request, moe, works);
    if (moe.dispatch == MoeDispatch::TrafficAware)
        return trafficAware(chooser, request.group);
    return choiceOf(moe.dispatch, chooser.pass(moe.dispatch, true, chooser.asked(true)),
        chooser.pass(moe.dispatch, false, chooser.asked(false)), true);
}

std::string whyOf(const ExchangeRequest &request, const ExchangeChoice &choice)
{
    const ExpertGroup &group = request.group;
    const std::string ranks = std::to_string(group.sameTokens.ranks);
    if (choice.isAsked)
        return std::string("As asked: ") + reason(choice.dispatch) + ", "
            + bytesText(choice.forwardDispatch.logicalBytes) + " of a rank on the way to its experts.";
    if (group.ranks <= 1)
        return "Flat: every rank holds all experts, so that no token travels.";
    if (!choice.compared)
        return "Flat: sequence parallelism, or a tensor degree of 1, gives each of the " + std::to_string(group.ranks)
            + " ranks tokens of its own already, so that slices have nothing to gain.";
    const ComparedExchanges &of = *choice.compared;
    const std::string compared =
        timeText(of.slicedForward, of.slicedBackward) + " against " + timeText(of.flatForward, of.flatBackward);
    if (choice.dispatch == MoeDispatch::Flat)
        return "Flat: in slices that " + ranks + " ranks gather the layer would take " + compared + ".";
    return piecesText(of.slicedForwardPieces, of.slicedBackwardPieces) + ": the layer takes " + compared
        + " flat, as each of " + ranks + " ranks that hold the same tokens sends " + plainText(of.fewer)
        + " times less.";
}

} // namespace trainyard
