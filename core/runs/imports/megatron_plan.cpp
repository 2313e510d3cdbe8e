// SPDX-License-Identifier: GPL-3.0-or-later
// Degrees, batch, precision, memory of Megatron's arguments. Where they are told at all, Megatron's own defaults hold
// for those that are not: a run without --use-distributed-optimizer shards nothing, whatever the plan had.
#include "core/base/printable.h"
#include "core/facts/plan/enum_names.h"
#include "core/runs/imports/draft.h"
#include "core/runs/imports/megatron_arguments.h"
#include "core/runs/imports/pipeline_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard::imports {

namespace {

void takeOne(Draft &draft, const MegatronArgument &argument)
{
    const auto text = draft.arguments.text(argument.name);
    if (!text || !argument.put)
        return;
    switch (argument.how) {
    case ArgumentHow::Whole:
        if (const auto value = draft.whole(argument.name, argument.low, argument.high)) {
            argument.put(draft.plan, *value);
            draft.take(argument.key, *text, argument.name);
        }
        return;
    case ArgumentHow::Number:
        if (const auto value = draft.number(argument.name)) {
            if (*value * 1000 < double(argument.low) || *value * 1000 > double(argument.high))
                return *value > 0 ? draft.bad(argument.name, "is " + shortened(*text), "a number up to 10000") : void();
            argument.put(draft.plan, std::llround(*value * 1000));
            draft.take(argument.key, *text, argument.name);
        }
        return;
    case ArgumentHow::Switch: {
        const bool isOn = draft.arguments.isOn(argument.name);
        argument.put(draft.plan, isOn ? 1 : 0);
        return draft.take(argument.key, isOn ? "true" : "false", argument.name);
    }
    case ArgumentHow::Word:
        for (const ArgumentWord &word : argument.words)
            if (*text == word.argument) {
                argument.put(draft.plan, word.value);
                return draft.take(argument.key, word.plan, argument.name);
            }
        return draft.doubt(draft.arguments.said(argument.name),
            "is " + shortened(*text) + ", for which " + argument.key + " has no value");
    case ArgumentHow::Rule:
        return;
    }
}

void takeSharding(Draft &draft)
{
    const Told &told = draft.arguments;
    int &stage = draft.plan.parallelism.zeroStage;
    if (const auto own = draft.whole("zero_stage", 0, 3)) {
        stage = *own;
        return draft.take("parallelism.zero_stage", std::to_string(stage), "zero_stage");
    }
    const char *fsdp = told.isOn("use_megatron_fsdp") ? "use_megatron_fsdp"
        : told.isOn("use_custom_fsdp")                ? "use_custom_fsdp"
        : told.isOn("use_torch_fsdp2")                ? "use_torch_fsdp2"
                                                      : nullptr;
    if (fsdp) {
        const auto strategy = told.text("data_parallel_sharding_strategy");
        stage = strategy == "no_shard" ? 0 : strategy == "optim" ? 1 : strategy == "optim_grads" ? 2 : 3;
        return draft.take(
            "parallelism.zero_stage", std::to_string(stage), strategy ? "data_parallel_sharding_strategy" : fsdp);
    }
    const std::string optimizer = told.text("optimizer_name").value_or(""); // NeMo's
    const bool isOn = told.isOn("use_distributed_optimizer") || optimizer.find("distributed") != std::string::npos;
    stage = isOn ? 1 : 0;
    if (isOn || told.has("use_distributed_optimizer"))
        draft.take("parallelism.zero_stage", std::to_string(stage),
            told.has("use_distributed_optimizer") ? "use_distributed_optimizer" : "optimizer_name");
    else
        draft.assume(told.translations().empty() ? "parallelism.zero_stage 0: --use-distributed-optimizer is not given"
                                                 : "parallelism.zero_stage 0: no source tells that states are sharded");
}

int layersOfPlan(const Draft &draft)
{
    return draft.model                    ? draft.model->layers
        : draft.plan.workload.inlineModel ? draft.plan.workload.inlineModel->layers
                                          : 0;
}

void takeVirtualStages(Draft &draft)
{
    Parallelism &p = draft.plan.parallelism;
    p.virtualPipeline = 1;
    const char *argument = nullptr;
    for (const char *name : { "virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank" })
        if (const auto chunks = draft.whole(name, 0, 1024); chunks && !argument) {
            p.virtualPipeline = std::max(1, *chunks);
            argument = name;
        }
    if (const auto own = draft.whole("num_layers_per_virtual_pipeline_stage", 1, 10'000); own && !argument) {
        argument = "num_layers_per_virtual_pipeline_stage";
        const int layers = draft.noopLayers.empty() ? layersOfPlan(draft) : layersTold(draft);
        const int part = p.pipeline * *own;
        if (layers > 0 && layers % part != 0)
            draft.bad(argument,
                std::to_string(*own) + " layers a virtual stage on " + std::to_string(p.pipeline)
                    + " stages do not divide " + std::to_string(layers) + " layers",
                "a divisor of the layers of a stage");
        else if (layers > 0)
            p.virtualPipeline = layers / part;
        else
            draft.assume("How many virtual stages " + draft.arguments.said(argument)
                + " makes hangs on the layers, which no source tells: one is taken");
    }
    if (const auto layout = draft.arguments.text("pipeline_model_parallel_layout"); layout && !argument)
        if (const auto parts = layersOfLayout(*layout); parts && parts->size() % std::size_t(p.pipeline) == 0) {
            p.virtualPipeline = static_cast<int>(parts->size()) / p.pipeline;
            argument = "pipeline_model_parallel_layout";
        }
    if (argument)
        draft.take("parallelism.virtual_pipeline", std::to_string(p.virtualPipeline), argument);
    const bool isInterleaved = p.pipeline > 1 && p.virtualPipeline > 1;
    if (!isInterleaved)
        p.virtualPipeline = 1;
    if (draft.arguments.text("pipeline_schedule") == "gpipe") {
        draft.plan.schedule = scheduleNamed("gpipe");
        return draft.take("schedule", "gpipe", "pipeline_schedule");
    }
    draft.plan.schedule = scheduleNamed(isInterleaved ? "interleaved" : "1f1b");
    draft.taken.push_back(std::string("schedule ") + toString(draft.plan.schedule) + ", as " + draft.arguments.trainer()
        + " runs " + (isInterleaved ? "virtual stages" : "one chunk a stage"));
}

/// First and last stages with layers of their own; the rest is even.
void takeLayers(Draft &draft)
{
    draft.plan.placement.layers.clear();
    draft.plan.placement.stages.clear();
    const int stages = draft.plan.parallelism.pipeline, layers = layersOfPlan(draft);
    if (draft.plan.parallelism.virtualPipeline < 2)
        if (std::vector<int> own = layersWithoutNoops(draft, stages); !own.empty() && layers > 0) {
            draft.plan.placement.layers = std::move(own);
            return draft.take("placement.layers",
                std::to_string(draft.plan.placement.layers.front()) + " … "
                    + std::to_string(draft.plan.placement.layers.back()),
                "noop_layers");
        }
    const auto first = draft.whole("decoder_first_pipeline_num_layers", 0, 10'000);
    const auto last = draft.whole("decoder_last_pipeline_num_layers", 0, 10'000);
    if (const auto layout = draft.arguments.text("pipeline_model_parallel_layout")) {
        const auto parts = layersOfLayout(*layout);
        if (parts && std::ssize(*parts) == stages
            && (layers == 0 || std::accumulate(parts->begin(), parts->end(), 0) == layers)) {
            draft.plan.placement.layers = *parts;
            return draft.take("placement.layers",
                std::to_string(parts->front()) + " … " + std::to_string(parts->back()),
                "pipeline_model_parallel_layout");
        }
        draft.assume("The layers of the stages are even, other than "
            + draft.arguments.said("pipeline_model_parallel_layout") + " says");
    }
    if ((!first && !last) || stages < 2 || layers == 0 || draft.plan.parallelism.virtualPipeline > 1) {
        if (first || last)
            draft.assume("The layers of the stages are even, other than "
                + draft.arguments.said(first ? "decoder_first_pipeline_num_layers" : "decoder_last_pipeline_num_layers")
                + " says");
        return;
    }
    const int between = stages - (first ? 1 : 0) - (last ? 1 : 0);
    const int rest = layers - first.value_or(0) - last.value_or(0);
    const char *argument = first ? "decoder_first_pipeline_num_layers" : "decoder_last_pipeline_num_layers";
    if (rest < 0 || (between == 0 ? rest != 0 : rest % between != 0))
        return draft.bad(argument, std::to_string(rest) + " layers are left for " + std::to_string(between) + " stages",
            "as many on each of them");
    std::vector<int> &all = draft.plan.placement.layers;
    all.assign(static_cast<std::size_t>(stages), between > 0 ? rest / between : 0);
    if (first)
        all.front() = *first;
    if (last)
        all.back() = *last;
    draft.take("placement.layers", std::to_string(all.front()) + " … " + std::to_string(all.back()), argument);
}

/// Megatron's are of each chunk of a stage, the plan's the first of the whole stage.
void takeRecomputedLayers(Draft &draft, int ofChunk)
{
    const Parallelism &p = draft.plan.parallelism;
    const int chunks = std::max(1, p.virtualPipeline);
    const int own = layersOfPlan(draft) / std::max(1, p.pipeline * chunks); // of a chunk; 0: not known
    const int layers = (own > 0 ? std::min(ofChunk, own) : std::min(ofChunk, 10'000)) * chunks;
    draft.plan.memory.recomputeLayers = layers;
    draft.take("memory.recompute_layers", std::to_string(layers), "recompute_num_layers");
    if (chunks > 1 && (own == 0 || ofChunk < own))
        draft.assume("Of each of the " + std::to_string(chunks) + " chunks of a stage Megatron recomputes "
            + std::to_string(ofChunk) + " layers; the plan has the first " + std::to_string(layers)
            + " of the stage, which are as many");
}

void takeRecompute(Draft &draft)
{
    const Told &told = draft.arguments;
    MemoryStrategy &memory = draft.plan.memory;
    memory.recomputeLayers.reset();
    memory.recomputeNorms = memory.recomputeActivationFunction = false;
    memory.recomputeUpProjection = memory.recomputeSharedExperts = false;
    if (!told.has("recompute_granularity")) {
        memory.recompute = told.isOn("recompute_activations") ? Recompute::Selective
            : told.isOn("checkpoint_activations")             ? Recompute::Full
                                                              : Recompute::None;
        if (memory.recompute != Recompute::None)
            draft.take("memory.recompute", toString(memory.recompute),
                told.isOn("recompute_activations") ? "recompute_activations" : "checkpoint_activations");
        else
            draft.assume(told.translations().empty() ? "memory.recompute none: --recompute-granularity is not given"
                                                     : "memory.recompute none: no source tells of recomputation");
        return;
    }
    if (memory.recompute == Recompute::Full) {
        if (told.text("recompute_method") == "block")
            if (const auto layers = draft.whole("recompute_num_layers", 1, 10'000)) {
                takeRecomputedLayers(draft, *layers);
            }
        return;
    }
    const auto modules = told.text("recompute_modules");
    if (!modules || memory.recompute != Recompute::Selective)
        return;
    const auto has = [&](const char *name) { return modules->find(name) != std::string::npos; };
    const auto set = [&](bool &member, const char *name, const char *key) {
        if (has(name)) {
            member = true;
            draft.take(key, "true", "recompute_modules");
        }
    };
    if (!has("core_attn")) {
        memory.recompute = Recompute::None;
        draft.take("memory.recompute", "none", "recompute_modules");
    }
    set(memory.recomputeNorms, "layernorm", "memory.recompute_norms");
    set(memory.recomputeActivationFunction, "moe_act", "memory.recompute_activation_function");
    set(memory.recomputeUpProjection, "mla_up_proj", "memory.recompute_up_projection");
    set(memory.recomputeSharedExperts, "shared_experts", "memory.recompute_shared_experts");
    for (const char *other : { "mlp", "\"moe\"", "'moe'" })
        if (has(other))
            draft.doubt(told.said("recompute_modules"),
                std::string("names ") + other + ": recomputing it alone is not modelled");
}

void takeOffload(Draft &draft)
{
    const Told &told = draft.arguments;
    MemoryStrategy &memory = draft.plan.memory;
    memory.optimizerOffload = OptimizerOffload::None;
    memory.activationOffload = ActivationOffload::None;
    memory.parameterOffload = ParameterOffload::None;
    memory.offloadFraction.reset();
    if (told.isOn("optimizer_cpu_offload")) {
        memory.optimizerOffload = OptimizerOffload::Host;
        draft.take("memory.optimizer_offload", "host", "optimizer_cpu_offload");
        if (const auto share = draft.number("optimizer_offload_fraction"); share && *share < 1)
            draft.doubt(told.said("optimizer_offload_fraction"),
                "a part of the optimizer stays on the GPU; all of it is taken to move");
    }
    const bool isFine = told.isOn("fine_grained_activation_offloading");
    const bool isByLayer = told.isOn("cpu_offloading")
        || draft.whole("cpu_offloading_num_layers", 0, 10'000).value_or(0) > 0; // which turns it on since 2025
    if (isFine || isByLayer) {
        memory.activationOffload = ActivationOffload::Host;
        draft.take("memory.activation_offload", "host",
            isFine                           ? "fine_grained_activation_offloading"
                : told.has("cpu_offloading") ? "cpu_offloading"
                                             : "cpu_offloading_num_layers");
        const int layers = layersOfPlan(draft) / std::max(1, draft.plan.parallelism.pipeline);
        if (const auto own = draft.whole("cpu_offloading_num_layers", 0, 10'000); own && layers > 0) {
            memory.offloadFraction = std::min(1.0, double(*own) / layers);
            draft.take("memory.offload_fraction", std::to_string(*own) + " of " + std::to_string(layers) + " layers",
                "cpu_offloading_num_layers");
        }
    }
}

/// What Megatron-LM has a default for that a plan can take, and what hangs on the job alone.
void assumeTheRest(Draft &draft)
{
    draft.assume("Degrees, micro-batch, schedule, sharding, recomputation and offload that are not told are "
        + draft.arguments.trainer() + "'s defaults, not the plan's values");
    const Told &told = draft.arguments;
    const WorkloadSpec &workload = draft.plan.workload;
    if (!told.has("seq_length"))
        draft.assume("No source tells a sequence length: " + std::to_string(workload.sequenceLength) + draft.stays());
    if (draft.model && draft.model->isMoe() && !told.has("moe_token_dispatcher_type"))
        draft.assume("No source tells how tokens reach their experts: " + std::string(toString(draft.plan.moe.dispatch))
            + draft.stays());
}

/// Beside the name of a recipe: what its overrides tell, also those that turn something off ("null"). The rest stands
/// in the recipe.
void takeOverrides(Draft &draft)
{
    const Told &told = draft.arguments;
    if (!told.has("recipe"))
        return;
    const auto isSet = [&](const char *name) { return told.has(name) || told.isNull(name); };
    if (isSet("use_distributed_optimizer") || isSet("use_megatron_fsdp"))
        takeSharding(draft);
    if (isSet("virtual_pipeline_model_parallel_size") && told.has("pipeline_model_parallel_size")) {
        takeVirtualStages(draft);
        takeLayers(draft);
    }
    if (isSet("recompute_granularity"))
        takeRecompute(draft);
    if (isSet("optimizer_cpu_offload") && isSet("fine_grained_activation_offloading"))
        takeOffload(draft);
    takeTrainingTokens(draft);
}

} // namespace

void takeTrainingTokens(Draft &draft)
{
    const double length = draft.plan.workload.sequenceLength;
    for (const char *name : { "train_samples", "train_iters" }) {
        if (!draft.arguments.has(name))
            continue;
        const auto count = draft.number(name);
        if (!count || !(*count > 0))
            continue;
        const double each = std::string_view(name) == "train_iters" ? draft.plan.workload.globalBatch : 1;
        const double tokens = *count * each * length;
        if (!(tokens > 0) || tokens > 1e18)
            continue;
        draft.plan.workload.trainingTokens = tokens;
        return draft.take("workload.training_tokens", std::to_string(std::llround(tokens)), name);
    }
}

void takeMegatron(Draft &draft)
{
    const Told &told = draft.arguments;
    if (told.isMegatron()) {
        Parallelism &p = draft.plan.parallelism;
        p = Parallelism { .extra = p.extra };
        p.sequenceParallel = false;
        if (!told.has("micro_batch_size"))
            draft.plan.workload.microBatch = 1;
        if (draft.plan.stack.name == "fsdp" || draft.plan.stack.name == "deepspeed") {
            draft.assume("The stack is Megatron's usual one: " + draft.plan.stack.name
                + ", as in the plan, takes no arguments of Megatron");
            draft.plan.stack = {};
        }
        draft.plan.moe.expertOverlap = ExpertOverlap::None;
        draft.plan.moe.sharedExpertOverlap = false;
    }
    for (const MegatronArgument &argument : megatronArguments())
        takeOne(draft, argument);
    takePrecision(draft);
    if (!told.isMegatron())
        return takeOverrides(draft);
    assumeTheRest(draft);
    // Experts keep the tensor degree of the layers unless told.
    if (!told.has("expert_tensor_parallel_size") && draft.model && draft.model->isMoe())
        draft.plan.parallelism.expertTensor = draft.plan.parallelism.tensor;
    takeSharding(draft);
    takeVirtualStages(draft);
    takeLayers(draft);
    takeRecompute(draft);
    takeOffload(draft);
    takeTrainingTokens(draft);
    takeTrainer(draft);
    if (told.translations().empty() && told.isOn("deepspeed") && !told.isDeepSpeed())
        draft.takeStack("megatron-deepspeed", "as " + told.said("deepspeed") + " has it");
    if (told.translations().empty())
        tellHabits(draft);
}

} // namespace trainyard::imports
