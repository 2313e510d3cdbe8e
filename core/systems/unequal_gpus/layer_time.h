#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How long one layer takes on a rank of its kind, and what it needs of memory: the equations that all optimisers of
// mixed GPUs share, so that they can be compared to the last bit. Pure functions. docs/model.md, "Mixed GPUs".

#include "core/base/error.h"
#include "core/systems/unequal_gpus/share_problem.h"

namespace trainyard {

/// Sums of bytes are exact to less: a rank that is full to the byte fits, in whatever order it is added up.
inline constexpr double kByteOfRounding = 1;

/// Searches take about B² · log N steps: seconds at these bounds. Larger batches are extrapolated from a part of them.
inline constexpr int kMostSamples = 1 << 14, kMostRanks = 1 << 20;

/// What sentences call the kind: its name, else its number from 1.
[[nodiscard]] std::string nameOf(const ShareProblem &problem, int kind);
/// Largest micro-batch that the kind's tables tell of.
[[nodiscard]] int tableSize(const RankKind &kind);
/// Bytes beside states with l micro-batches of m: max C(1 … m) + perSample · m · l; 0 for a rank that computes nothing.
[[nodiscard]] double computeBytes(const RankKind &kind, int microBatch, int microBatches);
/// Of the states, what each rank without a pinned share holds where they are even.
[[nodiscard]] double evenShare(const ShareProblem &problem);
[[nodiscard]] int rankCount(const ShareProblem &problem);

/// Bytes of the states that a rank of the kind holds where shares are even; infinite where its pinned share is not.
[[nodiscard]] double evenBytes(const ShareProblem &problem, const RankKind &kind);
/// Whether a rank with m and l still holds its even share of the states.
[[nodiscard]] bool holdsEvenShare(const ShareProblem &problem, const RankKind &kind, int microBatch, int microBatches);

/// Seconds of one layer of one iteration, forward and backward with recomputation, in layered accumulation (all
/// micro-batches of a layer, then the next layer), as the released optimiser of Cephalo has it:
///   F = l · f(m);  R = (l − 1) · δ + l · b(m);  u = 1.25 where the rank cannot hold an even share of the states, else
///   1 T = max(u · AG, F) + max(u · (AG + RS), F + R)
/// Without overlap T = u · (2 · AG + RS) + 2 · F + R (ours). Without layers, l times what one micro-batch takes, and
/// (l − 1) · δ (ours: FSDP's plain accumulation gathers and reduces again for each).
[[nodiscard]] double layerTime(const ShareProblem &problem, const RankKind &kind, int microBatch, int microBatches);
/// The same where collectives take `penalty` times as long: in one layer, whose shards may be even though others' are
/// not.
[[nodiscard]] double layerTimeAt(
    const ShareProblem &problem, const RankKind &kind, int microBatch, int microBatches, double penalty);

/// Largest micro-batch of the kind, as one of its own, with an even share of the states; 0: not even one sample.
[[nodiscard]] int evenMicroBatch(const ShareProblem &problem, const RankKind &kind);
/// Largest micro-batch without states, or with its pinned share.
[[nodiscard]] int largestMicroBatch(const ShareProblem &problem, const RankKind &kind);

/// What makes the numbers no problem at all: no ranks, tables that are empty or not finite, pins that contradict the
/// rest.
[[nodiscard]] Expected<void> checked(const ShareProblem &problem);

/// The problem without some ranks of a kind: what leaving a GPU out would be. Seconds of collectives stay as given; who
/// knows the network gives those of fewer ranks.
[[nodiscard]] ShareProblem without(ShareProblem problem, int kind, int ranks);

} // namespace trainyard
