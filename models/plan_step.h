#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a step from one plan to the next means beside its time and its memory: whether it is to be had at all, and
// whether another setting stands in the way. Whether the model learns otherwise is known of each key:
// core/facts/plan/key_list.h. Pure functions, any thread.

#include "core/facts/plan/plan.h"

#include <optional>

namespace trainyard {

/// The software is a bound without overheads, which nobody can install.
[[nodiscard]] bool isBound(const Plan &plan);

/// A number of replicas that is set and too large for the other degrees: replicas x tensor x pipeline x context > GPUs,
/// where fewer would do.
struct PinnedData {
    int replicas = 0, mostReplicas = 0;
    /// GPUs
    int needed = 0, there = 0;
};
[[nodiscard]] std::optional<PinnedData> pinnedData(const Plan &plan);

} // namespace trainyard
