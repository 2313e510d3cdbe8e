// SPDX-License-Identifier: GPL-3.0-or-later
// Megatron-Bridge: a recipe of its own for the model, and overrides of all of it that a plan tells. It is built on
// Megatron Core, so what Megatron-LM refuses it refuses, and each argument of the one is a field of the other. A field
// that the plan leaves off is written as off, since the recipe may have it on.
#include "core/facts/plan/enum_names.h"
#include "core/runs/imports/bridge_recipes.h"
#include "core/runs/launch/launch_internal.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::launch {

namespace {

enum class Off : std::uint8_t {
    /// the recipe's value stays where the plan gives none
    Stays,
    False,
    Null,
    One,
    NoShard
};

struct Field {
    /// of Megatron-LM
    std::string_view flag;
    /// of Megatron-Bridge's ConfigContainer
    std::string_view key;
    Off off = Off::Stays;
    bool isOfExperts = false;
};
constexpr auto kFields = std::to_array<Field>({
    { "--seq-length", "dataset.seq_length" },
    { "--micro-batch-size", "train.micro_batch_size" },
    { "--global-batch-size", "train.global_batch_size" },
    { "--tensor-model-parallel-size", "model.tensor_model_parallel_size" },
    { "--pipeline-model-parallel-size", "model.pipeline_model_parallel_size" },
    { "--context-parallel-size", "model.context_parallel_size" },
    { "--expert-model-parallel-size", "model.expert_model_parallel_size", Off::One },
    { "--expert-tensor-parallel-size", "model.expert_tensor_parallel_size", Off::Stays, true },
    { "--sequence-parallel", "model.sequence_parallel", Off::False },
    { "--num-virtual-stages-per-pipeline-rank", "model.virtual_pipeline_model_parallel_size", Off::Null },
    { "--pipeline-model-parallel-layout", "model.pipeline_model_parallel_layout", Off::Null },
    { "--mtp-num-layers", "model.mtp_num_layers", Off::Null },
    { "--overlap-grad-reduce", "ddp.overlap_grad_reduce", Off::False },
    { "--overlap-param-gather", "ddp.overlap_param_gather", Off::False },
    { "--use-distributed-optimizer", "ddp.use_distributed_optimizer", Off::False },
    { "--use-megatron-fsdp", "ddp.use_megatron_fsdp", Off::False },
    { "--data-parallel-sharding-strategy", "ddp.data_parallel_sharding_strategy", Off::NoShard },
    { "--recompute-granularity", "model.recompute_granularity", Off::Null },
    { "--recompute-method", "model.recompute_method", Off::Null },
    { "--recompute-num-layers", "model.recompute_num_layers", Off::Null },
    { "--recompute-modules", "model.recompute_modules", Off::Null },
    { "--optimizer-cpu-offload", "optimizer.optimizer_cpu_offload", Off::False },
    { "--fine-grained-activation-offloading", "model.fine_grained_activation_offloading", Off::False },
    { "--offload-modules", "model.offload_modules", Off::Null },
    { "--min-offloaded-tensor-size", "model.min_offloaded_tensor_size" },
    { "--hidden-dropout", "model.hidden_dropout" },
    { "--attention-dropout", "model.attention_dropout" },
    { "--moe-token-dispatcher-type", "model.moe_token_dispatcher_type", Off::Stays, true },
    { "--moe-flex-dispatcher-backend", "model.moe_flex_dispatcher_backend", Off::Null, true },
    { "--moe-router-dtype", "model.moe_router_dtype", Off::Stays, true },
    { "--moe-router-force-load-balancing", "model.moe_router_force_load_balancing", Off::False, true },
    { "--moe-shared-expert-overlap", "model.moe_shared_expert_overlap", Off::False, true },
    { "--moe-expert-capacity-factor", "model.moe_expert_capacity_factor", Off::Null, true },
    { "--moe-pad-expert-input-to-capacity", "model.moe_pad_expert_input_to_capacity", Off::False, true },
    { "--optimizer", "optimizer.optimizer" },
});

std::string_view offValue(Off off)
{
    constexpr std::array<std::string_view, 5> kValues { "", "false", "null", "1", "no_shard" };
    return kValues[std::size_t(off)];
}

const Option *optionOf(const Draft &draft, std::string_view flag)
{
    const auto found = std::ranges::find(draft.options, flag, &Option::flag);
    return found != draft.options.end() ? &*found : nullptr;
}

/// As Hydra reads it: a list in brackets, a text with signs of its grammar in quotes.
std::string valueOf(const Option &option)
{
    if (option.values.empty())
        return "true";
    if (option.flag == "--recompute-modules" || option.flag == "--offload-modules") {
        std::string list;
        for (const std::string &value : option.values)
            list += (list.empty() ? "[" : ",") + value;
        return list + "]";
    }
    const std::string &value = option.values.front();
    return value.find_first_of("|*") != value.npos ? "\"" + value + "\"" : value;
}

/// "KEY=VALUE" as a word of its own; told by the shell where `isShell`.
void setField(std::vector<Option> &made, std::string_view key, const std::string &value, bool isShell = false)
{
    const std::string text = std::string(key) + "=" + value;
    made.push_back({ isShell ? text : shellWord(text), {} });
}

void addPrecisionOf(Draft &draft, std::vector<Option> &made)
{
    const std::string_view own = toString(draft.plan.workload.precision);
    const auto known = std::ranges::find(bridgePrecisions(), own, &BridgePrecision::precision);
    if (known == bridgePrecisions().end())
        return draft.refuse("workload.precision", "no preset of Megatron-Bridge trains in " + std::string(own),
            "bf16, fp16, fp8, mxfp8 or nvfp4");
    setField(made, "mixed_precision", std::string(known->name));
}

void addOffload(const Draft &draft, std::vector<Option> &made, const BridgeRecipe &recipe)
{
    const Option *const layers = optionOf(draft, "--cpu-offloading-num-layers");
    setField(made, "model.cpu_offloading", layers ? "true" : "false");
    if (layers)
        setField(made, "model.cpu_offloading_num_layers", layers->values.front());
    if (optionOf(draft, "--optimizer-cpu-offload") || !recipe.hasShortMoments)
        setField(made, "optimizer.use_precision_aware_optimizer",
            optionOf(draft, "--use-precision-aware-optimizer") ? "true" : "false");
}

void addExpertOverlap(const Draft &draft, std::vector<Option> &made, const BridgeRecipe &recipe)
{
    const char *value = optionOf(draft, "--overlap-moe-expert-parallel-comm") ? "true" : "false";
    if (recipe.hasOverlapSection)
        setField(made, "comm_overlap.tp_comm_overlap", "false");
    if (draft.model.isMoe() && recipe.hasOverlapSection)
        setField(made, "comm_overlap.overlap_moe_expert_parallel_comm", value);
    else if (draft.model.isMoe())
        setField(made, "model.overlap_moe_expert_parallel_comm", value);
}

/// What makes the run comparable: vocabulary of the model on mock data, no checkpoints, a line a step.
void addRun(const Draft &draft, std::vector<Option> &made)
{
    const WorkloadSpec &workload = draft.plan.workload;
    if (workload.trainingTokens) {
        const double step = double(workload.globalBatch) * workload.sequenceLength;
        setField(made, "train.train_iters", std::to_string(std::llround(std::ceil(*workload.trainingTokens / step))));
    } else {
        setField(made, "train.train_iters", "\"$1\"", true);
    }
    setField(made, "model.vocab_size", std::to_string(draft.model.vocab));
    setField(made, "tokenizer.tokenizer_type", "NullTokenizer");
    setField(made, "tokenizer.vocab_size", std::to_string(draft.model.vocab));
    setField(made, "tokenizer.use_tokenizer_vocab_size", "false");
    for (const char *key :
        { "model.account_for_embedding_in_pipeline_split", "model.account_for_loss_in_pipeline_split" })
        setField(made, key, "false");
    for (const char *key : { "model.num_layers_in_first_pipeline_stage", "model.num_layers_in_last_pipeline_stage" })
        setField(made, key, "null");
    for (const char *key : { "checkpoint.save", "checkpoint.load" })
        setField(made, key, "null");
    setField(made, "scheduler.lr_warmup_iters", "0");
    setField(made, "validation.eval_iters", "0");
    setField(made, "logger.log_throughput", "true");
    setField(made, "logger.timing_log_level", "1");
    setField(made, "logger.log_interval", "1");
}

/// Sentences of Megatron-LM's arguments as those of this framework.
void renameFramework(Draft &draft)
{
    const auto replace = [](std::string &text, std::string_view from, std::string_view to) {
        for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
            text.replace(at, from.size(), to);
    };
    const auto isOfArguments = [](const std::string &note) {
        return note.starts_with("The learning rate") || note.starts_with("--mock-data")
            || note.starts_with("Megatron-LM pads");
    };
    std::erase_if(draft.notes, isOfArguments);
    for (std::string &note : draft.notes) {
        replace(note, "--moe-router-force-load-balancing", "model.moe_router_force_load_balancing");
        replace(note, "--offload-modules", "model.offload_modules");
        replace(note, "with --mock-data", "with --dataset mock");
        replace(note, "Megatron-LM", draft.name);
    }
    for (Error &error : draft.errors) {
        replace(error.what, "Megatron-LM", draft.name);
        replace(error.what, "--recompute-granularity full", "recompute_granularity full");
    }
}

} // namespace

