#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// MoNTA's choice (arXiv 2411.00662): from volume and topology, whether all ranks of a tensor group send what they hold
// (flat), each sends its slice and the group gathers (sliced), or that in n pieces whose exchange between nodes, gather
// inside and copies overlap. The paper's equations were not at hand: the rule is reconstructed from the released code
// (EnflameTechnology/DeepSpeed) and DeepSpeed's pull request 5626, and judged by the layer graph itself.

#include "core/experts/layer.h"

#include <string>

namespace trainyard {

struct ExchangeChoice {
    MoeDispatch dispatch = MoeDispatch::Flat; // never TrafficAware
    int forwardPieces = 1, backwardPieces = 1;
    Exchange forwardDispatch, forwardCombine, backwardDispatch, backwardCombine;
    std::string why; // one sentence, with numbers
};

/// The work with its exchanges replaced is what is timed; `forward` and `backward` as handed in say all else.
/// Any other dispatch: that one, with the pieces asked for (auto: 1).
[[nodiscard]] ExchangeChoice chooseExchange(
    const ExchangeRequest &request, const MoeStrategy &moe, const LayerWork &forward, const LayerWork &backward);

/// More pieces than that are never looked at.
inline constexpr int kMostPiecesOfExchange = 256;

} // namespace trainyard
