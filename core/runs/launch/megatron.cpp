// SPDX-License-Identifier: GPL-3.0-or-later
// Megatron-LM's arguments. Rules that its parser and its configuration check are checked here, with the key of the plan
// that breaks them.
#include "core/facts/plan/enum_names.h"
#include "core/runs/imports/megatron_arguments.h"
#include "core/runs/launch/launch_internal.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::launch {

namespace {

void addSchedule(Draft &draft)
{
    const Plan &plan = draft.plan;
    const Parallelism &p = plan.parallelism;
    const std::string schedule = toString(plan.schedule);
    const bool isInterleaved = schedule == "interleaved";
    if (schedule != "1f1b" && !isInterleaved)
        return draft.refuse(
            "schedule", "Megatron-LM runs 1f1b and interleaved, and no " + schedule, "1f1b or interleaved");
    if (!isInterleaved && p.virtualPipeline > 1)
        return draft.refuse("parallelism.virtual_pipeline",
            "with " + std::to_string(p.virtualPipeline) + " chunks a stage Megatron-LM interleaves",
            "1, or schedule interleaved");
    if (isInterleaved && (p.pipeline < 2 || p.virtualPipeline < 2))
        return draft.refuse(
            "schedule", "Megatron-LM interleaves where there are several stages with several chunks each", "1f1b");
    if (!isInterleaved)
        return;
    if (const int each = draft.evaluation.layout.classes.front().microBatches; each % p.pipeline != 0)
        draft.refuse("workload.global_batch",
            std::to_string(each) + " micro-batches of a replica go in groups of the " + std::to_string(p.pipeline)
                + " stages under interleaving",
            "a multiple of micro-batch × replicas × stages");
}

/// Layers of the stages: even, or each chunk by itself.
void addLayers(Draft &draft)
{
    const Parallelism &p = draft.plan.parallelism;
    const auto &chunks = draft.evaluation.layout.chunks;
    if (p.pipeline < 2)
        return;
    bool isEven = true;
    std::string layout;
    const int even = draft.model.layers / (p.pipeline * p.virtualPipeline);
    for (int chunk = 0; chunk < p.virtualPipeline; ++chunk)
        for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
            if (static_cast<std::size_t>(chunk) >= chunks[stage].size())
                return draft.refuse("parallelism.virtual_pipeline", "a stage has fewer chunks than that");
            const StageChunk &one = chunks[stage][static_cast<std::size_t>(chunk)];
            isEven = isEven && one.layers == even;
            const bool isFirst = chunk == 0 && stage == 0;
            const bool isLast = chunk == p.virtualPipeline - 1 && stage + 1 == chunks.size();
            layout += isFirst ? "E" : "|";
            if (one.layers > 0)
                layout += one.layers == 1 ? std::string("t") : "t*" + std::to_string(one.layers);
            for (int i = 0; isLast && i < draft.model.mtpLayers; ++i)
                layout += "m";
            layout += isLast ? "L" : "";
        }
    if (!isEven)
        return draft.add("--pipeline-model-parallel-layout", layout);
    if (p.virtualPipeline > 1)
        draft.add("--num-virtual-stages-per-pipeline-rank", p.virtualPipeline);
}

void addMegatronSharding(Draft &draft)
{
    const int stage = draft.plan.parallelism.zeroStage;
    if (draft.data() > 1)
        draft.add("--overlap-grad-reduce");
    if (stage == 0)
        return;
    draft.add("--use-distributed-optimizer");
    if (draft.data() > 1)
        draft.add("--overlap-param-gather");
    if (stage == 1)
        return;
    draft.add("--use-megatron-fsdp");
    draft.add("--data-parallel-sharding-strategy", stage == 2 ? "optim_grads" : "optim_grads_params");
    draft.add("--ckpt-format", "fsdp_dtensor");
    draft.add("--no-gradient-accumulation-fusion");
    if (draft.plan.workload.optimizer == Optimizer::Lion)
        draft.refuse("workload.optimizer", "Megatron-FSDP, which divides gradients, has adam and sgd", "adam");
}

