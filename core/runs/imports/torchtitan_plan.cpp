// SPDX-License-Identifier: GPL-3.0-or-later
// torchtitan's settings: TOML until 2026, options of its command line since.
#include "core/base/ascii_text.h"
#include "core/base/printable.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/key_list.h"
#include "core/runs/imports/draft.h"

#include <algorithm>
#include <array>

namespace trainyard::imports {

namespace {

struct ScheduleName {
    std::string_view name;
    const char *schedule; // as a plan's file calls it
    bool hasChunks;
};
constexpr std::array<ScheduleName, 7> kSchedules { { { "1f1b", "1f1b", false }, { "gpipe", "gpipe", false },
    { "interleaved1f1b", "interleaved", true }, { "loopedbfs", "breadth-first", true },
    { "zbvzerobubble", "zb-v", false }, { "dualpipev", "dualpipev", false },
    { "interleavedzerobubble", "zb-auto", false } } };

/// The first of these names that is told; settings were renamed over time.
const char *firstTold(const Draft &draft, std::initializer_list<const char *> names)
{
    const auto found = std::ranges::find_if(names, [&](const char *name) { return draft.arguments.has(name); });
    return found != names.end() ? *found : nullptr;
}

int degree(Draft &draft, const char *key, std::initializer_list<const char *> names, std::int64_t low = 1,
    std::int64_t most = 1'000'000)
{
    const char *name = firstTold(draft, names);
    const std::int64_t high = key ? std::min(most, std::int64_t(planKey(key).key.max)) : most;
    const auto value = name ? draft.whole(name, low, high) : std::nullopt;
    if (value && key)
        draft.take(key, std::to_string(*value), name);
    return value.value_or(1);
}

/// Of a stage, where each has `own` layers, and those at both ends as many less as told, else one as torchtitan has it
/// since 2025 unless the layers divide without.
int chunksOf(Draft &draft, int own)
{
    const int layers = draft.model->layers, part = own * draft.plan.parallelism.pipeline;
    int less = 0;
    for (const char *name : { "parallelism.pipeline_parallel_first_stage_less_layers",
             "parallelism.pipeline_parallel_last_stage_less_layers" })
        less += draft.whole(name, 0, 10'000).value_or(layers % part == 0 ? 0 : 1);
    return std::max(1, (layers + less + own - 1) / part);
}

void takeSchedule(Draft &draft)
{
    Parallelism &p = draft.plan.parallelism;
    draft.plan.schedule = scheduleNamed("1f1b");
    const char *name =
        firstTold(draft, { "parallelism.pipeline_parallel_schedule", "experimental.pipeline_parallel_schedule" });
    if (!name || p.pipeline < 2)
        return;
    const std::string told = lowered(*draft.arguments.text(name));
    const auto known = std::ranges::find(kSchedules, told, &ScheduleName::name);
    if (known == kSchedules.end())
        return draft.assume("No schedule here is " + shortened(told) + " (" + draft.arguments.said(name)
            + "): one forward, one backward is taken");
    draft.plan.schedule = scheduleNamed(known->schedule);
    draft.take("schedule", known->schedule, name);
    if (!known->hasChunks)
        return;
    const char *layers = firstTold(
        draft, { "parallelism.pipeline_parallel_layers_per_stage", "experimental.pipeline_parallel_layers_per_stage" });
    const auto own = layers ? draft.whole(layers, 1, 10'000) : std::nullopt;
    p.virtualPipeline = 2; // torchtitan's two where it is not told
    if (own && draft.model)
        p.virtualPipeline = chunksOf(draft, *own);
    draft.taken.push_back("parallelism.virtual_pipeline " + std::to_string(p.virtualPipeline)
        + (own ? " from " + draft.arguments.said(layers) : ", torchtitan's default of such schedules"));
}

void takeTorchtitanBatch(Draft &draft, std::optional<int> data)
{
    WorkloadSpec &w = draft.plan.workload;
    const char *local = firstTold(draft, { "training.local_batch_size", "training.batch_size" });
    const auto own = local ? draft.whole(local, 1, 1'000'000) : std::nullopt;
    const char *micro = firstTold(
        draft, { "parallelism.pipeline_parallel_microbatch_size", "experimental.pipeline_parallel_microbatch_size" });
    const auto piece = micro ? draft.whole(micro, 1, 1'000'000) : std::nullopt;
    if (draft.plan.parallelism.pipeline > 1) {
        w.microBatch = piece.value_or(1);
        draft.taken.push_back("workload.micro_batch " + std::to_string(w.microBatch)
            + (piece ? " from " + draft.arguments.said(micro) : ", torchtitan's default under a pipeline"));
    } else if (own) {
        w.microBatch = *own;
        draft.take("workload.micro_batch", std::to_string(*own), local);
    }
    const auto global = draft.arguments.text("training.global_batch_size") == "-1"
        ? std::nullopt
        : draft.whole("training.global_batch_size", 1, 10'000'000);
    if (global) {
        w.globalBatch = *global;
        draft.take("workload.global_batch", std::to_string(*global), "training.global_batch_size");
    } else if (own && data && std::int64_t(*own) * *data <= 10'000'000) {
        w.globalBatch = *own * *data;
        draft.take("workload.global_batch", std::to_string(w.globalBatch) + " (" + std::to_string(*data) + " replicas)",
            local);
    }
}

} // namespace

void takeTorchtitan(Draft &draft)
{
    if (!draft.arguments.isTorchtitan() || draft.arguments.isMegatron())
        return;
    const Told &told = draft.arguments;
    Parallelism &p = draft.plan.parallelism;
    p = Parallelism { .extra = p.extra };
    draft.plan.placement.layers.clear();
    draft.plan.placement.stages.clear();
    draft.takeStack("fsdp", "as torchtitan shards with PyTorch's FSDP");
    p.tensor = degree(draft, "parallelism.tensor",
        { "parallelism.tensor_parallel_degree", "training.tensor_parallel_degree" }, 1, 1024);
    p.pipeline = degree(draft, "parallelism.pipeline",
        { "parallelism.pipeline_parallel_degree", "experimental.pipeline_parallel_degree" }, 1, 4096);
    p.context = degree(draft, "parallelism.context",
        { "parallelism.context_parallel_degree", "experimental.context_parallel_degree" }, 1, 1024);
    p.expert = degree(draft, "parallelism.expert", { "parallelism.expert_parallel_degree" }, 1, 4096);
    p.expertTensor =
        degree(draft, "parallelism.expert_tensor", { "parallelism.expert_tensor_parallel_degree" }, 1, 1024);
    p.sequenceParallel = p.tensor > 1;
    const auto bounded = [](std::int64_t value) { return int(std::min<std::int64_t>(value, 10'000'000)); };
    const int ranks = bounded(std::int64_t(p.tensor) * p.pipeline * p.context);
    const int replicas = degree(
        draft, nullptr, { "parallelism.data_parallel_replicate_degree", "training.data_parallel_replicate_degree" });
    const char *shardName = firstTold(draft,
        { "parallelism.data_parallel_shard_degree", "training.data_parallel_shard_degree",
            "training.data_parallel_degree" });
    int shard = shardName ? draft.whole(shardName, -1, 1'000'000).value_or(-1) : -1;
    std::optional<int> data;
    if (shard > 0)
        data = bounded(std::int64_t(replicas) * shard);
    else if (draft.worldSize && *draft.worldSize % ranks == 0)
        data = *draft.worldSize / ranks;
    else if (!draft.worldSize)
        draft.assume("How many GPUs ran is told by no source: replicas as the plan's GPUs allow");
    if (!data)
        if (const int gpus = draft.plan.cluster.gpus(); gpus >= ranks)
            data = gpus / ranks;
    const bool isSharded = shard != 1;
    p.zeroStage = isSharded ? 3 : 0;
    draft.taken.push_back("parallelism.zero_stage " + std::to_string(p.zeroStage) + " from "
        + (shardName ? told.said(shardName) : "torchtitan's default, which shards over all ranks"));
    if (data && shard > 0 && !draft.worldSize)
        draft.worldSize = bounded(std::int64_t(*data) * ranks);
    if (const auto length = draft.whole("training.seq_len", 1, 100'000'000)) {
        draft.plan.workload.sequenceLength = *length;
        draft.take("workload.sequence_length", std::to_string(*length), "training.seq_len");
    }
    takeSchedule(draft);
    takeTorchtitanBatch(draft, data);
    const auto mode = told.text("activation_checkpoint.mode");
    Recompute &recompute = draft.plan.memory.recompute;
    recompute = mode == "full" ? Recompute::Full : mode == "none" ? Recompute::None : Recompute::Selective;
    MemoryStrategy &memory = draft.plan.memory;
    memory.recomputeLayers.reset();
    memory.recomputeNorms = memory.recomputeActivationFunction = false;
    memory.recomputeUpProjection = memory.recomputeSharedExperts = false;
    draft.taken.push_back(std::string("memory.recompute ") + toString(recompute) + " from "
        + (mode ? told.said("activation_checkpoint.mode") : "torchtitan's default"));
    const bool isOldFloat8 = told.isOn("float8.enable_float8_linear"); // until 2025
    const std::string converters = told.text("model.converters").value_or(isOldFloat8 ? "float8" : "");
    const char *mixed = "training.mixed_precision_param";
    const std::string type = told.text(mixed).value_or("bfloat16");
    Precision &precision = draft.plan.workload.precision;
    precision = converters.find("mx") != std::string::npos ? Precision::Mxfp8
        : converters.find("float8") != std::string::npos   ? Precision::Fp8
        : type.find("32") != std::string::npos             ? Precision::Fp32
        : type == "float16"                                ? Precision::Fp16
                                                           : Precision::Bf16;
    draft.taken.push_back(std::string("workload.precision ") + toString(precision) + " from "
        + (converters.find_first_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos
                ? told.said(isOldFloat8 ? "float8.enable_float8_linear" : "model.converters")
                : told.has(mixed) ? told.said(mixed)
                                  : "torchtitan's default"));
    takeTorchtitanMemory(draft);
    takeTorchtitanRecipe(draft);
}

} // namespace trainyard::imports
