// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/imports/dialects.h"

#include "core/base/ascii_text.h"
#include "core/runs/imports/dialect_tables.h"

#include <algorithm>
#include <array>

namespace trainyard::imports {

namespace {

// nanotron's config.yaml; a model is a LlamaConfig, or Qwen2Config with moe_config.
constexpr auto kNanotron = std::to_array<DialectRule>({
    { "parallelism.tp", "tensor_model_parallel_size" },
    { "parallelism.pp", "pipeline_model_parallel_size" },
    { "parallelism.dp", "data_parallel_size" },
    { "parallelism.expert_parallel_size", "expert_model_parallel_size" },
    { "parallelism.context_parallel_size", "context_parallel_size" },
    { "parallelism.tp_mode", "sequence_parallel", "REDUCE_SCATTER", "True" },
    { "parallelism.tp_mode", "sequence_parallel", "ALL_REDUCE", "False" },
    { "parallelism.pp_engine", "pipeline_schedule", "afab", "gpipe" },
    { "parallelism.pp_engine", "", "1f1b" },
    { "parallelism.recompute_layer", "recompute_granularity", "True", "full" },
    { "parallelism.tp_linear_async_communication" },
    { "parallelism.tp_recompute_allgather" },
    { "tokens.micro_batch_size", "micro_batch_size" },
    { "tokens.sequence_length", "seq_length" },
    { "tokens.batch_accumulation_per_replica", "gradient_accumulation_steps" },
    { "tokens.train_steps", "train_iters" },
    { "tokens.limit_*" },
    { "tokens.val_check_interval" },
    { "optimizer.zero_stage", "zero_stage" },
    { "optimizer.accumulate_grad_in_fp32" },
    { "optimizer.optimizer_factory.name", "optimizer", "adamW", "adam" },
    { "optimizer.optimizer_factory.name", "optimizer", "sgd", "sgd" },
    { "optimizer.optimizer_factory.*" },
    { "optimizer.learning_rate_scheduler.*" },
    { "optimizer.clip_grad" },
    { "optimizer.weight_decay" },
    { "model.dtype", "bf16", "bfloat16", "True" },
    { "model.dtype", "bf16", "float32", "False" },
    { "model.dtype", "fp16", "float16", "True" },
    { "model.make_vocab_size_divisible_by", "make_vocab_size_divisible_by" },
    { "model.init_method.*" },
    { "model.ddp_bucket_cap_mb" },
    { "model.model_config.hidden_size", "hidden_size" },
    { "model.model_config.intermediate_size", "ffn_hidden_size" },
    { "model.model_config.num_hidden_layers", "num_layers" },
    { "model.model_config.num_attention_heads", "num_attention_heads" },
    { "model.model_config.num_key_value_heads", "num_query_groups" },
    { "model.model_config.vocab_size", "vocab_size" },
    { "model.model_config.tie_word_embeddings", "tied_embeddings" },
    { "model.model_config.attention_bias", "add_qkv_bias" },
    { "model.model_config.hidden_act", "swiglu", "silu", "True" },
    { "model.model_config.hidden_act", "swiglu", "gelu", "True" },
    { "model.model_config.moe_config.num_experts", "num_experts" },
    { "model.model_config.moe_config.top_k", "moe_router_topk" },
    { "model.model_config.moe_config.moe_intermediate_size", "moe_ffn_hidden_size" },
    { "model.model_config.moe_config.shared_expert_intermediate_size", "moe_shared_expert_intermediate_size" },
    { "model.model_config.moe_config.router_aux_loss_coef" },
    { "model.model_config.max_position_embeddings" },
    { "model.model_config.is_llama_config" },
    { "model.model_config.is_qwen2_config" },
    { "model.model_config.bos_token_id" },
    { "model.model_config.eos_token_id" },
    { "model.model_config.pad_token_id" },
    { "model.model_config.initializer_range" },
    { "model.model_config.rms_norm_eps" },
    { "model.model_config.rope_theta" },
    { "model.model_config.rope_interleaved" },
    { "model.model_config.rope_scaling.*" },
    { "model.model_config.use_cache" },
    { "model.model_config.pretraining_tp" },
    { "model.model_config._attn_implementation", "", "flash_attention_2" },
    { "general.*" },
    { "checkpoints.*" },
    { "data_stages.*" },
    { "logging.*" },
    { "profiler.*" },
    { "tokenizer.*" },
    { "lighteval.*" },
    { "s3_upload.*" },
    { "metrics_logging.*" },
    { "", "tensor_model_parallel_size", "", "1" },
    { "", "swiglu", "", "True" },
    { "", "normalization", "", "RMSNorm" },
    { "", "position_embedding_type", "", "rope" },
    { "", "disable_bias_linear", "", "True" },
    { "", "hidden_dropout", "", "0" },
    { "", "attention_dropout", "", "0" },
    { "", "bf16", "", "True" },
});

// DeepSpeed's JSON; what it prints of it in a log has other names (deepspeed_plan.cpp), which these become.
constexpr auto kDeepSpeed = std::to_array<DialectRule>({
    { "train_batch_size", "deepspeed.train_batch_size" },
    { "train_micro_batch_size_per_gpu", "deepspeed.train_micro_batch_size_per_gpu" },
    { "gradient_accumulation_steps", "gradient_accumulation_steps" },
    { "zero_optimization.stage", "deepspeed.zero_optimization_stage" },
    { "zero_optimization.offload_optimizer.device", "deepspeed.offload_optimizer" },
    { "zero_optimization.offload_param.device", "deepspeed.offload_param" },
    { "zero_optimization.cpu_offload", "deepspeed.offload_optimizer", "True", "cpu" },
    { "zero_optimization.offload_optimizer.ratio", "", "1" },
    { "zero_optimization.offload_optimizer.ratio", "", "1.0" },
    { "zero_optimization.offload_optimizer.ratio", "deepspeed.offload_ratio" },
    { "zero_optimization.offload_optimizer.nvme_path" },
    { "zero_optimization.offload_optimizer.buffer_*" },
    { "zero_optimization.offload_optimizer.pin_memory" },
    { "zero_optimization.offload_optimizer.pipeline*" },
    { "zero_optimization.offload_optimizer.fast_init" },
    { "zero_optimization.offload_param.nvme_path" },
    { "zero_optimization.offload_param.buffer_*" },
    { "zero_optimization.offload_param.pin_memory" },
    { "zero_optimization.offload_param.max_in_cpu" },
    { "zero_optimization.overlap_comm" },
    { "zero_optimization.contiguous_gradients" },
    { "zero_optimization.reduce_scatter" },
    { "zero_optimization.allgather_partitions" },
    { "zero_optimization.reduce_bucket_size" },
    { "zero_optimization.allgather_bucket_size" },
    { "zero_optimization.sub_group_size" },
    { "zero_optimization.round_robin_gradients" },
    { "zero_optimization.ignore_unused_parameters" },
    { "zero_optimization.elastic_checkpoint" },
    { "zero_optimization.load_from_fp32_weights" },
    { "zero_optimization.stage3_*" },
    { "zero_optimization.gather_16bit_weights_on_model_save" },
    { "bf16.enabled", "deepspeed.bfloat16_enabled" },
    { "bfloat16.enabled", "deepspeed.bfloat16_enabled" },
    { "fp16.enabled", "deepspeed.fp16_enabled" },
    { "fp16.*" },
    { "bf16.*" },
    { "optimizer.type", "optimizer", "AdamW", "adam" },
    { "optimizer.type", "optimizer", "Adam", "adam" },
    { "optimizer.type", "optimizer", "Lion", "lion" },
    { "optimizer.type", "optimizer", "SGD", "sgd" },
    { "optimizer.params.*" },
    { "scheduler.*" },
    { "gradient_clipping" },
    { "prescale_gradients" },
    { "gradient_predivide_factor" },
    { "steps_per_print" },
    { "wall_clock_breakdown" },
    { "memory_breakdown" },
    { "dump_state" },
    { "seed" },
    { "zero_allow_untested_optimizer" },
    { "zero_force_ds_cpu_optimizer" },
    { "tensorboard.*" },
    { "wandb.*" },
    { "csv_monitor.*" },
    { "flops_profiler.*" },
    { "comms_logger.*" },
    { "checkpoint.*" },
    { "aio.*" },
    { "activation_checkpointing.contiguous_memory_optimization" },
    { "activation_checkpointing.number_checkpoints" },
    { "activation_checkpointing.synchronize_checkpoint_boundary" },
    { "activation_checkpointing.prof*" },
});

const std::array kDialects { Dialect { "nanotron.", "nanotron", kNanotron },
    Dialect { "ds_config.", "DeepSpeed", kDeepSpeed }, Dialect { "accelerate.", "Accelerate", accelerateRules() },
    Dialect { "hf_trainer.", "Hugging Face's Trainer", hfTrainerRules(), trainerArgumentRules() },
    Dialect { "llama_factory.", "LLaMA-Factory", llamaFactoryRules(), trainerArgumentRules() },
    Dialect { "axolotl.", "Axolotl", axolotlRules(), trainerArgumentRules() },
    Dialect { "automodel.", "NeMo Automodel", automodelRules() }, Dialect { "maxtext.", "MaxText", maxTextRules() },
    Dialect { "neox.", "GPT-NeoX", neoxRules(), std::span<const DialectRule>(kDeepSpeed) } };

bool hasKey(const DialectRule &rule, std::string_view key)
{
    return rule.key.ends_with('*') ? key.starts_with(rule.key.substr(0, rule.key.size() - 1))
                                   : !rule.key.empty() && rule.key == key;
}

bool hasKeyIn(std::span<const DialectRule> rules, std::string_view key)
{
    return std::ranges::any_of(rules, [&](const DialectRule &rule) { return hasKey(rule, key); });
}

/// "launch.zero_stage" of a command of Accelerate is what its file calls deepspeed_config.zero_stage.
const DialectRule *launchRule(std::string_view option, std::string_view value)
{
    for (const DialectRule &rule : accelerateRules()) {
        const std::size_t dot = rule.key.rfind('.');
        DialectRule last = rule;
        last.key = rule.key.substr(dot == rule.key.npos ? 0 : dot + 1);
        if (!rule.key.empty() && ruleOf(std::span(&last, 1), option, value))
            return &rule;
    }
    return nullptr;
}

const DialectRule *sharedRule(const Dialect &dialect, std::string_view key, std::string_view value)
{
    static constexpr std::string_view kLaunch = "launch.";
    return key.starts_with(kLaunch) ? launchRule(key.substr(kLaunch.size()), value)
                                    : ruleOf(dialect.shared, key, value);
}

} // namespace

const DialectRule *ruleOf(std::span<const DialectRule> rules, std::string_view key, std::string_view value)
{
    const auto rule = std::ranges::find_if(rules, [&](const DialectRule &one) {
        return hasKey(one, key) && (one.from.empty() || lowered(one.from) == lowered(value));
    });
    return rule == rules.end() ? nullptr : &*rule;
}

const Dialect *dialectOf(std::string_view argument)
{
    const auto found =
        std::ranges::find_if(kDialects, [&](const Dialect &dialect) { return argument.starts_with(dialect.prefix); });
    return found != kDialects.end() ? &*found : nullptr;
}

bool isOff(std::string_view value)
{
    const std::string text = lowered(value.substr(0, 6));
    return text.empty() || text == "false" || text == "none" || text == "null" || text == "0" || text == "0.0"
        || text == "[]" || text == "off" || text == "no";
}

bool isOfShape(std::string_view name)
{
    static constexpr std::array<std::string_view, 23> kWords { "hybrid", "mamba", "ssm", "layer_pattern", "layer_types",
        "block_pattern", "linear_attention", "experts", "moe_config", "retro_", "heterogeneous_layers", "vision",
        "attention_interval", "linear_num_", "linear_key_", "linear_value_", "rwkv", "noop_layers", "first_k_dense",
        "hash_layers", "config_overrides", "hc_mult", "compress_ratios" };
    if (name == "hybrid_context_parallel") // is of work
        return false;
    return std::ranges::any_of(kWords, [&](std::string_view word) { return name.find(word) != name.npos; });
}

Translation translated(const std::map<std::string, std::string> &arguments)
{
    Translation made;
    for (const auto &[name, value] : arguments) {
        const Dialect *dialect = dialectOf(name);
        if (!dialect || value == "auto")
            continue;
        made.dialect = dialect;
        const std::string key = name.substr(dialect->prefix.size());
        const DialectRule *rule = ruleOf(dialect->rules, key, value);
        rule = rule || hasKeyIn(dialect->rules, key) ? rule : sharedRule(*dialect, key, value);
        if (!rule) {
            if (!isOff(value))
                made.notUnderstood.emplace_back(key, value);
        } else if (rule->name.starts_with('!')) {
            if (!rule->from.empty() || !isOff(value))
                made.refused.emplace_back(key, rule->name.substr(1));
        } else if (!rule->name.empty()) {
            made.arguments.try_emplace(std::string(rule->name),
                Translation::Argument { std::string(rule->to.empty() ? value : rule->to), key });
        }
    }
    if (made.dialect)
        for (const DialectRule &rule : made.dialect->rules)
            if (rule.key.empty())
                made.arguments.try_emplace(std::string(rule.name),
                    Translation::Argument {
                        std::string(rule.to), std::string(made.dialect->trainer) + "'s default", true });
    return made;
}

} // namespace trainyard::imports
