// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/config_keys_internal.h"

#include "core/base/printable.h"
#include "core/facts/catalogue/entry_readers_internal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace trainyard {

namespace {

constexpr std::size_t kMostShownValue = 60, kMostNamed = 20;
/// What nobody can know of a key that nobody knows: half to twice the time (assumed).
constexpr double kUnknownLow = -0.5, kUnknownHigh = 1;

/// Whole keys that change no weight and no product.
constexpr auto kWithoutEffect = std::to_array<std::string_view>({ "architectures", "auto_map", "model_type",
    "torch_dtype", "dtype", "transformers_version", "_name_or_path", "name_or_path", "id2label", "label2id",
    "num_labels", "problem_type", "pretraining_tp", "ep_size", "tp_size", "is_decoder", "chunk_size_feed_forward",
    "tie_encoder_decoder", "task_specific_params", "prefix", "architecture", "finetuning_task", "pruned_heads",
    "torchscript", "typical_p", "top_k", "seq_length", "n_ctx", "n_positions", "max_length", "min_length",
    "max_seq_len", "max_sequence_length", "model_max_length", "original_max_position_embeddings", "seq_len",
    "context_length", "alibi", "alibi_bias_max", "parallel_attention", "parallel_attn", "parallel_residual",
    "use_parallel_residual", "qk_layernorm", "clip_qkv", "max_seq_len", "learned_pos_emb", "norm_type", "no_bias",
    "resid_pdrop", "emb_pdrop", "verbose", "logit_scale", "init_config", "attn_implementation", "nope_layer_interval",
    "no_rope_layers", "no_rope_layer_interval", "use_qk_norm", "layer_norm_epsilon", "remove_final_layer_norm",
    "do_layer_norm_before", "word_embed_proj_dim", "mode", "preseqlen", "is_causal", "fp32_residual_connection",
    "post_layer_norm", "apply_residual_connection_post_layernorm", "apply_query_key_layer_scaling", "pre_seq_len",
    "bias_dropout_fusion", "prefix_projection", "interleaved_qkv", "original_rope", "offset_alibi", "slow_but_exact",
    "summary_first_dropout", "swiglu_limit", "expert_act", "use_fp32_router", "use_dynamic_ntk", "use_logn_attn",
    "bf16", "fp16", "fp32", "onnx_safe", "dim_model_base", "scale_emb", "scale_depth", "z_loss_coeff",
    "moe_use_aux_free", "moe_gate", "moe_use_aux_free", "pad_id", "sep_id", "im_start_id", "im_end_id", "im_newline_id",
    "text_start_id", "text_end_id", "image_size", "position_concatenation", "use_mixed_mlp_moe",
    "enable_moe_fp32_combine", "router_dtype", "n_embed", "use_rmsnorm", "router_type", "gate_type",
    "experts_implementation", "using_flash", "qk_scale", "swa_rope_theta", "parallel_block", "position_embedding_type",
    "embedding_dropout_prob", "hidden_dropout_prob", "unk_token", "training_seqlen", "moe_group_score_function",
    "score_function", "score_func", "moe_router_activation_func", "use_token_type_ids", "activation_situ_beta",
    "gradient_checkpointing", "use_gradient_checkpointing", "rescale_every", "spatial_merge_size", "flash_attention",
    "encoder_no_repeat_ngram_size", "rms_norm", "layernorm_compute_in_fp32", "pad_vocab_size_multiple",
    "pad_vocab_size_multiple_of", "moe_correction_bias", "use_expert_bias", "bos", "eos", "unk", "padding_idx",
    "version", "revision", "time_step_limit", "time_step_min", "time_step_max", "time_step_floor", "mscale",
    "initial_context_length", "max_model_len", "output_past", "interpolate_factor" });

/// Parts of keys that say as much.
constexpr auto kPartsWithoutEffect = std::to_array<std::string_view>({ "token_id", "token_index", "token_idx",
    "dropout", "pdrop", "rope", "rotary", "initializer", "init_std", "init_", "_eps", "epsilon", "loss", "jitter",
    "output_attentions", "output_hidden", "output_router", "return_", "quantization", "cache", "beam", "penalty",
    "temperature", "top_p", "generat", "tokenizer", "scaling", "multiplier", "scale", "softcap", "logit", "norm_topk",
    "topk_method", "scoring_func", "yarn", "max_position", "theta", "qk_norm", "norm", "attn_implementation", "flash",
    "bad_words", "suppress", "repeat_ngram", "aux_", "_aux", "query_pre_attn_scalar", "attention_softmax", "softmax_in",
    "bias_update", "special_tokens", "image_token", "video_token", "audio_token", "mm_tokens", "fp8", "in_fp32",
    "_fp32", "use_bfloat", "deterministic", "nextn_predict", "mtp", "_dtype", "debug", "trust_remote", "summary_",
    "classifier", "bias", "weights", "router_bias", "e_score", "selection_method", "unpadded", "routed_scaling",
    "base_freq", "original_vocab", "sequence_classification", "diversity" });

/// Parts of keys that count something of the shape, whatever else they speak of: "kv_cache_share_layers".
constexpr auto kCountedParts = std::to_array<std::string_view>({ "layer", "head", "expert" });
/// Of those which speak of norms, losses and positions all the same.
constexpr auto kNeverCounted = std::to_array<std::string_view>(
    { "norm", "loss", "rope", "token_i", "aux", "dropout", "max_", "vision_feature", "nextn_predict", "mtp" });

/// Beginnings of keys that describe layers of other kinds than attention with an MLP.
constexpr auto kOtherKinds = std::to_array<std::string_view>({ "mamba_", "ssm_", "linear_", "rwkv", "conv_", "lru_",
    "lightning_", "kda_", "gdn_", "xlstm", "recurrent", "state_size", "time_mix", "block_config", "n_groups",
    "short_conv", "use_mamba", "use_conv", "chunk_size", "expand", "time_step", "mixer" });

/// Parts of keys that speak of a shape.
constexpr auto kShapeParts = std::to_array<std::string_view>({ "layer", "head", "hidden", "size", "dim", "expert",
    "moe", "attn", "attention", "mlp", "ffn", "rank", "proj", "embed", "block", "pattern", "width", "window", "vocab",
    "share", "group", "kv", "depth", "stack", "residual", "channels", "sparse", "compress", "index" });

bool isIn(std::span<const std::string_view> names, std::string_view key)
{
    return std::ranges::find(names, key) != names.end();
}

bool hasPart(std::span<const std::string_view> parts, std::string_view key)
{
    return std::ranges::any_of(parts, [&](std::string_view part) { return key.find(part) != key.npos; });
}

bool beginsAs(std::span<const std::string_view> beginnings, std::string_view key)
{
    return std::ranges::any_of(beginnings, [&](std::string_view one) { return key.starts_with(one); });
}

/// A key that switches nothing on: null, false, 0, -1, "", [] or {}.
bool isOff(const CatalogueJson &value)
{
    if (value.is_null() || (value.is_boolean() && !value.get<bool>()))
        return true;
    if (value.is_number())
        return value.get<double>() <= 0;
    return value.empty() || (value.is_string() && value.get_ref<const std::string &>().empty());
}

/// Whether a number that is no key known here says how many layers, heads or experts do something.
bool mayCount(std::string_view key, const CatalogueJson &value)
{
    return value.is_number_integer() && value.get<double>() > 1 && hasPart(kCountedParts, key)
        && !hasPart(kNeverCounted, key);
}

std::string shownConfigValue(const CatalogueJson &value)
{
    if (value.is_structured())
        return value.is_object() ? "an object" : "a list of " + std::to_string(value.size());
    return shortened(value.dump(-1, ' ', false, CatalogueJson::error_handler_t::replace), kMostShownValue);
}

bool areEqual(const CatalogueJson &list)
{
    return std::ranges::all_of(list, [&](const CatalogueJson &one) { return one == list.front(); });
}

} // namespace

