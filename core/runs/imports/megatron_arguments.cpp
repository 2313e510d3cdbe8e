// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/imports/megatron_arguments.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

using How = ArgumentHow;

constexpr std::array<ArgumentWord, 2> kRecompute { { { "full", "full", std::int64_t(Recompute::Full) },
    { "selective", "selective", std::int64_t(Recompute::Selective) } } };
constexpr std::array<ArgumentWord, 4> kDispatch { { { "alltoall", "flat", std::int64_t(MoeDispatch::Flat) },
    { "allgather", "all-gather", std::int64_t(MoeDispatch::AllGather) },
    { "flex", "dedup", std::int64_t(MoeDispatch::Dedup) },
    { "alltoall_seq", "flat", std::int64_t(MoeDispatch::Flat) } } };
constexpr std::array<ArgumentWord, 4> kOptimizer { { { "adam", "adam", std::int64_t(Optimizer::Adam) },
    { "sgd", "sgd", std::int64_t(Optimizer::Sgd) }, { "lion", "lion", std::int64_t(Optimizer::Lion) },
    { "adafactor", "adafactor", std::int64_t(Optimizer::Adafactor) } } };

#define WHOLE(NAME, KEY, LOW, HIGH, FIELD)                                                                             \
    MegatronArgument                                                                                                   \
    {                                                                                                                  \
        NAME, KEY, How::Whole, LOW, HIGH, [](const Plan &p) { return std::int64_t(p.FIELD); },                         \
            [](Plan &p, std::int64_t value) { p.FIELD = int(value); }                                                  \
    }
#define SWITCH(NAME, KEY, GET, FIELD)                                                                                  \
    MegatronArgument                                                                                                   \
    {                                                                                                                  \
        NAME, KEY, How::Switch, 0, 1, [](const Plan &p) { return std::int64_t(GET); },                                 \
            [](Plan &p, std::int64_t value) { p.FIELD = value != 0; }                                                  \
    }
#define WORD(NAME, KEY, TYPE, FIELD, WORDS)                                                                            \
    MegatronArgument                                                                                                   \
    {                                                                                                                  \
        NAME, KEY, How::Word, 0, 0, [](const Plan &p) { return std::int64_t(p.FIELD); },                               \
            [](Plan &p, std::int64_t value) { p.FIELD = static_cast<TYPE>(value); }, WORDS                             \
    }