void addPrecision(Draft &draft)
{
    switch (draft.plan.workload.precision) {
    case Precision::Fp32:
        return draft.note("Without --bf16 and --fp16 Megatron-LM trains in fp32");
    case Precision::Tf32:
        return draft.refuse("workload.precision", "Megatron-LM has no argument for tf32", "fp32 or bf16");
    case Precision::Fp16:
        return draft.add("--fp16");
    case Precision::Bf16:
        return draft.add("--bf16");
    case Precision::Fp8:
    case Precision::Mxfp8:
        draft.add("--bf16");
        draft.add("--fp8-format", "hybrid");
        return draft.add("--fp8-recipe", draft.plan.workload.precision == Precision::Mxfp8 ? "mxfp8" : "tensorwise");
    case Precision::Nvfp4:
        draft.add("--bf16");
        draft.add("--fp4-format", "e2m1");
        return draft.add("--fp4-recipe", "nvfp4");
    }
}

/// What selective recomputation is told, and whether the model has it.
struct Module {
    const char *name, *key;
    bool MemoryStrategy::*member;
    bool (*has)(const ModelSpec &);
    const char *lacks;
};
constexpr std::array<Module, 4> kModules { { { "layernorm", "memory.recompute_norms", &MemoryStrategy::recomputeNorms,
                                                 [](const ModelSpec &) { return true; }, "" },
    { "moe_act", "memory.recompute_activation_function", &MemoryStrategy::recomputeActivationFunction,
        [](const ModelSpec &model) { return model.isMoe(); },
        "Megatron-LM recomputes the activation function of experts alone, and the model has none" },
    { "mla_up_proj", "memory.recompute_up_projection", &MemoryStrategy::recomputeUpProjection,
        [](const ModelSpec &model) { return model.attention == AttentionKind::Latent; },
        "the model has no latent attention" },
    { "shared_experts", "memory.recompute_shared_experts", &MemoryStrategy::recomputeSharedExperts,
        [](const ModelSpec &model) { return model.isMoe() && model.sharedExpertFfn > 0; },
        "the model has no shared experts" } } };

/// Of each chunk of a stage Megatron-LM recomputes so many layers (`--recompute-method block`), the plan the first so
/// many of the whole stage.
void addRecomputedLayers(Draft &draft)
{
    const auto &told = draft.plan.memory.recomputeLayers;
    if (!told)
        return draft.add("--recompute-num-layers", std::int64_t(1));
    int most = draft.model.layers; // of the smallest stage
    bool isEven = true; // every chunk has as many
    const auto &stages = draft.evaluation.layout.chunks;
    for (const auto &chunks : stages) {
        int own = 0;
        for (const StageChunk &chunk : chunks) {
            own += chunk.layers;
            isEven = isEven && chunk.layers == stages.front().front().layers;
        }
        most = std::min(most, own);
    }
    if (*told < 1 || *told > most)
        draft.refuse("memory.recompute_layers",
            std::to_string(*told) + " layers of a stage that has " + std::to_string(most),
            "1 to " + std::to_string(most));
    const int chunks = draft.plan.parallelism.virtualPipeline;
    if (chunks > 1 && (!isEven || *told != most))
        draft.refuse("memory.recompute_layers",
            "of each of the " + std::to_string(chunks)
                + " chunks of a stage Megatron-LM recomputes as many layers, and the plan the first "
                + std::to_string(*told) + " of the whole stage",
            "all " + std::to_string(most) + " of a stage, a plan without it, or one chunk a stage");
    draft.add("--recompute-num-layers", *told / chunks);
}