bool isWithoutEffect(std::string_view key)
{
    return isIn(kWithoutEffect, key) || hasPart(kPartsWithoutEffect, key) || key.ends_with("_id");
}

int ConfigKeys::count(KeyNames names, Range range)
{
    int found = 0;
    const char *by = nullptr;
    for (const char *key : names) {
        const CatalogueJson *value = m_reader.raw(key);
        if (!value || (value->is_array() && value->empty()))
            continue;
        int one = 0;
        if (value->is_array()) {
            if (!areEqual(*value))
                block(key, "it differs from layer to layer, and widths by layer");
            const double first = value->front().is_number() ? value->front().get<double>() : range.low;
            one = first >= range.low && first <= range.high ? int(first) : int(range.low);
        } else {
            m_reader.count(key, one, range);
        }
        if (!by) {
            found = one;
            by = key;
        } else if (one != found && one > 0) {
            doubts.push_back({ key,
                "it says " + std::to_string(one) + " where " + by + " says " + std::to_string(found), 0, 0, true });
        }
    }
    return found;
}

int ConfigKeys::required(KeyNames names, const char *what, Range range)
{
    const int value = count(names, range);
    if (std::ranges::any_of(names, [&](const char *key) { return m_reader.has(key); }))
        return std::max(value, 1);
    if (!isBlocked())
        m_reader.fault(*names.begin(), std::string(*names.begin()) + " is missing", what);
    return 1;
}

