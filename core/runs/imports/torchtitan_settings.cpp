// SPDX-License-Identifier: GPL-3.0-or-later
// The settings of torchtitan that a plan is made of, and those that change no work, memory or shape of an iteration;
// what is neither, or has another value, is not understood. Of its job_config.py until 2026 and of its command line
// since (tests/core/runs/launch/torchtitan_flags.txt).
#include "core/base/printable.h"
#include "core/runs/imports/draft.h"
#include "core/runs/telemetry/argument_names.h"

#include <algorithm>
#include <array>

namespace trainyard::imports {

namespace {

constexpr auto kSettings = std::to_array<DialectRule>({
    { "parallelism.data_parallel_replicate_degree" },
    { "parallelism.data_parallel_shard_degree" },
    { "parallelism.tensor_parallel_degree" },
    { "parallelism.pipeline_parallel_degree" },
    { "parallelism.pipeline_parallel_schedule", "", "1F1B" },
    { "parallelism.pipeline_parallel_schedule", "", "GPipe" },
    { "parallelism.pipeline_parallel_schedule", "", "Interleaved1F1B" },
    { "parallelism.pipeline_parallel_schedule", "", "LoopedBFS" },
    { "parallelism.pipeline_parallel_schedule", "", "ZBVZeroBubble" },
    { "parallelism.pipeline_parallel_schedule", "", "DualPipeV" },
    { "parallelism.pipeline_parallel_schedule", "", "InterleavedZeroBubble" },
    { "parallelism.pipeline_parallel_layers_per_stage" },
    { "parallelism.pipeline_parallel_microbatch_size" },
    { "parallelism.pipeline_parallel_first_stage_less_layers", "", "1" },
    { "parallelism.pipeline_parallel_last_stage_less_layers", "", "1" },
    { "parallelism.num_pp_microbatches" },
    { "parallelism.context_parallel_degree" },
    { "parallelism.context_parallel_rotate_method" },
    { "parallelism.context_parallel_load_balancer", "", "headtail" },
    { "parallelism.expert_parallel_degree" },
    { "parallelism.expert_tensor_parallel_degree" },
    { "parallelism.fsdp_reshard_after_forward", "", "default" },
    { "parallelism.fsdp_reshard_after_forward", "", "always" },
    { "parallelism.fsdp_reshard_after_forward", "", "never" },
    { "parallelism.disable_loss_parallel" },
    { "parallelism.enable_compiled_autograd" },
    { "parallelism.enable_sequence_parallel" },
    { "parallelism.no_enable_sequence_parallel" },
    { "parallelism.spmd_backend" },
    { "parallelism.context_parallel_ptrr_mask_key" },
    { "training.local_batch_size" },
    { "training.batch_size" },
    { "training.global_batch_size" },
    { "training.seq_len" },
    { "training.max_context_length" },
    { "training.num_tokens_*" },
    { "training.steps" },
    { "training.data_parallel_degree" },
    { "training.data_parallel_shard_degree" },
    { "training.data_parallel_replicate_degree" },
    { "training.tensor_parallel_degree" },
    { "training.enable_cpu_offload" },
    { "training.disable_cuda_graphs" },
    { "training.mixed_precision_param", "", "bfloat16" },
    { "training.mixed_precision_param", "", "float16" },
    { "training.mixed_precision_param", "", "float32" },
    { "training.mixed_precision_reduce", "", "float32" },
    { "training.dtype", "", "float32" },
    { "training.compile" },
    { "training.dataset*" },
    { "training.max_norm" },
    { "training.warmup_steps" },
    { "training.gc_*" },
    { "training.seed" },
    { "training.deterministic*" },
    { "training.debug_moe_force_load_balance" },
    { "experimental.context_parallel_degree" },
    { "experimental.context_parallel_rotate_method" },
    { "experimental.pipeline_parallel_degree" },
    { "experimental.pipeline_parallel_schedule", "", "1F1B" },
    { "experimental.pipeline_parallel_schedule", "", "GPipe" },
    { "experimental.pipeline_parallel_schedule", "", "Interleaved1F1B" },
    { "experimental.pipeline_parallel_schedule", "", "LoopedBFS" },
    { "experimental.pipeline_parallel_schedule", "", "ZBVZeroBubble" },
    { "experimental.pipeline_parallel_schedule", "", "InterleavedZeroBubble" },
    { "experimental.pipeline_parallel_layers_per_stage" },
    { "experimental.pipeline_parallel_microbatch_size" },
    { "experimental.enable_compiled_autograd" },
    { "model.name" },
    { "model.flavor" },
    { "model.converters", "", "[]" },
    { "model.converters", "", "[float8]" },
    { "model.converters", "", "[\"float8\"]" },
    { "model.converters", "", "float8" },
    { "model.converters", "", "[mx]" },
    { "model.converters", "", "mx" },
    { "model.converters", "", "[quantize.linear.float8]" },
    { "model.converters", "", "[quantize.linear.mx]" },
    { "model.converters", "", "[quantize.linear.float8, quantize.grouped_mm.float8]" },
    { "model.converters", "", "[quantize.linear.mx, quantize.grouped_mm.mx]" },
    { "model.norm_type", "", "rmsnorm" },
    { "model.norm_type", "", "fused_rmsnorm" },
    { "model.norm_type", "", "compiled_rmsnorm" },
    { "model.tokenizer_path" },
    { "model.hf_assets_path" },
    { "model.print_after_conversion" },
    { "optimizer.name", "", "AdamW" },
    { "optimizer.name", "", "Adam" },
    { "optimizer.implementation" },
    { "optimizer.fused" },
    { "optimizer.lr" },
    { "optimizer.beta1" },
    { "optimizer.beta2" },
    { "optimizer.eps" },
    { "optimizer.weight_decay" },
    { "lr_scheduler.*" },
    { "activation_checkpoint.mode", "", "none" },
    { "activation_checkpoint.mode", "", "full" },
    { "activation_checkpoint.mode", "", "selective" },
    { "activation_checkpoint.selective_ac_option", "", "op" },
    { "activation_checkpoint.selective_ac_option", "", "1" },
    { "activation_checkpoint.selective_ac_option", "", "2" },
    { "activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns" },
    { "activation_checkpoint.early_stop" },
    { "activation_checkpoint.preserve_rng_state" },
    { "activation_checkpoint.determinism_check" },
    { "activation_checkpoint.debug" },
    { "compile.enable" },
    { "compile.components" },
    { "compile.backend", "", "inductor" },
    { "compile.no_enable*" },
    { "float8.enable_float8_linear" },
    { "float8.enable_fsdp_float8_all_gather" },
    { "float8.precompute_float8_dynamic_scale_for_fsdp" },
    { "float8.force_recompute_fp8_weight_in_bwd" },
    { "float8.recipe_name", "", "tensorwise" },
    { "float8.filter_fqns" },
    { "float8.emulate" },
    { "float8.moe_fqns_prototype" },
    { "dataset.*" },
    { "mx.*" },
    { "quantize.*" },
    { "checkpoint.*" },
    { "profiling.*" },
    { "profiler.*" },
    { "metrics.*" },
    { "comm.*" },
    { "job.*" },
    { "validation.*" },
    { "debug.*" },
    { "memory_estimation.enabled", "", "False" },
    { "memory_estimation.disable_fake_mode" },
    { "fault_tolerance.enable", "", "False" },
    { "config" },
    { "module" },
    { "dump_folder" },
    { "hf_assets_path" },
});

} // namespace

bool isTorchtitansSetting(std::string_view name)
{
    static constexpr std::array<std::string_view, 8> kSections { "parallelism.", "training.", "experimental.", "model.",
        "optimizer.", "activation_checkpoint.", "compile.", "fault_tolerance." };
    return std::ranges::any_of(kSections, [&](std::string_view section) { return name.starts_with(section); });
}

Settings notUnderstoodOfTorchtitan(const Recording &recording)
{
    Settings unknown;
    const auto take = [&](const std::map<std::string, std::string> &arguments, std::uint32_t source) {
        const SourceKind kind =
            source < recording.sources.size() ? recording.sources[source].kind : SourceKind::Unknown;
        if (kind != SourceKind::TorchtitanToml && kind != SourceKind::MegatronArguments
            && kind != SourceKind::PrimusConfig)
            return; // what it prints of itself has all of its settings
        for (const auto &[name, value] : arguments)
            if ((kind == SourceKind::TorchtitanToml || isTorchtitansSetting(name)) && !name.starts_with(kInDoubt)
                && !name.starts_with(kUntold) && !name.starts_with(kOfScript) && !isOff(value)
                && !ruleOf(kSettings, name, value))
                unknown.emplace_back(name, value);
    };
    if (recording.argumentsOf.empty())
        take(recording.arguments, 0);
    for (const SourceArguments &told : recording.argumentsOf)
        take(told.arguments, told.source);
    return unknown;
}

} // namespace trainyard::imports