void addMegatronRecompute(Draft &draft)
{
    const MemoryStrategy &memory = draft.plan.memory;
    std::vector<std::string> modules;
    if (memory.recompute == Recompute::Selective)
        modules.emplace_back("core_attn");
    for (const Module &one : kModules) {
        if (!(memory.*one.member))
            continue;
        if (memory.recompute == Recompute::Full)
            draft.refuse(one.key, "with --recompute-granularity full Megatron-LM takes no single modules", "false");
        else if (!one.has(draft.model))
            draft.refuse(one.key, one.lacks, "false");
        else
            modules.emplace_back(one.name);
    }
    if (memory.recompute == Recompute::Full) {
        draft.add("--recompute-granularity", "full");
        draft.add("--recompute-method", memory.recomputeLayers ? "block" : "uniform");
        return addRecomputedLayers(draft);
    }
    if (memory.recomputeLayers)
        draft.refuse("memory.recompute_layers", "Megatron-LM takes a number of layers with full recomputation alone",
            "a plan without it, or recompute full");
    if (modules.empty())
        return;
    draft.add("--recompute-granularity", "selective");
    draft.options.push_back({ "--recompute-modules", modules });
}

void addMegatronOffload(Draft &draft)
{
    const MemoryStrategy &memory = draft.plan.memory;
    if (memory.optimizerOffload == OptimizerOffload::Host) {
        draft.add("--optimizer-cpu-offload");
        draft.add("--use-precision-aware-optimizer");
        if (draft.plan.workload.optimizer != Optimizer::Adam)
            draft.refuse("workload.optimizer",
                std::string("Megatron-LM keeps the states of adam in host memory, and none of ")
                    + toString(draft.plan.workload.optimizer),
                "adam");
        if (draft.plan.parallelism.zeroStage != 1)
            draft.refuse("memory.optimizer_offload",
                "Megatron-LM keeps the states of its distributed optimizer in host memory, which is ZeRO stage 1",
                "parallelism.zero_stage 1");
    } else if (memory.optimizerOffload != OptimizerOffload::None) {
        draft.refuse("memory.optimizer_offload", "Megatron-LM keeps all states on the GPU, or all in host memory",
            "none or host");
    }
    if (memory.delayedUpdate && memory.optimizerOffload != OptimizerOffload::None)
        draft.refuse("memory.delayed_update", "Megatron-LM waits for the update before the next step", "false");
    if (memory.parameterOffload != ParameterOffload::None)
        draft.refuse("memory.parameter_offload", "Megatron-LM keeps parameters on the GPU", "none");
    if (memory.activationOffload == ActivationOffload::Ssd)
        draft.refuse("memory.activation_offload", "Megatron-LM has no way to drives", "none or host");
    if (memory.activationOffload != ActivationOffload::Host)
        return;
    if (memory.offloadPolicy != OffloadPolicy::SsdTrain)
        draft.refuse("memory.offload_policy",
            std::string("Megatron-LM does not choose as ") + toString(memory.offloadPolicy) + " does", "ssdtrain");
    if (!memory.offloadFraction) {
        draft.add("--fine-grained-activation-offloading");
        draft.options.push_back(
            { "--offload-modules", { "attn_norm", "qkv_linear", "core_attn", "attn_proj", "mlp_norm" } });
        draft.add("--min-offloaded-tensor-size", memory.offloadMinElements);
        draft.environment.emplace_back("NVTE_CPU_OFFLOAD_V1", "1");
        draft.note("Megatron-LM moves the inputs of the modules that --offload-modules names; the plan, what can be "
                   "hidden");
        return;
    }
    const int layers = static_cast<int>(std::lround(*memory.offloadFraction * draft.model.layers));
    if (std::abs(layers - *memory.offloadFraction * draft.model.layers) > 1e-9 || layers < 1
        || layers >= draft.model.layers)
        draft.refuse("memory.offload_fraction",
            "Megatron-LM offloads whole layers, less than all " + std::to_string(draft.model.layers),
            "auto, or layers / " + std::to_string(draft.model.layers));
    if (draft.plan.parallelism.pipeline > 1)
        draft.refuse("memory.offload_fraction", "Megatron-LM offloads layers only where there is no pipeline", "auto");
    const auto isRecomputed = [&](const Module &one) { return memory.*one.member; };
    if (memory.recompute != Recompute::None || std::ranges::any_of(kModules, isRecomputed))
        draft.refuse("memory.offload_fraction", "Megatron-LM does not recompute where it offloads layers",
            "auto, or a plan that recomputes nothing");
    if (memory.offloadMinElements != MemoryStrategy {}.offloadMinElements)
        draft.refuse("memory.offload_min_elements", "Megatron-LM offloads layers as a whole",
            std::to_string(MemoryStrategy {}.offloadMinElements));
    draft.add("--cpu-offloading-num-layers", layers);
}

