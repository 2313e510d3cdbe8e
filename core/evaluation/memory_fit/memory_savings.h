#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The memorySavings of the memory ladder: every change of a plan that lowers what its GPUs hold, in the order of what
// it costs, from those that are free to those that change what is trained or how the GPUs are cut. Pure functions.

#include "core/facts/plan/plan.h"
#include "core/facts/workload/model_spec.h"

#include <functional>
#include <string>
#include <vector>

namespace trainyard {

/// What a saving takes in exchange for memory.
enum class SavingCost : std::uint8_t { Nothing, Compute, Traffic, Kernels, Numerics, Shape };

/// What the order of memorySavings asks about beside their cost.
enum class SavingAim : std::uint8_t { Other, RecomputeLayers, ShardGradients, MoveStates };

struct MemorySaving {
    /// "zero-1"
    std::string id;
    /// "Shard optimizer states (ZeRO-1)"
    std::string name;
    /// what it costs, in words: "the same traffic as an all-reduce"
    std::string price;
    SavingCost cost = SavingCost::Nothing;
    std::function<void(Plan &)> apply;
    SavingAim aim = SavingAim::Other;
};

/// Those that change the plan at all and that its hardware allows, cheapest first.
[[nodiscard]] std::vector<MemorySaving> memorySavings(const Plan &plan, const ModelSpec &model, const StackSpec &stack);

} // namespace trainyard
