// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/experts/traffic_aware.h"

#include "core/base/number_text.h"
#include "core/experts/piece_pipeline.h"

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

/// Both ways of one pass, and what the layer takes with them.
struct Pass {
    Exchange dispatch, combine;
    int pieces = 1;
    double seconds = 0;
};

class Chooser {
public:
    Chooser(const ExchangeRequest &request, const MoeStrategy &moe, const LayerWork &forward, const LayerWork &backward)
        : m_request(request)
        , m_moe(moe)
        , m_forward(forward)
        , m_backward(backward)
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

    [[nodiscard]] Pass judged(Pass candidate, bool isForward) const
    {
        LayerWork work = isForward ? m_forward : m_backward;
        work.dispatch = candidate.dispatch;
        work.combine = candidate.combine;
        candidate.seconds = layerTimes(work).total.value;
        return candidate;
    }

    /// The fewest pieces of the fastest layer: as asked, or those of the closed form and their neighbours.
    [[nodiscard]] Pass sliced(bool isForward) const
    {
        std::set<int> candidates { 1 };
        if (const Auto<int> asked = m_moe.chunks(isForward)) {
            candidates = { std::max(1, *asked) };
        } else if (isForward || m_moe.pipelineBackward) { // pieces that wait only add their starts
            for (const bool isCombine : { false, true }) {
                const int best = closedForm(isCombine);
                for (const int pieces : { best - 1, best, best + 1 })
                    candidates.insert(std::clamp(pieces, 1, kMostPiecesOfExchange));
            }
        }
        Pass best;
        for (const int pieces : candidates) {
            Pass candidate = judged(pass(MoeDispatch::TensorSliced, isForward, pieces), isForward);
            if (pieces == *candidates.begin() || candidate.seconds < best.seconds)
                best = std::move(candidate);
        }
        return best;
    }

private:
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
    const LayerWork &m_forward, &m_backward;
};

ExchangeChoice choiceOf(MoeDispatch dispatch, Pass forward, Pass backward, std::string why)
{
    return { dispatch, forward.pieces, backward.pieces, std::move(forward.dispatch), std::move(forward.combine),
        std::move(backward.dispatch), std::move(backward.combine), std::move(why) };
}

std::string timeText(const Pass &forward, const Pass &backward)
{
    return secondsText(forward.seconds) + " forward and " + secondsText(backward.seconds) + " backward";
}

std::string piecesText(const Pass &forward, const Pass &backward)
{
    if (forward.pieces == 1 && backward.pieces == 1)
        return "Slices, each sent as a whole";
    const std::string there = std::to_string(forward.pieces), back = std::to_string(backward.pieces);
    return "Slices in " + there + (there == back ? " pieces" : " pieces forward and " + back + " backward");
}

/// What leaves a node or, of one node, a GPU.
double crossing(const Exchange &exchange)
{
    const double away = exchange.bytes(Way::Nic) + exchange.bytes(Way::Wan);
    return away > 0 ? away : exchange.bytes(Way::Nvlink);
}

ExchangeChoice trafficAware(const Chooser &chooser, const ExchangeRequest &request)
{
    Pass flatForward = chooser.judged(chooser.pass(MoeDispatch::Flat, true, 1), true);
    Pass flatBackward = chooser.judged(chooser.pass(MoeDispatch::Flat, false, 1), false);
    const ExpertGroup &group = request.group;
    const auto flat = [&](std::string why) {
        return choiceOf(MoeDispatch::Flat, std::move(flatForward), std::move(flatBackward), std::move(why));
    };
    if (group.ranks <= 1)
        return flat("Flat: every rank holds all experts, so that no token travels.");
    if (group.sameTokens.ranks <= 1)
        return flat("Flat: sequence parallelism, or a tensor degree of 1, gives each of the "
            + std::to_string(group.ranks) + " ranks tokens of its own already, so that slices have nothing to gain.");
    Pass forward = chooser.sliced(true), backward = chooser.sliced(false);
    const std::string ranks = std::to_string(group.sameTokens.ranks);
    const double fewer = crossing(flatForward.dispatch) / crossing(forward.dispatch);
    const std::string compared = timeText(forward, backward) + " against " + timeText(flatForward, flatBackward);
    // Never slower than flat in either pass: a pipeline may wait for one of them alone.
    if (forward.seconds > flatForward.seconds || backward.seconds > flatBackward.seconds
        || forward.seconds + backward.seconds >= flatForward.seconds + flatBackward.seconds)
        return flat("Flat: in slices that " + ranks + " ranks gather the layer would take " + compared + ".");
    const std::string text = piecesText(forward, backward) + ": the layer takes " + compared + " flat, as each of "
        + ranks + " ranks that hold the same tokens sends " + plainText(fewer) + " times less.";
    return choiceOf(MoeDispatch::TensorSliced, std::move(forward), std::move(backward), text);
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

ExchangeChoice chooseExchange(
    const ExchangeRequest &request, const MoeStrategy &moe, const LayerWork &forward, const LayerWork &backward)
{
    const Chooser chooser(request, moe, forward, backward);
    if (moe.dispatch == MoeDispatch::TrafficAware)
        return trafficAware(chooser, request);
    Pass there = chooser.pass(moe.dispatch, true, std::max(1, moe.chunks(true).value_or(1)));
    Pass back = chooser.pass(moe.dispatch, false, std::max(1, moe.chunks(false).value_or(1)));
    const std::string why = std::string("As asked: ") + reason(moe.dispatch) + ", "
        + bytesText(there.dispatch.logicalBytes) + " of a rank on the way to its experts.";
    return choiceOf(moe.dispatch, std::move(there), std::move(back), why);
}

} // namespace trainyard
