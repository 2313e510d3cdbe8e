// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/imports/bridge_recipes.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

constexpr auto kBridgeRecipes = std::to_array<BridgeRecipe>({
    { "gpt-3-175b", "gpt3_175b_pretrain_config", true },
    { "llama-2-7b", "llama2_7b_pretrain_config", true },
    { "llama-3-8b", "llama3_8b_pretrain_config" },
    { "llama-3-70b", "llama3_70b_pretrain_config", true },
    { "llama-3.1-8b", "llama31_8b_pretrain_config" },
    { "llama-3.1-70b", "llama31_70b_pretrain_config", true },
    { "llama-3.1-405b", "llama31_405b_pretrain_config", true },
    { "llama-3.2-1b", "llama32_1b_pretrain_config" },
    { "llama-3.2-3b", "llama32_3b_pretrain_config" },
    { "qwen2-0.5b", "qwen2_500m_pretrain_config" },
    { "qwen2-1.5b", "qwen2_1p5b_pretrain_config" },
    { "qwen2-7b", "qwen2_7b_pretrain_config" },
    { "qwen2-72b", "qwen2_72b_pretrain_config" },
    { "qwen2.5-0.5b", "qwen25_500m_pretrain_config" },
    { "qwen2.5-1.5b", "qwen25_1p5b_pretrain_config" },
    { "qwen2.5-7b", "qwen25_7b_pretrain_config" },
    { "qwen2.5-14b", "qwen25_14b_pretrain_config" },
    { "qwen2.5-32b", "qwen25_32b_pretrain_config" },
    { "qwen2.5-72b", "qwen25_72b_pretrain_config" },
    { "qwen3-0.6b", "qwen3_600m_pretrain_config" },
    { "qwen3-1.7b", "qwen3_1p7b_pretrain_config" },
    { "qwen3-4b", "qwen3_4b_pretrain_config" },
    { "qwen3-8b", "qwen3_8b_pretrain_config" },
    { "qwen3-14b", "qwen3_14b_pretrain_config" },
    { "qwen3-32b", "qwen3_32b_pretrain_config" },
    { "qwen3-30b-a3b", "qwen3_30b_a3b_pretrain_config" },
    { "qwen3-235b-a22b", "qwen3_235b_a22b_pretrain_config" },
    { "deepseek-v2-lite", "deepseek_v2_lite_pretrain_config", true },
    { "deepseek-v2", "deepseek_v2_pretrain_config", true },
    { "deepseek-v3", "deepseek_v3_pretrain_config", true, true },
    { "gpt-oss-20b", "gpt_oss_20b_pretrain_config" },
    { "gpt-oss-120b", "gpt_oss_120b_pretrain_config" },
});

constexpr auto kBridgePrecisions = std::to_array<BridgePrecision>({
    { "bf16", "bf16_mixed" },
    { "fp16", "fp16_mixed" },
    { "fp8", "bf16_with_fp8_current_scaling_mixed" },
    { "mxfp8", "bf16_with_mxfp8_mixed" },
    { "nvfp4", "bf16_with_nvfp4_mixed" },
});

template <class M> const BridgeRecipe *recipeBy(std::string_view value, M member)
{
    const auto found = std::ranges::find(kBridgeRecipes, value, member);
    return found != kBridgeRecipes.end() ? &*found : nullptr;
}

} // namespace

std::span<const BridgeRecipe> bridgeRecipes()
{
    return kBridgeRecipes;
}

const BridgeRecipe *bridgeRecipeOf(std::string_view model)
{
    return recipeBy(model, &BridgeRecipe::model);
}

const BridgeRecipe *bridgeRecipeNamed(std::string_view name)
{
    return recipeBy(name, &BridgeRecipe::name);
}

std::span<const BridgePrecision> bridgePrecisions()
{
    return kBridgePrecisions;
}

} // namespace trainyard
