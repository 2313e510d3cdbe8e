// SPDX-License-Identifier: GPL-3.0-or-later
// torchtitan: what its command line takes goes there; model, quantisation and recomputation, which it takes from Python
// alone, into a recipe that the script writes. The recipe's name tells them (llama_3_70b_float8_full_ac), as the names
// of torchtitan's own recipes do, so that import can read it.
#include "core/facts/plan/enum_names.h"
#include "core/runs/launch/launch_internal.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::launch {

namespace {

struct TitanModel {
    const char *id, *module, *flavor;
    const char *base; // a configuration that it ships
    bool isOfBase; // whose model that is, as it is
};
constexpr std::array<TitanModel, 19> kModels { {
    { "llama-3-8b", "llama3", "8B", "llama3_8b", true },
    { "llama-3-70b", "llama3", "70B", "llama3_70b", true },
    { "llama-3.1-8b", "llama3", "8B", "llama3_8b", true },
    { "llama-3.1-70b", "llama3", "70B", "llama3_70b", true },
    { "llama-3.1-405b", "llama3", "405B", "llama3_405b", false }, // ships with float8
    { "llama-3.2-1b", "llama3", "1B", "llama3_8b", false },
    { "llama-3.2-3b", "llama3", "3B", "llama3_8b", false },
    { "qwen3-0.6b", "qwen3", "0.6B", "qwen3_0_6b", true },
    { "qwen3-1.7b", "qwen3", "1.7B", "qwen3_1_7b", true },
    { "qwen3-4b", "qwen3", "4B", "qwen3_1_7b", false },
    { "qwen3-8b", "qwen3", "8B", "qwen3_14b", false },
    { "qwen3-14b", "qwen3", "14B", "qwen3_14b", true },
    { "qwen3-32b", "qwen3", "32B", "qwen3_32b", true },
    { "qwen3-30b-a3b", "qwen3", "30B-A3B", "qwen3_30b_a3b", true },
    { "qwen3-235b-a22b", "qwen3", "235B-A22B", "qwen3_30b_a3b", false },
    { "deepseek-v2-lite", "deepseek_v3", "16B", "deepseek_v3_16b", true },
    { "deepseek-v3", "deepseek_v3", "671B", "deepseek_v3_671b", true },
    { "gpt-oss-20b", "gpt_oss", "20b", "gpt_oss_20b", true },
    { "gpt-oss-120b", "gpt_oss", "120b", "gpt_oss_120b", true },
} };

struct TitanSchedule {
    std::string_view schedule; // as a plan's file calls it
    const char *name;
    bool isLooped; // several chunks a stage, as many as asked for
};
constexpr std::array<TitanSchedule, 6> kSchedules { { { "1f1b", "1F1B", false }, { "gpipe", "GPipe", false },
    { "interleaved", "Interleaved1F1B", true }, { "breadth-first", "LoopedBFS", true },
    { "zb-v", "ZBVZeroBubble", false }, { "dualpipev", "DualPipeV", false } } };

struct Recipe {
    std::string name, imports, body;
};

/// `model`: null where torchtitan has none of that name, which is refused elsewhere.
void addQuantisation(Draft &draft, Recipe &recipe, const TitanModel *model)
{
    const Precision precision = draft.plan.workload.precision;
    const char *converter = precision == Precision::Fp8 ? "Float8LinearConverter"
        : precision == Precision::Mxfp8                 ? "MXFP8LinearConverter"
        : precision == Precision::Nvfp4                 ? "NVFP4LinearConverter"
                                                        : nullptr;
    if (precision == Precision::Fp16 || precision == Precision::Tf32)
        return draft.refuse("workload.precision", std::string("torchtitan has no ") + toString(precision),
            "bf16, fp32, fp8, mxfp8 or nvfp4");
    draft.add("--training.mixed_precision_param", precision == Precision::Fp32 ? "float32" : "bfloat16");
    if (converter && draft.model.isMoe())
        return draft.refuse("workload.precision",
            std::string("how torchtitan quantises experts, ") + toString(precision) + " does not tell", "bf16");
    if (!model)
        return;
    std::string converters;
    if (converter) {
        recipe.name += precision == Precision::Fp8 ? "_float8" : precision == Precision::Mxfp8 ? "_mxfp8" : "_nvfp4";
        recipe.imports += std::string("from torchtitan.components.quantization import ") + converter + "\n";
        converters = std::string(", converters=[") + converter + ".Config("
            + (precision == Precision::Fp8          ? "filter_fqns=[\"lm_head\"], "
                    : precision == Precision::Nvfp4 ? "fqns=[\"layers\"], "
                                                    : "")
            + "model_compile_enabled=True)]";
    }
    if (converter || !model->isOfBase) {
        recipe.imports += std::string("from torchtitan.models.") + model->module + " import model_registry\n";
        recipe.body +=
            std::string("    config.model_spec = model_registry(\"") + model->flavor + "\"" + converters + ")\n";
    }
}

void addTorchtitanRecompute(Draft &draft, Recipe &recipe)
{
    const Recompute recompute = draft.plan.memory.recompute;
    const char *policy = recompute == Recompute::Full ? "FullAC" : "SelectiveAC";
    if (recompute == Recompute::None) {
        recipe.name += "_no_ac";
        recipe.body += "    config.activation_checkpoint = None\n";
        return;
    }
    recipe.name += recompute == Recompute::Full ? "_full_ac" : "_selective_ac";
    recipe.imports += std::string("from torchtitan.distributed.activation_checkpoint import ") + policy + "\n";
    recipe.body += std::string("    config.activation_checkpoint = ") + policy + ".Config()\n";
    if (recompute == Recompute::Selective)
        draft.note("torchtitan's selective recomputation keeps products and attention and makes the rest again; the "
                   "plan's makes the core of attention again");
}

/// Modules of each part of the model, where layers are not even.
std::string partsOf(const Draft &draft)
{
    std::vector<StageChunk> parts;
    for (const auto &stage : draft.evaluation.layout.chunks)
        parts.insert(parts.end(), stage.begin(), stage.end());
    std::ranges::stable_sort(parts, {}, [](const StageChunk &part) {
        return std::pair(part.hasHead && !part.hasEmbedding ? 1 : part.hasEmbedding ? -1 : 0, part.firstLayer);
    });
    std::string text;
    for (const StageChunk &part : parts) {
        std::string names = part.hasEmbedding ? "\"tok_embeddings\"" : "";
        for (int layer = part.firstLayer; layer < part.firstLayer + part.layers; ++layer)
            names += (names.empty() ? "\"layers." : ", \"layers.") + std::to_string(layer) + "\"";
        if (part.hasHead)
            names += names.empty() ? "\"norm\", \"lm_head\"" : ", \"norm\", \"lm_head\"";
        text += "        [" + names + "],\n";
    }
    return "    config.parallelism.module_fqns_per_model_part = [\n" + text + "    ]\n";
}

void addPipeline(Draft &draft, Recipe &recipe)
{
    const Plan &plan = draft.plan;
    const Parallelism &p = plan.parallelism;
    const std::string_view schedule = toString(plan.schedule);
    const auto known = std::ranges::find(kSchedules, schedule, &TitanSchedule::schedule);
    if (known == kSchedules.end())
        return draft.refuse("schedule", std::string("torchtitan has no ") + toString(plan.schedule),
            "1f1b, gpipe, interleaved, breadth-first, zb-v or dualpipev");
    if (p.pipeline < 2 && schedule != "1f1b")
        return draft.refuse("schedule", "without a pipeline torchtitan runs no schedule", "1f1b");
    if (known->isLooped && p.virtualPipeline < 2)
        return draft.refuse("parallelism.virtual_pipeline",
            std::string(toString(plan.schedule)) + " has at least two chunks a stage in torchtitan", "2 or more");
    if (!known->isLooped && p.virtualPipeline > 1)
        return draft.refuse("parallelism.virtual_pipeline",
            std::string("torchtitan's ") + known->name + " chooses the chunks of a stage itself", "1");
    if (p.pipeline < 2)
        return;
    draft.add("--parallelism.pipeline_parallel_schedule", known->name);
    const int microBatches = draft.evaluation.layout.classes.front().microBatches;
    draft.add("--parallelism.num_pp_microbatches", microBatches);
    if (known->isLooped && microBatches % p.pipeline != 0)
        draft.refuse("workload.global_batch",
            std::to_string(microBatches) + " micro-batches of a replica go in rounds of the "
                + std::to_string(p.pipeline) + " stages",
            "a multiple of micro-batch × replicas × stages");
    bool isEven = true;
    int parts = 0;
    for (const auto &stage : draft.evaluation.layout.chunks)
        for (const StageChunk &one : stage) {
            ++parts;
            isEven = isEven && one.layers == draft.evaluation.layout.chunks.front().front().layers;
        }
    if (parts < 1)
        return draft.refuse("placement", "no stage has layers", "a plan that can be placed");
    // It counts chunks as ⌈(layers + what the first and the last have less) / layers of a chunk⌉.
    const int each = (draft.model.layers + parts - 1) / parts;
    const int less = each * parts - draft.model.layers;
    draft.add("--parallelism.pipeline_parallel_layers_per_stage", each);
    draft.add("--parallelism.pipeline_parallel_first_stage_less_layers", less / 2);
    draft.add("--parallelism.pipeline_parallel_last_stage_less_layers", less - less / 2);
    if (isEven)
        return;
    recipe.body += partsOf(draft);
}

/// Stage 1 is what FSDP does where it gathers parameters once a step and reduces gradients once a step: it does so
/// under a pipeline (PyTorch's schedules reduce behind the last backward), else with each micro-batch.
void addShardedStates(Draft &draft, Recipe &recipe)
{
    const Parallelism &p = draft.plan.parallelism;
    if (p.zeroStage == 1 && p.pipeline < 2 && draft.evaluation.layout.classes.front().microBatches > 1)
        return draft.refuse("parallelism.zero_stage",
            "without a pipeline torchtitan reduces gradients with each micro-batch, which is stage 2", "0, 2 or 3");
    if (p.zeroStage == 1) {
        recipe.name += "_zero1";
        draft.note("torchtitan has no ZeRO stage 1 by name: FSDP shards the parameters, too, keeps them gathered until "
                   "the step ends and reduces gradients once a step, which sends as much");
    } else if (p.zeroStage > 1 && p.pipeline > 1) {
        draft.note("Under a pipeline PyTorch keeps gradients whole until the last micro-batch, whatever "
                   "parallelism.zero_stage is");
    }
}

void addTorchtitanSharding(Draft &draft, Recipe &recipe)
{
    const Parallelism &p = draft.plan.parallelism;
    const int data = draft.data();
    addShardedStates(draft, recipe);
    if (p.zeroStage == 0 && p.context > 1)
        draft.refuse("parallelism.zero_stage", "torchtitan shards over the ranks of a context group", "1, 2 or 3");
    const bool isSharded = p.zeroStage > 0;
    draft.add("--parallelism.data_parallel_replicate_degree", isSharded ? 1 : data);
    draft.add("--parallelism.data_parallel_shard_degree", isSharded ? (data > 1 ? data : -1) : 1);
    if (isSharded)
        draft.add("--parallelism.fsdp_reshard_after_forward", p.zeroStage == 3 ? "always" : "never");
    const int region = (isSharded ? data : 1) * p.context * p.tensor;
    if (p.expert > 1 && (!draft.model.isMoe() || region % p.expert != 0))
        draft.refuse("parallelism.expert",
            draft.model.isMoe() ? "it does not divide the " + std::to_string(region)
                    + " ranks that share parameters (sharded × context × tensor)"
                                : "the model has no experts",
            draft.model.isMoe() ? "a divisor of them" : "1");
    if (p.expertTensor > 1)
        draft.refuse("parallelism.expert_tensor", "torchtitan lends tensor ranks to experts, one to each", "1");
}

void addTorchtitanOffload(Draft &draft)
{
    const MemoryStrategy &memory = draft.plan.memory;
    const bool isParameters = memory.parameterOffload == ParameterOffload::Host;
    const bool isOptimizer = memory.optimizerOffload == OptimizerOffload::Host;
    if (memory.activationOffload != ActivationOffload::None)
        draft.refuse("memory.activation_offload", "torchtitan keeps activations on the GPU", "none");
    if (memory.delayedUpdate && memory.optimizerOffload != OptimizerOffload::None)
        draft.refuse("memory.delayed_update", "torchtitan waits for the update before the next step", "false");
    if (isParameters && isOptimizer && draft.plan.parallelism.zeroStage > 1)
        return draft.add("--training.enable_cpu_offload");
    if (memory.parameterOffload != ParameterOffload::None)
        draft.refuse("memory.parameter_offload",
            "torchtitan offloads parameters with the states of the optimizer, sharded, to host memory",
            "none, or host with optimizer_offload host and zero_stage 3");
    if (memory.optimizerOffload != OptimizerOffload::None)
        draft.refuse("memory.optimizer_offload",
            "torchtitan offloads the states of the optimizer with the parameters, sharded, to host memory",
            "none, or host with parameter_offload host and zero_stage 3");
}

void addBatch(Draft &draft)
{
    const WorkloadSpec &w = draft.plan.workload;
    const std::int64_t step = std::int64_t(w.globalBatch) * w.sequenceLength;
    draft.add("--training.max_context_length", w.sequenceLength);
    draft.add("--training.num_tokens_per_microbatch_per_dp_rank", std::int64_t(w.microBatch) * w.sequenceLength);
    draft.add("--training.num_tokens_per_train_step", step);
    if (w.trainingTokens)
        return draft.add("--training.steps", std::llround(std::ceil(*w.trainingTokens / double(step))));
    draft.isStepsAsked = true;
    draft.addShell("--training.steps", "\"$1\"");
}

/// Its model of that name; null where it has none, which is refused.
const TitanModel *modelOf(Draft &draft)
{
    const auto known = std::ranges::find_if(
        kModels, [&](const TitanModel &one) { return !draft.plan.workload.inlineModel && draft.model.id == one.id; });
    if (known != kModels.end())
        return &*known;
    std::string ids;
    for (const TitanModel &one : kModels)
        ids += (ids.empty() ? "" : ", ") + std::string(one.id);
    draft.refuse("workload.model",
        "torchtitan trains models that its own code builds, and none is "
            + (draft.model.id.empty() ? std::string("this one") : draft.model.id),
        "one of " + ids);
    return nullptr;
}

std::string identifier(std::string_view id)
{
    std::string name(id);
    std::ranges::replace_if(
        name, [](char c) { return c == '-' || c == '.'; }, '_');
    return name;
}

} // namespace

