// SPDX-License-Identifier: GPL-3.0-or-later
// What transformers' Trainer takes, once for all that is built on it, and the scripts around it.
#include "core/runs/imports/dialect_tables.h"

#include <array>

namespace trainyard::imports {

namespace {

// transformers' TrainingArguments, which its scripts take as options and LLaMA-Factory and Axolotl in their files.
constexpr auto kTrainerArguments = std::to_array<DialectRule>({
    { "per_device_train_batch_size", "micro_batch_size" },
    { "gradient_accumulation_steps", "gradient_accumulation_steps" },
    { "max_steps", "train_iters" },
    { "bf16", "bf16" },
    { "fp16", "fp16" },
    { "gradient_checkpointing", "recompute_granularity", "True", "full" },
    { "gradient_checkpointing_kwargs*" },
    { "fsdp", "zero_stage", "full_shard auto_wrap", "3" },
    { "fsdp", "zero_stage", "full_shard", "3" },
    { "fsdp", "zero_stage", "[full_shard, auto_wrap]", "3" },
    { "fsdp", "zero_stage", "[full_shard]", "3" },
    { "fsdp", "zero_stage", "shard_grad_op auto_wrap", "2" },
    { "fsdp", "zero_stage", "shard_grad_op", "2" },
    { "fsdp", "zero_stage", "[shard_grad_op, auto_wrap]", "2" },
    { "fsdp", "zero_stage", "no_shard", "0" },
    { "fsdp_transformer_layer_cls_to_wrap" },
    { "deepspeed", "deepspeed_file" },
    { "optim", "", "adamw_torch" },
    { "optim", "", "adamw_torch_fused" },
    { "optimizer", "", "adamw_torch" },
    { "optimizer", "", "adamw_torch_fused" },
    { "load_in_4bit", kQuantized },
    { "load_in_8bit", kQuantized },
    { "group_by_length" },
    { "tf32" },
    { "do_train" },
    { "do_eval" },
    { "do_predict" },
    { "max_train_samples" },
    { "max_eval_samples" },
    { "dataset*" },
    { "dataloader_*" },
    { "eval_*" },
    { "evaluation_strategy" },
    { "per_device_eval_batch_size" },
    { "output_dir" },
    { "overwrite_*" },
    { "logging_*" },
    { "save_*" },
    { "report_to" },
    { "run_name" },
    { "push_to_hub" },
    { "hub_*" },
    { "log_level" },
    { "learning_rate" },
    { "num_train_epochs" },
    { "lr_scheduler*" },
    { "warmup_*" },
    { "weight_decay" },
    { "max_grad_norm" },
    { "adam_*" },
    { "seed" },
    { "data_seed" },
    { "ddp_timeout" },
    { "ddp_find_unused_parameters" },
    { "remove_unused_columns" },
    { "load_best_model_at_end" },
    { "metric_for_best_model" },
    { "resume_from_checkpoint" },
    { "trust_remote_code" },
});

// Options of a script that is built on transformers' Trainer, and of what launches it.
constexpr auto kHfTrainer = std::to_array<DialectRule>({
    { "model_name_or_path", "model_name" },
    { "model_name", "model_name" },
    { "model_id", "model_name" },
    { "max_seq_length", "seq_length" },
    { "max_seq_len", "seq_length" },
    { "zero_stage", "zero_stage" },
    { "deepspeed", "stack", "True", "deepspeed" },
    { "deepspeed", "deepspeed_file" },
    { "model_revision" },
    { "chat_template" },
    { "max_length", "seq_length" },
    { "model_max_length", "seq_length" },
    { "block_size", "seq_length" },
    { "packing", "packing" },
    { "use_peft", kAdapters },
    { "use_lora", kAdapters },
    { "lora_r", kAdapters },
    { "lora_enable", kAdapters },
    { "attn_implementation", "", "flash_attention_2" },
    { "attn_implementation", "", "sdpa" },
    { "data_*" },
    { "train_file" },
    { "validation_*" },
    { "cache_dir" },
    { "torch_dtype" },
    { "tokenizer_name" },
    { "config_name" },
    { "use_fast_tokenizer" },
    { "preprocessing_num_workers" },
    { "launch.use_fsdp", "zero_stage", "True", "3" },
    { "launch.use_deepspeed", "stack", "True", "deepspeed" },
    { "launch.config_file", "launch_file" },
    { "launch.multi_gpu" },
    { "launch.num_cpu_threads_per_process" },
    { "launch.dynamo_backend", "", "no" },
    { "launch.module" },
    { "launch.max_restarts" },
    { "launch.monitor_interval" },
    { "launch.deepspeed_config_file", "deepspeed_file" },
    { "launch.rdzv_*" },
    { "", "tensor_model_parallel_size", "", "1" },
    { "", "zero_stage", "", "0" },
    { "", "stack", "", "fsdp" },
    { "", "packing", "", "False" },
});

} // namespace

std::span<const DialectRule> trainerArgumentRules()
{
    return kTrainerArguments;
}

std::span<const DialectRule> hfTrainerRules()
{
    return kHfTrainer;
}

} // namespace trainyard::imports