void makeBridge(Draft &draft)
{
    draft.isModelOfRecipe = true;
    makeMegatron(draft);
    draft.commit = "Megatron-Bridge 067f987df03b8355b03192d88d70f1709fedf51a";
    renameFramework(draft);
    const BridgeRecipe *recipe = draft.plan.workload.inlineModel ? nullptr : bridgeRecipeOf(draft.model.id);
    if (!recipe) {
        std::string ids;
        for (const BridgeRecipe &one : bridgeRecipes())
            ids += (ids.empty() ? "" : ", ") + std::string(one.model);
        draft.refuse("workload.model", "no recipe of Megatron-Bridge trains it from scratch", "one of " + ids);
    }
    std::vector<Option> made;
    addPrecisionOf(draft, made);
    if (!recipe)
        return;
    made.insert(made.begin(),
        { { "--recipe", { std::string(recipe->name) } }, { "--mode", { "pretrain" } }, { "--dataset", { "mock" } } });
    for (const Field &field : kFields) {
        if (field.isOfExperts && !draft.model.isMoe())
            continue;
        if (const Option *option = optionOf(draft, field.flag))
            setField(made, field.key, valueOf(*option));
        else if (field.off != Off::Stays)
            setField(made, field.key, std::string(offValue(field.off)));
    }
    setField(
        made, "optimizer.use_distributed_optimizer", optionOf(draft, "--use-distributed-optimizer") ? "true" : "false");
    if (optionOf(draft, "--use-megatron-fsdp"))
        setField(made, "model.gradient_accumulation_fusion", "false");
    addOffload(draft, made, *recipe);
    addExpertOverlap(draft, made, *recipe);
    addRun(draft, made);
    draft.options = std::move(made);
    draft.note("The recipe has the learning rate, and the model as Hugging Face has it, whose config.json it fetches");
    draft.note("--dataset mock stands where your own data go; checkpoint.save and checkpoint.load are null: no "
               "checkpoint is written");
    if (recipe->hasShortMoments && !optionOf(draft, "optimizer.optimizer_cpu_offload=true"))
        draft.note("workload.optimizer: the recipe keeps the moments of adam in 16 bits, the plan in 32");
    draft.profiler = "profiling.use_pytorch_profiler=true profiling.profile_step_start=10 "
                     "profiling.profile_step_end=12";
    draft.program = "\"${MEGATRON_BRIDGE:-.}/scripts/training/run_recipe.py\"";
}

} // namespace trainyard::launch
