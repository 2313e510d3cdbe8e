#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of published planners, re-stated: of all that each would look at, what it thinks of it, best first. Their
// formulas are simple and theirs; whether a plan runs and how long it really takes is the evaluator's business. Where
// rules are cut short for size it is said here. Pure functions. docs/planner-rivals.md.
//
// [F] found in the released code of Sailor (eth-easl/sailor at cf2c8e3), which has the others' planners too; [I] ours.

#include "core/planner/rivals/choice.h"
#include "core/systems/unequal_gpus/sailor.h"

#include <cstddef>
#include <optional>
#include <stop_token>

namespace trainyard::rivals {

/// What a planner that knows budgets is asked to keep; others do not know of it.
struct Wishes {
    /// least USD an iteration instead of least time
    bool wantsCheap = false;
    /// an iteration
    std::optional<double> mostUsd;
    /// an iteration
    std::optional<double> mostSeconds;
};

struct Ranking {
    /// best first by its own formula, at most kMostChoices
    std::vector<Choice> choices;
    /// combinations of what it decides
    std::size_t looked = 0;
    /// what it went by, one sentence without a full stop
    std::string rule;
};
inline constexpr std::size_t kMostChoices = 200;

/// AMP (2210.07297): all GPUs as if they were equal, each layer as long as the mean over the kinds, the slowest link
/// everywhere [F]; tensor x data x micro-batch, stages of what is left, layers by its dynamic programme over the
/// longest stage. Ranks fill machines in the order of the cluster. GPUs are left out until their number divides the
/// batch [F].
///   T = sum t + (M - 1) max t + sum of boundaries + 2 (D - 1) / D S / rate. No memory model [F].
/// Left out: the search for the placement of ranks, which its release leaves out for unequal clusters too [F].
[[nodiscard]] Ranking byAmp(const PlannerInput &input, const std::stop_token &stop = {});

/// Metis (ATC 2024): every order of the kinds of GPUs x device groups of a power of two x (data, tensor) x micro-batch;
/// layers by the speed of stages, moved where memory is short in at most three tries [F].
///   T = sum t + (M - 1) max t + boundaries + 2 (D - 1) / D S / rate of the slowest link of the groups.
/// A stage of several kinds shares its samples by speed [F]. Left out: groups of two sizes in one pipeline, since a
/// plan has one data-parallel degree; its constant times of the optimizer and of synchronising; memory that was
/// profiled, here states and activations of a stage as they are counted (its factor of five on profiled memory has no
/// meaning for those).
[[nodiscard]] Ranking byMetis(const PlannerInput &input, const std::stop_token &stop = {});

/// FlashFlex (HexiScale, 2409.01143): pipelines, then stages, then tensor groups by a hierarchical partition of the
/// graph of GPUs; layers by memory; closed formulas with peak FLOP/s [F]:
///   layer 72 b s h^2 (1 + s/6h + V/16Lh) / (flops t) + 8 b s h B (t - 1) / (t rate inside)
///   GPipe: sum over columns of the longest stage in it; DP: sum over layers of 2 * 12 h^2 B (D - 1) / (t D rate).
///   Micro-batches of 1 [F]. Left out: the graph partitioner itself (METIS); GPUs are cut into equal pipelines, each of
/// whole machines where it can be, stages of a machine or a power of two of its GPUs: what its partition gives on
/// clusters of equal machines. Pipelines of unlike shape, of which a plan has none but by kind.
[[nodiscard]] Ranking byFlashFlex(const PlannerInput &input, const std::stop_token &stop = {});

/// Sailor (SOSP 2025, 2504.17096): P stages of equal layers, the rest to the last ones; micro-batch; tensor degree of
/// each stage and kind: the least that fits, then doubled while that is 1.5 times as fast (H2); D falling until it no
/// longer gets better (H3, H4; rising where cost counts); data-parallel inside a region, pipeline across regions (H5),
/// zones of a region as one (H6); which kinds serve a stage by its dynamic programme over what is left of the GPUs [F].
///   T and memory: core/systems/unequal_gpus/sailor.h; cost: seconds x price of the GPUs + bytes between datacenters x
///   their price.
/// Counts of replicas of a kind go in eighths of D, of three kinds and more in quarters, and it ends after eight
/// million combinations [I]; the release tries each count and takes minutes.
[[nodiscard]] Ranking bySailor(const PlannerInput &input, const Wishes &wishes = {}, const std::stop_token &stop = {});

/// Seconds of a choice by these formulas, for tests; infinite where it is none of theirs.
[[nodiscard]] double ampSeconds(const Choice &choice, const PlannerInput &input);
[[nodiscard]] double metisSeconds(const Choice &choice, const PlannerInput &input);
[[nodiscard]] double flashFlexSeconds(const Choice &choice, const PlannerInput &input);
/// Sailor's prediction, memory and all; empty where it cannot be made.
[[nodiscard]] std::optional<sailor::Prediction> sailorPrediction(const Choice &choice, const PlannerInput &input);

} // namespace trainyard::rivals
