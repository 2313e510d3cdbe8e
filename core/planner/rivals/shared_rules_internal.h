#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the planners' rules share. For the .cpp files of this folder.

#include "core/planner/rivals/planners.h"

#include <functional>
#include <span>

namespace trainyard::rivals {

/// Divisors, rising.
[[nodiscard]] std::vector<int> divisors(int n);

/// Micro-batches of a replica.
[[nodiscard]] int microBatchesOf(const PlannerInput &input, int data, int microBatch);

/// GPUs of the sites in that order, each machine whole, cut into tensor groups one after the other and those into
/// stages of `data` replicas; empty where they do not suffice.
[[nodiscard]] std::vector<ChosenStage> fillInOrder(
    const PlannerInput &input, std::span<const int> sites, int stages, int data, int tensor);

/// Keeps the best by `seconds` (ties: the first), as many as a ranking has.
void keepBest(std::vector<Choice> &choices, const std::function<double(const Choice &)> &value);

/// sum t + (M - 1) max t.
[[nodiscard]] double pipelineSeconds(std::span<const double> stages, int microBatches);

} // namespace trainyard::rivals
