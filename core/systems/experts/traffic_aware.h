#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// MoNTA's choice (arXiv 2411.00662): from volume and topology, whether all ranks of a tensor group send what they hold
// (flat), each sends its slice and the group gathers (sliced), or that in n pieces whose exchange between nodes, gather
// inside and copies overlap. The paper's equations were not at hand: the rule is reconstructed from the released code
// (EnflameTechnology/DeepSpeed) and DeepSpeed's pull request 5626, and judged by the layer graph itself.

#include "core/systems/experts/layer.h"

#include <optional>
#include <string>

namespace trainyard {

/// Both passes of a layer, but for their exchanges.
struct LayerPasses {
    LayerWork forward, backward;
};

/// The layer as each candidate has its kernels; read by TrafficAware alone. Whole experts compute of slices what is
/// sent twice once, and products in pieces take longer.
struct ExchangeWorks {
    /// flat, in one piece
    LayerPasses whole;
    /// flat, products in the pieces asked for (read where there are several)
    LayerPasses inPieces;
    LayerPasses slices;
};

/// What was weighed, for whoever asks why.
struct ComparedExchanges {
    /// of the layer
    Seconds flatForward, flatBackward, slicedForward, slicedBackward;
    int slicedForwardPieces = 1, slicedBackwardPieces = 1;
    /// bytes that leave a node (of one node: a GPU), flat over sliced
    double fewer = 1;
};

struct ExchangeChoice {
    /// never TrafficAware
    MoeDispatch dispatch = MoeDispatch::Flat;
    int forwardPieces = 1, backwardPieces = 1;
    Exchange forwardDispatch, forwardCombine, backwardDispatch, backwardCombine;
    /// else chosen by traffic-aware
    bool isAsked = true;
    /// where there was something to choose
    std::optional<ComparedExchanges> compared;
};

/// A candidate's work with its exchanges and `productsInPieces` replaced is what is timed. Flat is tried in one piece
/// and in the pieces asked for, slices in the pieces asked for or, auto, as many as are best. Any other dispatch: that
/// one, with the pieces asked for (auto: 1).
[[nodiscard]] ExchangeChoice chooseExchange(
    const ExchangeRequest &request, const MoeStrategy &moe, const ExchangeWorks &works);

/// One sentence, with numbers.
[[nodiscard]] std::string whyOf(const ExchangeRequest &request, const ExchangeChoice &choice);

/// More pieces than that are never looked at.
inline constexpr int kMostPiecesOfExchange = 256;

} // namespace trainyard
