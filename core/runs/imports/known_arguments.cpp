// SPDX-License-Identifier: GPL-3.0-or-later
// Arguments of Megatron-LM (and of NeMo's and Primus' trainers around it) that a script may give.
#include "core/base/ascii_text.h"
#include "core/runs/imports/dialects.h"
#include "core/runs/imports/megatron_arguments.h"

#include <algorithm>
#include <array>

namespace trainyard::imports {

namespace {

/// What an iteration does not hang on: files, logs, checkpoints, rates of learning, how launchers meet.
constexpr auto kStarts = std::to_array<std::string_view>({ "data_", "train_data", "valid_", "test_data", "save", "load",
    "no_save", "no_load", "log_", "no_log", "logging", "tensorboard", "wandb", "eval", "skip_train", "lr", "min_lr",
    "decoupled_", "weight_decay", "start_weight_decay", "end_weight_decay", "adam_", "sgd_", "init_method",
    "tokenizer_", "vocab_file", "merge_file", "vocab_extra", "vocab_path", "distributed_", "exit_", "ckpt", "async_",
    "use_checkpoint", "dist_ckpt", "use_dist_ckpt", "auto_detect", "ckpt_", "override_opt", "use_checkpoint_opt",
    "finetune", "pretrained", "profile", "use_pytorch_profiler", "pytorch_profiler", "timing", "manual_gc", "gc_",
    "rotary_", "no_rope", "no_position_embedding", "rope_", "use_rope", "original_max", "seed", "attention_softmax",
    "masked_softmax", "no_masked_softmax", "bias_", "no_bias_", "apply_", "no_gradient", "gradient_accumulation_fusion",
    "no_persist", "moe_aux", "moe_z_loss", "moe_router_", "moe_grouped_gemm", "moe_permute", "moe_per_layer",
    "moe_token_drop", "moe_pad", "moe_enable", "moe_use_legacy", "cross_entropy", "use_fused", "fused_", "use_flash",
    "attention_backend", "attention_dropout", "hidden_dropout", "norm_epsilon", "layernorm_epsilon", "rmsnorm",
    "no_async_tensor", "tp_comm", "disable_tp_comm", "overlap_", "align_", "delay_", "num_workers", "dataloader",
    "split", "mock_data", "no_create", "reset_", "no_check", "check_", "rerun_", "error_", "enable_ft", "inprocess",
    "nccl_", "high_priority", "use_sharp", "rank", "local_rank", "master_", "node_rank", "rdzv", "no_barrier",
    "barrier", "job", "hostfile", "include", "num_dataset", "create_attention", "eod_", "dataset", "object_storage",
    "mmap", "legacy_tokenizer", "tiktoken", "loss_scale", "initial_loss", "clip_grad", "hysteresis", "min_loss",
    "cuda_device", "te_", "transformer_", "straggler", "disable_straggler", "empty_unused", "make_vocab",
    "calculate_per_token", "check_for", "hf_", "enable_gloo", "disable_gloo", "use_gloo", "keep_fp8_weight", "fp8_amax",
    "fp8_margin", "fp8_interval", "first_last", "deterministic", "qk_layernorm", "softmax_", "zero_allgather",
    "zero_reduce", "zero_contig", "contigious_", "warmup", "synchronize_each" });
/// What makes a plan beside the table of megatron_arguments.h.
constexpr auto kNames = std::to_array<std::string_view>({ "swiglu", "quick_geglu", "gated_linear_unit",
    "activation_func", "squared_relu", "normalization", "group_query_attention", "untie_embeddings_and_output_weights",
    "tied_embeddings", "disable_bias_linear", "add_bias_linear", "add_qkv_bias", "position_embedding_type",
    "use_rotary_position_embeddings", "multi_latent_attention", "q_lora_rank", "kv_lora_rank", "qk_head_dim",
    "qk_pos_emb_head_dim", "v_head_dim", "moe_layer_freq", "world_size", "nnodes", "nproc_per_node", "tasks_per_node",
    "tasks", "gpu", "constraint", "use_mcore_models", "recompute_method", "optimizer_offload_fraction",
    "cpu_offloading_weights", "use_cpu_initialization", "global_batch_size", "mtp_loss_scaling_factor", "beta_fast",
    "mscale", "mscale_all_dim", "context_parallel_size", "cp_comm_type", "gradient_accumulation_steps", "max_steps",
    "precision", "accumulate_allreduce_grads_in_fp32", "no_query_key_layer_scaling", "log_interval", "train_iters",
    "encoder_seq_length", "decoder_seq_length", "model_parallel_size", "num_virtual_stages_per_pipeline_rank",
    "checkpoint_activations", "recompute_activations", "optimizer_name", "deepspeed", "deepspeed_config", "zero_stage",
    "pipeline_schedule", "pad_vocab_size_to", "deepspeed_activation_checkpointing", "kill_switch_path",
    "abort_on_unmet_fused_kernel_constraints", "wait", "kill_on_bad_exit", "jobid", "use_mpi", "run_name", "exp_name",
    "iterations", "tokenizer", "config", "m", "moe_token_dispatcher_type", "moe_flex_dispatcher_backend",
    "moe_deepep_num_sms", "kv_channels", "ddp_bucket_size", "ddp_num_buckets", "ddp_average_in_collective",
    "no_ddp_overlap", "batch_p2p_comm", "microbatch_group_size_per_vp_stage", "perform_initialization",
    "hybrid_layer_pattern", "hybrid_override_pattern", "is_hybrid_model", "hybrid_attention_ratio", "hybrid_mlp_ratio",
    "decoder_num_layers", "actor_num_nodes", "actor_num_gpus_per_node", "gelu_tanh", "geglu",
    // MindSpeed-LLM's (mindspeed_llm/training/arguments.py)
    "n_shared_experts", "first_k_dense_replace", "noop_layers", "norm_topk_prob", "handler_name",
    "enable_hf2mg_convert", "enable_mg2hf_convert", "model_type_hf", "no_shared_storage", "moe_permutation_async_comm",
    "gemm_gradient_accumulation_fusion", "router_gating_in_fp32", "seq_aux", "mla_fa_without_pad", "beta_slow",
    "partial_rotary_factor", "init_norm_weight_in_fp32", "long_factor", "short_factor", "long_mscale", "short_mscale",
    "longrope_freqs_type", "moe_input_jitter_eps", "add_rmsnorm_offset", "query_pre_attn_scalar",
    "output_logit_softcapping", "topk_softmax_in_fp32", "hf_cfg_dir", "multi_head_latent_attention",
    "moe_intermediate_size", "qk_nope_head_dim", "qk_rope_head_dim", "mla_mm_split", "reset_attention_mask" });

/// Sections of NeMo's YAML whose settings change nothing of an iteration, and of what else it calls its own.
constexpr auto kNemoSections = std::to_array<std::string_view>({ "exp_manager.", "trainer.", "hydra.", "run.", "data.",
    "dataset.", "tokenizer.", "optim.", "scheduler.", "logger.", "log.", "checkpoint.", "resume.", "rng.", "profiling.",
    "dist.", "validation.", "train.", "env.", "nsys_profile.", "ENV_VARS.", "cluster.", "model.data.",
    "model.tokenizer.", "model.optim.", "model.nsys_profile." });
constexpr auto kNemoNames = std::to_array<std::string_view>({ "mcore_gpt", "do_layer_norm_weight_decay", "pre_process",
    "post_process", "persist_layer_norm", "headscale", "openai_gelu", "normalize_attention_scores", "attention_type",
    "batch_p2p_comm", "native_amp_init_scale", "native_amp_growth_interval", "fp16_lm_cross_entropy", "megatron_amp_O2",
    "grad_allreduce_chunk_size_mb", "grad_div_ar_fusion", "masked_softmax_fusion", "get_attention_mask_from_fusion",
    "resume_from_checkpoint", "onnx_safe", "apex_transformer_log_level", "gradient_as_bucket_view", "sync_batch_comm",
    "use_scaled_init_method", "transformer_engine", "reduce_amax", "use_emha", "ub_tp_comm_overlap",
    "use_flash_attention", "target", "fp8_e4m3", "fp8_hybrid", "ffn_dropout", "bias", "activation",
    "share_embeddings_and_output_weights", "activations_checkpoint_granularity", "activations_checkpoint_method",
    "activations_checkpoint_num_layers", "num_moe_experts", "fp8", "fp4", "recipe" });

/// Words that such an argument may have; others are not known here.
struct Words {
    std::string_view name;
    std::array<std::string_view, 8> words;
};
constexpr auto kWords = std::to_array<Words>({
    { "normalization", { "LayerNorm", "RMSNorm", "layernorm1p", "low_precision_layernorm" } },
    { "position_embedding_type", { "learned_absolute", "rope", "none", "mrope", "yarn" } },
    { "data_parallel_sharding_strategy", { "no_shard", "optim", "optim_grads", "optim_grads_params" } },
    { "fp8_recipe", { "delayed", "tensorwise", "mxfp8", "blockwise" } },
    { "recompute_method", { "uniform", "block" } },
    { "transformer_impl", { "local", "transformer_engine" } },
    { "attention_backend", { "flash", "fused", "auto" } },
    { "activation", { "gelu", "swiglu", "fast-swiglu", "geglu", "fast-geglu", "reglu", "squared-relu", "silu" } },
});

} // namespace

bool isUnknownWord(std::string_view name, std::string_view value)
{
    const auto known = std::ranges::find(kWords, name.substr(name.rfind('.') + 1), &Words::name);
    return known != kWords.end() && std::ranges::none_of(known->words, [&](std::string_view word) {
        return !word.empty() && lowered(word) == lowered(value);
    });
}

bool isKnownToNemo(std::string_view path)
{
    if (std::ranges::any_of(kNemoSections, [&](std::string_view section) { return path.starts_with(section); }))
        return true;
    const std::string_view name = path.substr(path.rfind('.') + 1);
    const bool isOfModel = path.starts_with("model.") || path.starts_with("ddp.") || path.starts_with("optimizer.")
        || path.starts_with("mixed_precision.") || path.starts_with("strategy.") || path.starts_with("config.");
    return isOfModel && (isKnownToMegatron(name) || std::ranges::find(kNemoNames, name) != kNemoNames.end());
}

bool isKnownToMegatron(std::string_view name)
{
    return megatronArgument(name) || std::ranges::find(kNames, name) != kNames.end()
        || std::ranges::any_of(kStarts, [&](std::string_view start) { return name.starts_with(start); })
        || std::ranges::any_of(megatronShapes(), [&](const MegatronShape &shape) { return name == shape.name; });
}

} // namespace trainyard::imports