void addDispatch(Draft &draft)
{
    const Plan &plan = draft.plan;
    if (!draft.model.isMoe())
        return;
    const Parallelism &p = plan.parallelism;
    if (p.tensor > 1 && !p.usesSequenceParallel())
        draft.refuse("parallelism.sequence_parallel",
            "Megatron-LM trains experts under tensor parallelism with sequence parallelism alone", "true");
    const MegatronArgument &row = *megatronArgument("moe_token_dispatcher_type");
    const auto known = std::ranges::find(row.words, std::int64_t(plan.moe.dispatch), &ArgumentWord::value);
    if (known == row.words.end())
        draft.refuse(row.key, std::string("Megatron-LM has no dispatch ") + toString(plan.moe.dispatch),
            "flat, all-gather or dedup");
    else
        draft.add(flagOf(row.name), known->argument);
    const bool isDeepEp = plan.moe.dispatch == MoeDispatch::Dedup;
    if (isDeepEp) {
        draft.add("--moe-flex-dispatcher-backend", "deepep");
        draft.add("--moe-router-dtype", "fp32");
    }
    if (plan.moe.sharedExpertOverlap) {
        if (plan.memory.recomputeSharedExperts)
            draft.refuse("memory.recompute_shared_experts",
                "Megatron-LM does not recompute shared experts that compute while tokens travel", "false");
        draft.add("--moe-shared-expert-overlap");
        if (plan.moe.dispatch == MoeDispatch::AllGather)
            draft.refuse("moe.shared_expert_overlap", "Megatron-LM has it with flat and dedup dispatch", "false");
    }
    if (plan.moe.expertOverlap == ExpertOverlap::OneFOneB) {
        const Precision precision = plan.workload.precision;
        if (p.expert < 2 || plan.moe.dispatch == MoeDispatch::AllGather || precision == Precision::Fp32
            || (p.pipeline > 1 && p.virtualPipeline < 2) || plan.memory.recompute == Recompute::Full
            || plan.moe.sharedExpertOverlap || draft.model.mtpLayers > 1)
            draft.refuse("moe.expert_overlap",
                "Megatron-LM has it with expert parallelism, flat or dedup dispatch, 16 bits or less, at most one "
                "layer "
                "that predicts further tokens, virtual stages where there is a pipeline, and neither full "
                "recomputation "
                "nor shared experts beside it",
                "none");
        draft.add("--overlap-moe-expert-parallel-comm");
        draft.environment.emplace_back("CUDA_DEVICE_MAX_CONNECTIONS", "32");
    }
    if (const auto capacity = plan.moe.capacity()) {
        std::string text = std::to_string(std::lround(*capacity * 1000) / 1000.0);
        text.resize(text.find_last_not_of('0') + 1);
        draft.add("--moe-expert-capacity-factor", text + (text.ends_with('.') ? "0" : ""));
        if (isDeepEp)
            draft.note("DeepEP does not fill experts up to their room; the plan does");
        else
            draft.add("--moe-pad-expert-input-to-capacity");
    }
    if (plan.moe.permute == MoePermute::Standard)
        draft.note("Megatron-LM applies the weights of experts before their second product (moe.permute "
                   "memory-efficient), which keeps less");
}

