#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What other ways of sharing would give the same GPUs, on the same problem and by the same equations, so that their
// times compare. Pure functions. docs/model.md, "Mixed GPUs".

#include "core/base/error.h"
#include "core/systems/unequal_gpus/share_problem.h"

#include <cstdint>

namespace trainyard {

enum class ShareWay : std::uint8_t {
    /// b = B / N in one micro-batch, r = 1 / N: fully sharded data parallelism as it is
    EvenSplit,
    /// the same b, cut into the largest micro-batch that divides it and fits
    EvenAccumulated,
    /// b by speed, in one micro-batch, then off ranks that overflow; r = 1 / N
    Whale,
    /// b = B / N, states where there is room
    StateBalanced,
    /// b by time, r = 1 / N
    ComputeBalanced,
    /// both: Cephalo
    Balanced,
};

/// `speeds`: for each kind what Whale goes by, usually peak FLOP/s; empty: samples per second in micro-batches of 1.
/// Samples that do not divide go one each to the kinds that sort first, where the batch is even. The problem's own
/// balancing switches are overruled, pins are kept.
[[nodiscard]] Expected<Shares> sharesBy(
    ShareWay way, const ShareProblem &problem, const std::vector<double> &speeds = {});

} // namespace trainyard
