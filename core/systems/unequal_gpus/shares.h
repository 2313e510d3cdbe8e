#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who gets how much of the batch: the plan of the least time of the slowest rank, among those of equal time the one of
// the smallest sum of micro-batches, such that compute and states of all ranks together fit in their memory; then the
// states are filled in (core/systems/unequal_gpus/state_fill.h). Pure functions. docs/model.md, "Mixed GPUs".

#include "core/base/error.h"
#include "core/systems/unequal_gpus/share_problem.h"

namespace trainyard {

/// Exact (ours): the least of the finitely many T(m, l) within which the samples of all ranks can add up to B is found
/// by bisection; within it, each rank does b samples in the smallest micro-batch that is fast enough, and which b add
/// up to B with the smallest sum of micro-batches is a knapsack over groups of equal ranks, doubled. The answer depends
/// on what kinds are, not on their names or order. An error names the rank or the total that does not fit.
/// `extrapolate`: e solves B / e, then gives each rank e times as many micro-batches, for batches beyond kMostSamples
/// (as the released code may).
[[nodiscard]] Expected<Shares> fastShares(const ShareProblem &problem, int extrapolate = 1);

struct ReleasedOptions {
    /// no larger one is tried; 0: as large as fits
    int largestMicroBatch = 0;
    /// e, as above
    int extrapolate = 1;
};

/// The dynamic programme of Cephalo's released optimiser, for reference:
///   dp[i][j][k] = min over m, l of max(dp[i−1][j − m·l][k − m], T_i(m, l)),
/// where k is the sum of micro-batches; of each k the best plan alone is held against the memory of all ranks together.
/// Where ranks differ in C(m), another plan of that k may fit where its best one does not: then fastShares() is faster.
/// O(N · B³ · log B): refuses what would take more than some ten seconds.
[[nodiscard]] Expected<Shares> releasedShares(const ShareProblem &problem, const ReleasedOptions &options = {});

} // namespace trainyard
