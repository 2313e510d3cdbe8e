// SPDX-License-Identifier: GPL-3.0-or-later
// GPT-NeoX's arguments, as its files of settings have them (megatron/neox_arguments); what they have of DeepSpeed is
// DeepSpeed's table. A plan's model has no layers whose attention and MLP run beside each other.
#include "core/runs/imports/dialect_tables.h"

#include <array>

namespace trainyard::imports {

namespace {

constexpr std::string_view kOtherLayers = "!has layers of another kind than attention with an MLP";

constexpr auto kNeox = std::to_array<DialectRule>({
    { "pipe_parallel_size", "pipeline_model_parallel_size", "0", "1" },
    { "pipe_parallel_size", "pipeline_model_parallel_size" },
    { "model_parallel_size", "tensor_model_parallel_size" },
    { "sequence_parallel", "sequence_parallel" },
    { "num_layers", "num_layers" },
    { "hidden_size", "hidden_size" },
    { "intermediate_size", "ffn_hidden_size" },
    { "num_attention_heads", "num_attention_heads" },
    { "num_kv_heads", "num_query_groups" },
    { "seq_length", "seq_length" },
    { "max_position_embeddings", "max_position_embeddings" },
    { "norm", "normalization", "layernorm", "LayerNorm" },
    { "norm", "normalization", "rmsnorm", "RMSNorm" },
    { "pos_emb", "position_embedding_type", "rotary", "rope" },
    { "pos_emb", "position_embedding_type", "learned", "learned_absolute" },
    { "pos_emb", "position_embedding_type", "none", "none" },
    { "no_weight_tying", "untie_embeddings_and_output_weights" },
    { "activation", "swiglu", "swiglu", "True" },
    { "activation", "swiglu", "geglu", "True" },
    { "activation", "", "gelu" },
    { "mlp_type", "swiglu", "llama", "True" },
    { "use_bias_in_norms", "", "True" },
    { "use_bias_in_attn_linear", "add_bias_linear" },
    { "make_vocab_size_divisible_by", "make_vocab_size_divisible_by" },
    { "padded_vocab_size", "padded_vocab_size" },
    { "num_gpus", "nproc_per_node" },
    { "num_nodes", "nnodes" },
    { "train_micro_batch_size_per_gpu", "micro_batch_size" },
    { "train_batch_size", "global_batch_size" },
    { "gradient_accumulation_steps", "gradient_accumulation_steps" },
    { "train_iters", "train_iters" },
    { "precision", "bf16", "bfloat16", "True" },
    { "precision", "fp16", "fp16", "True" },
    { "precision", "bf16", "fp32", "False" },
    { "fp16.enabled", "fp16" },
    { "bf16.enabled", "bf16" },
    { "zero_optimization.stage", "zero_stage" },
    { "optimizer.type", "optimizer", "Adam", "adam" },
    { "optimizer.type", "optimizer", "AdamW", "adam" },
    { "optimizer.type", "optimizer", "Lion", "lion" },
    { "optimizer.type", "optimizer", "sgd", "sgd" },
    { "optimizer.params.*" },
    { "checkpoint_activations", "recompute_granularity", "True", "full" },
    { "checkpoint_num_layers", "", "1" },
    { "hidden_dropout", "hidden_dropout" },
    { "attention_dropout", "attention_dropout" },
    { "attention_config", "", "[[[flash], all]]" },
    { "attention_config.0.0", "", "[flash]" },
    { "attention_config.0.0", "", "[global]" },
    { "attention_config.0.0", kOtherLayers, "[rwkv]" },
    { "attention_config.0.0", kOtherLayers, "[mamba]" },
    { "attention_config.0.1" },
    { "train_impl", "", "normal" },
    { "train_impl", kOtherLoss },
    { "rms_norm_epsilon" },
    { "layernorm_epsilon" },
    { "layer_norm_epsilon" },
    { "use_flashattn_swiglu" },
    { "rmsnorm_fusion" },
    { "output_layer_parallelism", "", "column" },
    { "bias_gelu_fusion" },
    { "scaled_upper_triang_masked_softmax_fusion" },
    { "rope_fusion" },
    { "layernorm_fusion" },
    { "rotary_*" },
    { "synchronize_each_layer" },
    { "init_method*" },
    { "output_layer_init_method" },
    { "min_lr" },
    { "lr_*" },
    { "warmup" },
    { "weight_decay" },
    { "data_*" },
    { "split" },
    { "vocab_file", "vocab_file" },
    { "merge_file" },
    { "tokenizer_type", "tokenizer_type" },
    { "mlp_multiple_of", "mlp_multiple_of" },
    { "save*" },
    { "load" },
    { "checkpoint_factor" },
    { "extra_save_iters" },
    { "keep_last_n_checkpoints" },
    { "eval_*" },
    { "log_*" },
    { "tensorboard*" },
    { "wandb*" },
    { "use_wandb" },
    { "distributed_backend" },
    { "num_workers" },
    { "launcher" },
    { "hostfile" },
    { "finetune" },
    { "", "tensor_model_parallel_size", "", "1" },
    { "", "normalization", "", "LayerNorm" },
    { "", "position_embedding_type", "", "learned_absolute" },
    { "", "stack", "", "megatron-deepspeed" },
});

} // namespace

std::span<const DialectRule> neoxRules()
{
    return kNeox;
}

} // namespace trainyard::imports
