#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Recipes of Megatron-Bridge that train a model of the catalogue from scratch, once for both ways: import knows the
// model by the recipe's name, export starts it. Names as of its commit 067f987 (src/megatron/bridge/recipes, 2026-08).
// Constant data; any thread.

#include <span>
#include <string_view>

namespace trainyard {

struct BridgeRecipe {
    /// of the catalogue's model
    std::string_view model;
    /// "llama31_405b_pretrain_config"
    std::string_view name;
    /// it has a section comm_overlap, whose switches win over the model's
    bool hasOverlapSection = false;
    /// its optimizer keeps moments in 16 bits
    bool hasShortMoments = false;
};
[[nodiscard]] std::span<const BridgeRecipe> bridgeRecipes();
/// nullptr where no model of the catalogue has such a recipe.
[[nodiscard]] const BridgeRecipe *bridgeRecipeOf(std::string_view model);
[[nodiscard]] const BridgeRecipe *bridgeRecipeNamed(std::string_view name);

/// Precisions by the names of its presets (src/megatron/bridge/training/mixed_precision.py).
struct BridgePrecision {
    /// as a plan's file has it
    std::string_view precision, name;
};
[[nodiscard]] std::span<const BridgePrecision> bridgePrecisions();

} // namespace trainyard