std::optional<bool> ConfigKeys::flag(KeyNames names)
{
    std::optional<bool> said;
    for (const char *key : names)
        if (const CatalogueJson *value = m_reader.raw(key); value && !said) {
            bool one = false;
            if (value->is_number())
                one = value->get<double>() != 0;
            else
                m_reader.flag(key, one);
            said = one;
        }
    return said;
}

std::string ConfigKeys::text(KeyNames names)
{
    for (const char *key : names)
        if (const CatalogueJson *value = m_reader.raw(key); value && value->is_string())
            return value->get<std::string>();
    return {};
}

void ConfigKeys::block(const std::string &key, const std::string &what)
{
    doubts.push_back({ key, what + ": not modelled yet", 0, 0, true });
}

void ConfigKeys::doubt(const std::string &key, const std::string &what, double low, double high)
{
    doubts.push_back({ key, what, std::clamp(low, -1.0, 0.0), std::clamp(high, 0.0, kFarthestOff), false });
}

void ConfigKeys::doubtTheRest(int layers)
{
    std::string unknown;
    std::size_t count = 0;
    for (const std::string &key : m_reader.unasked()) {
        const CatalogueJson &value = m_config.at(key);
        if (isOff(value) || isIn(kWithoutEffect, key)
            || (m_family && std::ranges::find(m_family->ignored, key) != m_family->ignored.end()))
            continue;
        if (beginsAs(kOtherKinds, key) && key.find("dtype") == key.npos) {
            if (!hasAttentionAlone && !isBlocked())
                block(key, "it describes layers of another kind than attention with an MLP, and layers by kind");
            continue;
        }
        if ((hasPart(kPartsWithoutEffect, key) || key.ends_with("_id")) && !mayCount(key, value))
            continue;
        const bool isByLayer =
            value.is_array() && layers > 1 && value.size() >= std::size_t(layers) && !areEqual(value);
        if ((!m_family && hasPart(kShapeParts, key)) || isByLayer) {
            doubts.push_back({ key,
                "it is no key that is known here, is " + shownConfigValue(value)
                    + (isByLayer ? ", a value a layer," : "") + " and may change the shape",
                0, 0, true });
            continue;
        }
        if (++count <= kMostNamed)
            unknown +=
                (unknown.empty() ? "" : ", ") + shortened(key, kMostShownValue) + " (" + shownConfigValue(value) + ")";
    }
    if (count > kMostNamed)
        unknown += " and " + std::to_string(count - kMostNamed) + " more";
    if (count > 0)
        doubt("",
            "no key that is known here: " + unknown
                + "; what it changes of work and memory is not known, half to twice is assumed",
            kUnknownLow, kUnknownHigh);
}

} // namespace trainyard
