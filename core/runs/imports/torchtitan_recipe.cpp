// SPDX-License-Identifier: GPL-3.0-or-later
// torchtitan since 2026: batches are told in tokens, and a function of Python, named by --config, says the rest. What
// its name tells is read: torchtitan's own are called llama3_70b and deepseek_v3_671b_float8, those that export writes
// llama_3_1_405b_mxfp8_full_ac, by the catalogue's model.
#include "core/facts/plan/enum_names.h"
#include "core/runs/imports/draft.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::imports {

namespace {

constexpr const char *kTokensOfStep = "training.num_tokens_per_train_step",
                     *kTokensOfMicroBatch = "training.num_tokens_per_microbatch_per_dp_rank",
                     *kLength = "training.max_context_length";

std::string identifier(std::string_view id)
{
    std::string name(id);
    std::ranges::replace_if(
        name, [](char c) { return c == '-' || c == '.'; }, '_');
    return name;
}

bool startsWithName(std::string_view text, std::string_view name)
{
    return text.starts_with(name) && (text.size() == name.size() || text[name.size()] == '_');
}

void takeRecipeBatch(Draft &draft)
{
    WorkloadSpec &w = draft.plan.workload;
    if (const auto length = draft.whole(kLength, 1, 100'000'000)) {
        w.sequenceLength = *length;
        draft.take("workload.sequence_length", std::to_string(*length), kLength);
    }
    const auto sequences = [&](const char *name) -> std::optional<double> {
        const auto tokens = draft.number(name);
        const double count = tokens ? *tokens / w.sequenceLength : 0;
        if (!tokens || count < 1 || count > 1e7 || count != std::floor(count)) {
            if (tokens && *tokens > 0)
                draft.assume(draft.arguments.said(name) + " is no whole number of sequences of "
                    + std::to_string(w.sequenceLength) + " tokens: the plan's own batch stays");
            return std::nullopt;
        }
        return count;
    };
    if (const auto count = sequences(kTokensOfMicroBatch)) {
        w.microBatch = static_cast<int>(*count);
        draft.take("workload.micro_batch", std::to_string(w.microBatch), kTokensOfMicroBatch);
    }
    if (const auto count = sequences(kTokensOfStep)) {
        w.globalBatch = static_cast<int>(*count);
        draft.take("workload.global_batch", std::to_string(w.globalBatch), kTokensOfStep);
    }
    const auto tokens = draft.number(kTokensOfStep);
    if (const auto steps = draft.number("training.steps"); steps && tokens && *steps >= 1 && *tokens >= 1) {
        if (const double all = *steps * *tokens; all < 1e18) {
            w.trainingTokens = all;
            draft.take("workload.training_tokens", std::to_string(std::llround(all)), "training.steps");
        }
    }
}

} // namespace

void takeTorchtitanMemory(Draft &draft)
{
    MemoryStrategy &memory = draft.plan.memory;
    memory.activationOffload = ActivationOffload::None;
    const bool isOff = draft.arguments.isOn("training.enable_cpu_offload");
    memory.optimizerOffload = isOff ? OptimizerOffload::Host : OptimizerOffload::None;
    memory.parameterOffload = isOff ? ParameterOffload::Host : ParameterOffload::None;
    if (isOff)
        draft.take("memory.parameter_offload and memory.optimizer_offload", "host", "training.enable_cpu_offload");
    const auto reshard = draft.arguments.text("parallelism.fsdp_reshard_after_forward");
    if (int &stage = draft.plan.parallelism.zeroStage; stage == 3 && reshard == "never") {
        stage = 2;
        draft.take("parallelism.zero_stage", "2", "parallelism.fsdp_reshard_after_forward");
    }
    if (draft.arguments.isOn("parallelism.no_enable_sequence_parallel")) {
        draft.plan.parallelism.sequenceParallel = false;
        draft.take("parallelism.sequence_parallel", "false", "parallelism.no-enable_sequence_parallel");
    }
}

namespace {

void takeName(Draft &draft)
{
    const std::string name = draft.arguments.text("config").value_or("");
    const auto has = [&](std::string_view part) {
        const std::size_t at = name.find(part);
        return at != name.npos && (at + part.size() == name.size() || name[at + part.size()] == '_');
    };
    Precision &precision = draft.plan.workload.precision;
    const Precision before = precision;
    precision = has("_float8") ? Precision::Fp8
        : has("_mxfp8")        ? Precision::Mxfp8
        : has("_nvfp4")        ? Precision::Nvfp4
                               : precision;
    if (precision != before)
        draft.take("workload.precision", toString(precision), "config");
    if (has("_zero1")) { // its shards are gathered and reduced once a step
        draft.plan.parallelism.zeroStage = 1;
        draft.take("parallelism.zero_stage", "1", "config");
    }
    Recompute &recompute = draft.plan.memory.recompute;
    for (const auto &[part, what] : { std::pair("_full_ac", Recompute::Full), std::pair("_no_ac", Recompute::None),
             std::pair("_selective_ac", Recompute::Selective) })
        if (has(part)) {
            recompute = what;
            draft.take("memory.recompute", toString(recompute), "config");
        }
}

} // namespace

std::optional<TitanFlavor> flavorOfRecipe(const Draft &draft)
{
    const std::string config = draft.arguments.text("config").value_or("").substr(0, 200);
    const ModelSpec *known = nullptr; // the longest name
    for (const ModelSpec &model : draft.catalogue.models)
        if (startsWithName(config, identifier(model.id)) && (!known || model.id.size() > known->id.size()))
            known = &model;
    if (known)
        return TitanFlavor { known->id, {}, {} };
    for (const std::string_view family : { "llama3", "llama4", "deepseek_v3", "qwen3", "gpt_oss" }) {
        if (!startsWithName(config, family) || config.size() <= family.size() + 1)
            continue;
        std::string flavor;
        for (std::size_t at = family.size() + 1; at < config.size();) {
            const std::size_t end = std::min(config.find('_', at), config.size());
            const std::string word = config.substr(at, end - at);
            const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
            const bool isActive = !flavor.empty() && word.size() > 1 && word[0] == 'a' && isDigit(word[1]);
            const bool isFraction = !flavor.empty() && std::ranges::all_of(flavor, isDigit);
            if (!flavor.empty() && !isActive && !isFraction)
                break;
            flavor += (isActive ? "-" : isFraction ? "." : "") + word;
            at = end + 1;
        }
        return TitanFlavor { {}, std::string(family), flavor };
    }
    return std::nullopt;
}

void takeTorchtitanRecipe(Draft &draft)
{
    if (!draft.arguments.has(kTokensOfStep) && !draft.arguments.has(kTokensOfMicroBatch))
        return;
    takeRecipeBatch(draft);
    takeName(draft);
}

} // namespace trainyard::imports
