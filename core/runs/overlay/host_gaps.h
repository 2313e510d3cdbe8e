#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The gaps that TimeShares::host adds up, one by one: what a rank waited for its host, and before which kernel, so that
// gaps of one place in the step can be compared over steps.

#include "core/runs/overlay/run_steps.h"

namespace trainyard {

struct HostGap {
    /// RankRecording::streams and Recording::names of what ran next; kNoIndex: what ran next is not of the step
    std::uint32_t stream = kNoIndex, name = kNoIndex;
    double seconds = 0;
};

/// In their order, of one rank. From its first work in this window of the job's clock to the first one behind it, so
/// that the gap between two steps is one and belongs to the first of them, wherever in it the window ends.
[[nodiscard]] std::vector<HostGap> hostGapsOf(const Run &run, const RankWindow &window, int planStages = 0);

} // namespace trainyard
