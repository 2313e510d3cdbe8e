// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/entry_readers_internal.h"

namespace trainyard {

namespace {

constexpr Range kShare { 0, 1 };

constexpr StackField kStackFields[] = {
    { "flash_attention", nullptr, &StackSpec::flashAttention, kShare },
    { "cuda_graphs", nullptr, &StackSpec::cudaGraphs, kShare },
    { "partial_graphs", nullptr, &StackSpec::partialGraphs, kShare },
    { "fused_router", nullptr, &StackSpec::fusedRouter, kShare },
    { "grouped_products", nullptr, &StackSpec::groupedProducts, kShare },
    { "stores_dropout_masks", nullptr, &StackSpec::storesDropoutMasks, kShare },
    { "recomputes_last_stage", nullptr, &StackSpec::recomputesLastStage, kShare },
    { "gradient_norm_barrier", nullptr, &StackSpec::gradientNormBarrier, kShare },
    { "weights_kept_in_fp32", nullptr, &StackSpec::weightsKeptInFp32, kShare },
    { "master_weights", nullptr, &StackSpec::masterWeights, kShare },
    { "operator_level_selective", nullptr, &StackSpec::operatorLevelSelective, kShare },
    { "gradient_bucket", &StackSpec::gradientBucket, nullptr, { 0, 1e13 } },
    { "gradient_bucket_per_rank", &StackSpec::gradientBucketPerRank, nullptr, { 0, 1e13 } },
    { "balanced_context", nullptr, &StackSpec::balancedContext, kShare },
    { "compiled", nullptr, &StackSpec::compiled, kShare },
    { "keeps_quantized_inputs", nullptr, &StackSpec::keepsQuantizedInputs, kShare },
    { "stores_expert_outputs", nullptr, &StackSpec::storesExpertOutputs, kShare },
    { "waits_for_routing", nullptr, &StackSpec::waitsForRouting, kShare },
    { "context_all_to_all", nullptr, &StackSpec::contextAllToAll, kShare },
    { "keeps_stage_outputs", nullptr, &StackSpec::keepsStageOutputs, kShare },
    { "backward_temporaries", nullptr, &StackSpec::backwardTemporaries, kShare },
    { "keeps_weight_gradient_buffers", nullptr, &StackSpec::keepsWeightGradientBuffers, kShare },
    { "pipeline_keeps_gathered", nullptr, &StackSpec::pipelineKeepsGathered, kShare },
    { "synchronous_launches", nullptr, &StackSpec::synchronousLaunches, kShare },
    { "eager_attention", nullptr, &StackSpec::eagerAttention, kShare },
    { "context_gather", nullptr, &StackSpec::contextGather, kShare },
    { "frees_stage_inputs", nullptr, &StackSpec::freesStageInputs, kShare },
    { "refuses_sharded_pipelines", nullptr, &StackSpec::refusesShardedPipelines, kShare },
    { "shards_optimizer_only", nullptr, &StackSpec::shardsOptimizerOnly, kShare },
    { "gathers_by_tensor", nullptr, &StackSpec::gathersByTensor, kShare },
    { "gathers_quantized", nullptr, &StackSpec::gathersQuantized, kShare },
    { "gathers_to_recompute", nullptr, &StackSpec::gathersToRecompute, kShare },
    { "rank_copy_us", &StackSpec::rankCopyUs, nullptr, { 0, 1e4 } },
    { "live_parameters", &StackSpec::liveParameters, nullptr, { 0, 1e15 } },
    { "gradient_bytes", &StackSpec::gradientBytes, nullptr, { 0, 8 } },
    { "async_tensor", nullptr, &StackSpec::asyncTensor, kShare },
    { "float8_rowwise", nullptr, &StackSpec::float8Rowwise, kShare },
    { "host_us_per_kernel", &StackSpec::hostUsPerKernel, nullptr, { 0, 1e6 }, StackField::Kind::Time },
    { "kernel_efficiency", &StackSpec::kernelEfficiency, nullptr, { 0.1, 1.5 }, StackField::Kind::Speed },
    { "narrow_efficiency", &StackSpec::narrowEfficiency, nullptr, { 0.1, 2 }, StackField::Kind::Speed },
    { "elementwise_passes", &StackSpec::elementwisePasses, nullptr, { 0, 100 }, StackField::Kind::Time },
    { "eager_passes", &StackSpec::eagerPasses, nullptr, { 0, 100 }, StackField::Kind::Time },
    { "accumulation_bytes", &StackSpec::accumulationBytes, nullptr, { 0, 100 }, StackField::Kind::Time },
    { "cast_passes", &StackSpec::castPasses, nullptr, { 0, 100 }, StackField::Kind::Time },
    { "rowwise_cast_passes", &StackSpec::rowwiseCastPasses, nullptr, { 0, 100 }, StackField::Kind::Time },
    { "tensor_overlap", &StackSpec::tensorOverlap, nullptr, kShare },
    { "async_tensor_overlap", &StackSpec::asyncTensorOverlap, nullptr, kShare },
    { "pipeline_overlap", &StackSpec::pipelineOverlap, nullptr, kShare },
    { "gradient_overlap", &StackSpec::gradientOverlap, nullptr, kShare },
    { "parameter_overlap", &StackSpec::parameterOverlap, nullptr, kShare },
    { "overlap_slowdown", &StackSpec::overlapSlowdown, nullptr, { 0, 10 } },
    { "micro_batch_overhead_us", &StackSpec::microBatchOverheadUs, nullptr, { 0, 1e7 }, StackField::Kind::Time },
    { "iteration_overhead_ms", &StackSpec::iterationOverheadMs, nullptr, { 0, 1e6 }, StackField::Kind::Time },
    { "graphed_overhead_ms", &StackSpec::graphedOverheadMs, nullptr, { 0, 1e6 }, StackField::Kind::Time },
    { "pair_loss", &StackSpec::pairLoss, nullptr, kShare },
    { "logits_bytes_per_element", &StackSpec::logitsBytesPerElement, nullptr, { 0, 100 } },
    { "context_bytes", &StackSpec::contextBytes, nullptr, { 0, 1e12 } },
    { "communicator_bytes", &StackSpec::communicatorBytes, nullptr, { 0, 1e12 } },
    { "workspace_bytes", &StackSpec::workspaceBytes, nullptr, { 0, 1e12 } },
    { "fragmentation", &StackSpec::fragmentation, nullptr, { 1, 10 } },
    { "loss_kept_bytes_per_element", &StackSpec::lossKeptBytesPerElement, nullptr, { 0, 100 } },
    { "parallel_loss_extra_bytes", &StackSpec::parallelLossExtraBytes, nullptr, { 0, 100 } },
    { "gradient_shard_bytes", &StackSpec::gradientShardBytes, nullptr, { 0, 8 } },
    { "gathered_layers", &StackSpec::gatheredLayers, nullptr, { 0, 100 } },
    { "bucket_bytes", &StackSpec::bucketBytes, nullptr, { 0, 1e12 } },
    { "quantized_weight_copies", &StackSpec::quantizedWeightCopies, nullptr, { 0, 4 } },
};

} // namespace

std::span<const StackField> stackFields()
{
    return kStackFields;
}

StackSpec readStack(ObjectReader &reader)
{
    StackSpec stack;
    reader.text("id", stack.id);
    reader.text("name", stack.name);
    for (const StackField &field : kStackFields) {
        double value = field.flag ? stack.*field.flag : stack.*field.figure;
        reader.require(field.key, field.flag ? "0 or 1" : "a number");
        reader.figure(field.key, value, field.range);
        if (field.flag)
            stack.*field.flag = value != 0;
        else
            stack.*field.figure = value;
    }
    stack.sources = reader.sources();
    return stack;
}

StackRelease readRelease(ObjectReader &reader)
{
    StackRelease release;
    reader.require("release", "the name of a release, such as \"26.02\"");
    reader.text("release", release.id);
    for (const auto &[key, time] :
        { std::pair { "dense", &release.dense }, std::pair { "experts", &release.experts } }) {
        reader.require(key, "its time over that of the stack as fitted");
        reader.figure(key, *time, { 0.05, 20 });
    }
    reader.count("dense_plans", release.densePlans, { 0, 1e6 });
    reader.count("expert_plans", release.expertPlans, { 0, 1e6 });
    return release;
}

} // namespace trainyard