const std::array kArguments {
    WHOLE("tensor_model_parallel_size", "parallelism.tensor", 1, 1024, parallelism.tensor),
    WHOLE("pipeline_model_parallel_size", "parallelism.pipeline", 1, 4096, parallelism.pipeline),
    WHOLE("context_parallel_size", "parallelism.context", 1, 1024, parallelism.context),
    WHOLE("expert_model_parallel_size", "parallelism.expert", 1, 4096, parallelism.expert),
    WHOLE("expert_tensor_parallel_size", "parallelism.expert_tensor", 1, 1024, parallelism.expertTensor),
    SWITCH("sequence_parallel", "parallelism.sequence_parallel", p.parallelism.usesSequenceParallel(),
        parallelism.sequenceParallel),
    WHOLE("micro_batch_size", "workload.micro_batch", 1, 1'000'000, workload.microBatch),
    WHOLE("global_batch_size", "workload.global_batch", 1, 10'000'000, workload.globalBatch),
    WHOLE("seq_length", "workload.sequence_length", 1, 100'000'000, workload.sequenceLength),
    WORD("optimizer", "workload.optimizer", Optimizer, workload.optimizer, kOptimizer),
    WORD("recompute_granularity", "memory.recompute", Recompute, memory.recompute, kRecompute),
    WORD("moe_token_dispatcher_type", "moe.dispatch", MoeDispatch, moe.dispatch, kDispatch),
    SWITCH(
        "moe_shared_expert_overlap", "moe.shared_expert_overlap", p.moe.sharedExpertOverlap, moe.sharedExpertOverlap),
    MegatronArgument { "overlap_moe_expert_parallel_comm", "moe.expert_overlap", How::Switch, 0, 1,
        [](const Plan &p) { return std::int64_t(p.moe.expertOverlap == ExpertOverlap::OneFOneB); },
        [](Plan &p, std::int64_t value) {
            p.moe.expertOverlap = value != 0 ? ExpertOverlap::OneFOneB : ExpertOverlap::None;
        } },
    MegatronArgument { "moe_expert_capacity_factor", "moe.capacity_factor", How::Number, 1, 10'000'000,
        [](const Plan &p) { return std::int64_t(p.moe.capacityFactor.value_or(0) * 1000); },
        [](Plan &p, std::int64_t value) { p.moe.capacityFactor = double(value) / 1000; } },
    WHOLE("min_offloaded_tensor_size", "memory.offload_min_elements", 0, 2'000'000'000, memory.offloadMinElements),
    // made by several arguments together
    MegatronArgument { "use_distributed_optimizer", "parallelism.zero_stage" },
    MegatronArgument { "data_parallel_sharding_strategy", "parallelism.zero_stage" },
    MegatronArgument { "use_megatron_fsdp", "parallelism.zero_stage" },
    MegatronArgument { "use_custom_fsdp", "parallelism.zero_stage" },
    MegatronArgument { "use_torch_fsdp2", "parallelism.zero_stage" },
    MegatronArgument { "data_parallel_size", "parallelism.data" },
    MegatronArgument { "num_layers_per_virtual_pipeline_stage", "parallelism.virtual_pipeline" },
    MegatronArgument { "num_virtual_stages_per_pipeline_rank", "parallelism.virtual_pipeline" },
    MegatronArgument { "virtual_pipeline_model_parallel_size", "parallelism.virtual_pipeline" },
    MegatronArgument { "pipeline_model_parallel_layout", "placement.layers" },
    MegatronArgument { "decoder_first_pipeline_num_layers", "placement.layers" },
    MegatronArgument { "decoder_last_pipeline_num_layers", "placement.layers" },
    MegatronArgument { "bf16", "workload.precision" },
    MegatronArgument { "fp16", "workload.precision" },
    MegatronArgument { "fp8_format", "workload.precision" },
    MegatronArgument { "fp8_recipe", "workload.precision" },
    MegatronArgument { "fp4_format", "workload.precision" },
    MegatronArgument { "train_iters", "workload.training_tokens" },
    MegatronArgument { "train_samples", "workload.training_tokens" },
    MegatronArgument { "recompute_activations", "memory.recompute" },
    MegatronArgument { "recompute_num_layers", "memory.recompute_layers" },
    MegatronArgument { "recompute_modules", "memory.recompute" },
    MegatronArgument { "optimizer_cpu_offload", "memory.optimizer_offload" },
    MegatronArgument { "cpu_offloading", "memory.activation_offload" },
    MegatronArgument { "cpu_offloading_num_layers", "memory.offload_fraction" },
    MegatronArgument { "fine_grained_activation_offloading", "memory.activation_offload" },
};

#undef WHOLE
#undef SWITCH
#undef WORD

constexpr std::array<MegatronShape, 16> kShapes { { { "num_layers", &ModelSpec::layers },
    { "hidden_size", &ModelSpec::hidden }, { "num_attention_heads", &ModelSpec::heads },
    { "num_query_groups", &ModelSpec::kvHeads }, { "kv_channels", &ModelSpec::headDim },
    { "ffn_hidden_size", &ModelSpec::ffn }, { "padded_vocab_size", &ModelSpec::vocab },
    { "vocab_size", &ModelSpec::vocab }, { "num_experts", &ModelSpec::experts },
    { "moe_router_topk", &ModelSpec::expertsPerToken }, { "moe_ffn_hidden_size", &ModelSpec::expertFfn },
    { "moe_shared_expert_intermediate_size", &ModelSpec::sharedExpertFfn },
    { "moe_router_num_groups", &ModelSpec::groups }, { "moe_router_group_topk", &ModelSpec::topGroups },
    { "mtp_num_layers", &ModelSpec::mtpLayers }, { "max_position_embeddings", &ModelSpec::learnedPositions } } };

} // namespace

std::span<const MegatronArgument> megatronArguments()
{
    return kArguments;
}

const MegatronArgument *megatronArgument(std::string_view name)
{
    const auto found =
        std::ranges::find_if(kArguments, [&](const MegatronArgument &argument) { return name == argument.name; });
    return found != kArguments.end() ? &*found : nullptr;
}

std::span<const MegatronShape> megatronShapes()
{
    return kShapes;
}

std::string flagOf(std::string_view name)
{
    std::string flag = "--" + std::string(name);
    std::ranges::replace(flag, '_', '-');
    return flag;
}

} // namespace trainyard
