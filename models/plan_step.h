#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a step from one plan to the next means beside its time and its memory: whether the model learns something else, and
// whether another setting stands in the way. Pure functions, any thread.

#include "core/plan/plan.h"

#include <optional>

namespace trainyard {

/// The step changes the mathematics of training: another optimizer or number format, or more of what is only approximated
/// (fewer bits of what is kept or sent, an update one step late, replicas that train apart).
[[nodiscard]] bool changesTraining(const Plan &from, const Plan &to);

/// The software is a bound without overheads, which nobody can install.
[[nodiscard]] bool isBound(const Plan &plan);

/// A number of replicas that is set and too large for the other degrees: replicas x tensor x pipeline x context > GPUs,
/// where fewer would do.
struct PinnedData {
    int replicas = 0, mostReplicas = 0;
    int needed = 0, there = 0;     // GPUs
};
[[nodiscard]] std::optional<PinnedData> pinnedData(const Plan &plan);

} // namespace trainyard
