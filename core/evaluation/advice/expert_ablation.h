#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One expert layer under three exchanges, each the one before and more, as MoNTA compares them (arXiv 2411.00662; our
// reconstruction from its released code, docs/experts.md): DeepSpeed's, where every rank of a tensor group sends all
// tokens; sliced, where each sends its part and the group gathers; and the slices in pieces whose exchange between
// nodes, gather inside and copies overlap. Pure functions, any thread.

#include "core/evaluation/evaluate/expert_layer.h"

#include <array>
#include <optional>
#include <string>

namespace trainyard {

enum class ExchangeStep : std::uint8_t { DeepSpeed, Sliced, Overlapped };
inline constexpr std::size_t kExchangeSteps = 3;
/// "deepspeed", "sliced", "overlapped"
[[nodiscard]] const char *toString(ExchangeStep step);
/// "DeepSpeed", "Sliced", "Overlapped pieces"
[[nodiscard]] const char *labelOf(ExchangeStep step);

/// Of one micro-batch through one layer, on the rank that takes longest.
struct StepTimes {
    /// what runs: of the last step whatever traffic-aware takes
    MoeDispatch dispatch = MoeDispatch::Flat;
    int forwardPieces = 1, backwardPieces = 1;
    // Of the forward, dispatch and combine together:
    /// that one GPU sends to other nodes
    double nicBytes = 0;
    /// between nodes, inside them, in a GPU's memory: each alone on its way
    Seconds allToAll, inside, copies;
    /// of these, as they follow each other or overlap, beside nothing else
    Seconds exchange;
    /// of the layer; `exposed`: of both, what nothing computes under
    Seconds forward, backward, exposed;

    [[nodiscard]] Seconds layer() const { return forward + backward; }
};
using Ablation = std::array<StepTimes, kExchangeSteps>;
/// The layer as each exchange has it: kernels differ too, since whole experts compute what is sent twice twice.
using StepLayers = std::array<ExpertLayer, kExchangeSteps>;

/// The plan's strategy with its dispatch replaced; pieces are one but for the last step, which searches for them.
[[nodiscard]] MoeStrategy strategyOf(ExchangeStep step, MoeStrategy moe);
[[nodiscard]] Ablation ablationOf(const StepLayers &layers);

/// DeepSpeed over sliced; empty where nothing crosses NICs. Never more than the ranks that hold the same tokens.
struct SparedTraffic {
    /// on the NIC
    double bytes = 1;
    /// time of what crosses it, alone
    double allToAll = 1;
};
[[nodiscard]] std::optional<SparedTraffic> sparedTraffic(const Ablation &ablation);

/// Why the three are one: experts that are not spread, tokens that are split already. Empty where they are not.
[[nodiscard]] std::string whyNothingToGain(const ExpertLayer &layer);

/// The layers as they would be with so many ranks that hold the same tokens, the group of the experts and all else
/// staying. Kernels are scaled by the rows that a rank computes and the share of an expert that it has, which follows
/// the tensor group where it did. `moe`: the plan's.
[[nodiscard]] StepLayers withTensorGroup(StepLayers layers, int ranks, const MoeStrategy &moe);

} // namespace trainyard
