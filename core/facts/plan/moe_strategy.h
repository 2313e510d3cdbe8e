#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How tokens travel to their experts and what runs beside that: the part `moe` of a plan.

#include "core/facts/plan/plan_value.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace trainyard {

/// Flat: a copy of a token for every expert that it chose. Rank-dedup: one for every rank. Dedup: one for every node,
/// handed on inside (DeepEP, HybridEP). Hierarchical: inside nodes first, then between them. All-gather: all tokens to
/// all ranks. Tensor-sliced: each rank of a tensor group sends its slice, the group gathers (TED, DeepSpeed).
/// Traffic-aware: whichever of flat, sliced and sliced in pieces that overlap is fastest (MoNTA).
enum class MoeDispatch : std::uint8_t { Flat, RankDedup, Dedup, Hierarchical, AllGather, TensorSliced, TrafficAware };
/// How tokens are put in the order of their experts: kernels that touch each token's copies, or a product with a mask
/// of tokens x experts x capacity, whose FLOPs grow with the square of the sequence (DeepSpeed without Tutel).
enum class MoeBaseline : std::uint8_t { Fused, Einsum };
/// Memory-efficient: the weights of a token's experts are applied before the second product, so that no copy of its
/// results is kept (Megatron Core).
enum class MoePermute : std::uint8_t { Standard, MemoryEfficient };
/// What a micro-batch exchanges with its experts under the computation of another one: nothing, or a neighbour's
/// backward and forward of one-forward-one-backward schedules.
enum class ExpertOverlap : std::uint8_t { None, OneFOneB };

struct MoeStrategy {
    MoeDispatch dispatch = MoeDispatch::Flat;
    /// pieces of an exchange, both ways
    Auto<int> overlapChunks;
    /// of one way, instead
    Auto<int> forwardChunks, backwardChunks;
    bool pipelineBackward =
        false; // traffic-aware: pieces overlap in the backward too, where the release waits for each
    /// shared experts compute while tokens travel
    bool sharedExpertOverlap = false;
    ExpertOverlap expertOverlap = ExpertOverlap::None;
    /// multiprocessors that exchanges take while they run; empty: as measured
    std::optional<int> communicationSms;
    /// load of the fullest rank / mean
    double imbalance = 1;
    /// relative load of each expert, instead of `imbalance`; empty: not given
    std::vector<double> expertLoads;
    /// false: experts have room for capacityFactor (1 where not given) times the mean
    bool dropless = true;
    std::optional<double> capacityFactor;
    MoeBaseline baseline = MoeBaseline::Fused;
    MoePermute permute = MoePermute::Standard;
    Extra extra;
    bool operator==(const MoeStrategy &) const = default;
    /// Room of an expert over the mean, where experts have one.
    [[nodiscard]] std::optional<double> capacity() const
    {
        return capacityFactor || dropless ? capacityFactor : std::optional(1.0);
    }
    /// Rows of the fullest expert over the mean: padding to the capacity, where one is set, replaces the imbalance.
    [[nodiscard]] double load() const { return capacity().value_or(imbalance); }
    /// Share of the tokens' visits to experts that is computed: experts with room for less than the mean drop the rest.
    /// Of experts as full as each other; uneven ones drop more, by how much `expertLoads` says.
    [[nodiscard]] double keptVisits() const { return std::min(1.0, capacity().value_or(1)); }
    /// Pieces asked for of one way; empty: auto.
    [[nodiscard]] Auto<int> chunks(bool isForward) const
    {
        const Auto<int> &own = isForward ? forwardChunks : backwardChunks;
        return own ? own : overlapChunks;
    }
};

} // namespace trainyard