void addOptimizer(Draft &draft)
{
    const Optimizer optimizer = draft.plan.workload.optimizer;
    const bool isKnown = optimizer == Optimizer::Adam || optimizer == Optimizer::Sgd || optimizer == Optimizer::Lion;
    if (!isKnown)
        return draft.refuse(
            "workload.optimizer", std::string("Megatron-LM has no ") + toString(optimizer), "adam, sgd or lion");
    draft.add("--optimizer", toString(optimizer));
    draft.add("--lr", "1e-4");
    draft.note("The learning rate (--lr) is not the plan's business: set your own");
}

void addSteps(Draft &draft)
{
    const WorkloadSpec &workload = draft.plan.workload;
    if (workload.trainingTokens) {
        draft.add("--train-samples", std::llround(std::ceil(*workload.trainingTokens / workload.sequenceLength)));
        return;
    }
    draft.isStepsAsked = true;
    draft.addShell("--train-iters", "\"$1\"");
}

} // namespace

void makeMegatron(Draft &draft)
{
    draft.commit = "Megatron-LM d98e8a64ddf34856e74b24714e3bedb2f5a39553";
    refuseOtherKeys(draft,
        { "memory.recompute_layers", "memory.recompute_norms", "memory.recompute_activation_function",
            "memory.recompute_up_projection", "memory.recompute_shared_experts", "memory.activation_offload",
            "memory.offload_fraction", "memory.offload_policy", "memory.offload_min_elements",
            "memory.optimizer_offload", "memory.delayed_update", "memory.parameter_offload", "moe.dispatch",
            "moe.shared_expert_overlap", "moe.expert_overlap", "moe.dropless", "moe.capacity_factor" });
    const Plan &plan = draft.plan;
    const Parallelism &p = plan.parallelism;
    addMegatronModel(draft);
    draft.add("--seq-length", plan.workload.sequenceLength);
    draft.add("--micro-batch-size", plan.workload.microBatch);
    draft.add("--global-batch-size", plan.workload.globalBatch);
    for (const char *name : { "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size" })
        draft.add(flagOf(name), megatronArgument(name)->get(plan));
    if (p.context > 1 && plan.workload.sequenceLength % (2 * p.context) != 0)
        draft.refuse("parallelism.context",
            "Megatron-LM cuts a sequence into two parts a rank, and " + std::to_string(2 * p.context)
                + " do not divide " + std::to_string(plan.workload.sequenceLength),
            "a degree whose double does");
    if (draft.model.isMoe())
        for (const char *name : { "expert_model_parallel_size", "expert_tensor_parallel_size" })
            draft.add(flagOf(name), megatronArgument(name)->get(plan));
    else if (p.expert > 1 || p.expertTensor > 1)
        draft.refuse(
            p.expert > 1 ? "parallelism.expert" : "parallelism.expert_tensor", "the model has no experts", "1");
    if (p.tensor > 1 && p.usesSequenceParallel())
        draft.add("--sequence-parallel");
    if ((p.tensor > 1 || p.context > 1) && p.zeroStage < 2
        && !(draft.model.isMoe() && plan.moe.expertOverlap != ExpertOverlap::None))
        draft.environment.emplace_back("CUDA_DEVICE_MAX_CONNECTIONS", "1");
    addSchedule(draft);
    addLayers(draft);
    addMegatronSharding(draft);
    addPrecision(draft);
    addMegatronRecompute(draft);
    addMegatronOffload(draft);
    addDispatch(draft);
    if (draft.model.isMoe())
        addRouter(draft);
    addOptimizer(draft);
    addSteps(draft);
    draft.add("--mock-data");
    draft.note("--mock-data stands where your own --data-path and tokenizer go");
    draft.add("--eval-iters", std::int64_t(0));
    draft.add("--log-throughput");
    draft.add("--timing-log-level", 1);
    draft.add("--log-interval", 1);
    draft.profiler = "--profile --use-pytorch-profiler --profile-step-start 10 --profile-step-end 12 --profile-ranks 0";
    draft.program = "\"${MEGATRON_LM:-.}/pretrain_gpt.py\"";
}

} // namespace trainyard::launch
