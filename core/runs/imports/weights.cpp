// SPDX-License-Identifier: GPL-3.0-or-later
// What an argument may change, by its name: what a model is made of, work and memory, or nothing that is known.
#include "core/runs/imports/draft.h"
#include "core/runs/imports/megatron_arguments.h"

#include <algorithm>
#include <array>

namespace trainyard::imports {

namespace {

/// Parts of names that speak of what a layer is made of, of its attention or of how a step is divided and kept.
constexpr auto kWorkParts = std::to_array<std::string_view>({ "attn", "attention", "moe_", "_moe", "router", "expert",
    "layer", "mlp", "ffn", "glu", "gelu", "relu", "activation", "act_fn", "norm", "window", "softcap", "mtp", "nextn",
    "embed", "recompute", "checkpoint_in", "partition", "offload", "swap", "fp8", "fp4", "fp32", "bf16", "fp16",
    "dtype", "precision", "lora", "rank", "parallel", "compress", "index", "cache", "batch", "seq", "length", "head",
    "dim", "bias", "optimizer", "zero", "shard", "schedule", "loss", "spec", "overlap", "fb_", "rope_theta", "alibi",
    "position_embedding", "mla_", "kv_", "sparse", "gpt_j", "residual", "tile", "pp_", "tp_", "cp_", "dp_" });
constexpr auto kLightParts = std::to_array<std::string_view>({ "data", "path", "dir", "file", "log", "print", "name",
    "seed", "save", "load", "host", "port", "wandb", "debug" });

bool hasPart(std::span<const std::string_view> parts, std::string_view name)
{
    return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != name.npos; });
}

} // namespace

bool tellsShape(std::string_view name)
{
    static constexpr std::array<std::string_view, 20> kWords { "swiglu", "quick_geglu", "geglu", "gelu_tanh",
        "normalization", "untie_embeddings_and_output_weights", "multi_latent_attention", "moe_layer_freq",
        "position_embedding_type", "group_query_attention", "model_name", "recipe", "q_lora_rank", "kv_lora_rank",
        "qk_head_dim", "v_head_dim", "qk_pos_emb_head_dim", "first_k_dense_replace", "n_shared_experts",
        "noop_layers" };
    return std::ranges::find(kWords, name) != kWords.end() || isOfShape(name)
        || (name != "max_position_embeddings"
            && std::ranges::any_of(megatronShapes(), [&](const MegatronShape &shape) { return name == shape.name; }));
}

Weight weightOf(std::string_view name)
{
    name = name.substr(name.rfind('.') + 1);
    if (tellsShape(name) || name == "spec")
        return Weight::Shape;
    if (megatronArgument(name))
        return Weight::Work;
    return hasPart(kWorkParts, name) && !hasPart(kLightParts, name) ? Weight::Work : Weight::Unknown;
}

std::string megatronsName(const Draft &draft)
{
    const Told &told = draft.arguments;
    const bool isMindSpeed = told.has("model_type_hf") || told.has("handler_name") || told.has("enable_hf2mg_convert")
        || told.text("spec").value_or("").find("mindspeed") != std::string::npos;
    return isMindSpeed ? "MindSpeed-LLM" : "Megatron";
}

} // namespace trainyard::imports