bool isTorchtitanStack(const Plan &plan)
{
    return plan.stack.name == "fsdp";
}

void makeTorchtitan(Draft &draft)
{
    draft.commit = "torchtitan b5bcd76c66d0acb1a08b176d9639425bc55e0b2a";
    refuseOtherKeys(draft,
        { "memory.activation_offload", "memory.optimizer_offload", "memory.parameter_offload", "memory.delayed_update",
            "moe.dropless" });
    const Plan &plan = draft.plan;
    const Parallelism &p = plan.parallelism;
    if (plan.workload.optimizer != Optimizer::Adam)
        draft.refuse("workload.optimizer",
            std::string("torchtitan's recipes train with adam, not ") + toString(plan.workload.optimizer), "adam");
    const TitanModel *known = modelOf(draft);
    Recipe recipe { known ? identifier(known->id) : std::string(),
        known ? "from torchtitan.config import CompileConfig\nfrom torchtitan.models." + std::string(known->module)
                + ".config_registry import " + known->base + "\n"
              : std::string(),
        "" };
    draft.add("--parallelism.tensor_parallel_degree", p.tensor);
    if (p.tensor > 1 && !p.usesSequenceParallel())
        draft.add("--parallelism.no-enable_sequence_parallel");
    draft.add("--parallelism.pipeline_parallel_degree", p.pipeline);
    draft.add("--parallelism.context_parallel_degree", p.context);
    draft.add("--parallelism.expert_parallel_degree", p.expert);
    addBatch(draft);
    addQuantisation(draft, recipe, known);
    addTorchtitanRecompute(draft, recipe);
    addTorchtitanSharding(draft, recipe);
    addPipeline(draft, recipe);
    addTorchtitanOffload(draft);
    if (!known)
        return;
    if (p.pipeline > 1 || p.expert > 1)
        draft.add("--training.disable_cuda_graphs");
    draft.add("--metrics.log_freq", 1);
    draft.add("--metrics.disable_color_printing");
    draft.profiler = "--profiler.enable_profiling --profiler.profile_freq 10";
    draft.note("Data, tokenizer and learning rate are those of torchtitan's own " + std::string(known->base)
        + ": set --hf_assets_path to yours");
    if (draft.model.mtpLayers > 0)
        draft.note("torchtitan leaves out the layers that predict further tokens unless its recipe asks for them");
    recipe.body += "    config.compile = CompileConfig(enable=True)\n    config.profiler.enable_profiling = False\n"
                   "    config.validator.enable = False\n    return config\n";
    draft.before = "recipe=\"${RECIPE_DIR:-$PWD/trainyard_recipe}\"\nmkdir -p \"$recipe\"\n"
                   "cat > \"$recipe/trainyard_recipe.py\" <<'PYTHON'\n"
        + recipe.imports + "\n\ndef " + recipe.name + "():\n    config = " + known->base + "()\n" + recipe.body
        + "PYTHON\nexport PYTHONPATH=\"$recipe${PYTHONPATH:+:$PYTHONPATH}\"\n";
    draft.program = "-m torchtitan.train";
    draft.options.insert(
        draft.options.begin(), { { "--module", { "trainyard_recipe" } }, { "--config", { recipe.name } } });
}

} // namespace trainyard::launch
