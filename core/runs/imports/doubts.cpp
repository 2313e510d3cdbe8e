// SPDX-License-Identifier: GPL-3.0-or-later
// Every setting of a source is used, known to be without effect, or not understood. What is not understood and can
// change work, memory or shape is told with the plan; where the shape itself is in doubt no plan is made.
#include "core/base/printable.h"
#include "core/runs/imports/draft.h"
#include "core/runs/imports/megatron_arguments.h"
#include "core/runs/telemetry/argument_names.h"

#include <algorithm>
#include <array>

namespace trainyard::imports {

namespace {

/// What hangs on a condition of a script.
void takeConditions(Draft &draft)
{
    for (const std::string &name : draft.arguments.namesBehind(kInDoubt)) {
        const std::string text = shortened(draft.arguments.text(std::string(kInDoubt) + name).value_or(""), 300);
        const bool isOfPlan = megatronArgument(name) || name == "world_size" || name == "nnodes"
            || name == "nproc_per_node" || name.starts_with("parallelism.") || name.starts_with("training.");
        if (tellsShape(name))
            draft.bad(name, "is " + text, "a script that tells which of them it is");
        else if (isOfPlan)
            draft.doubtWidely(draft.arguments.said(name), "is " + text, Weight::Work);
    }
}

void takeNotUnderstood(Draft &draft, const std::string &key, const std::string &value, const std::string &trainer)
{
    const std::string setting = shortened(key) + " = " + shortened(value);
    if (isOfShape(key))
        draft.errors.push_back({ ErrorCode::BadValue, shortened(key),
            "is " + shortened(value) + ", which " + trainer + " makes a model of that no plan can express yet",
            "a model whose layers are all alike but for experts" });
    else if (const Weight weight = weightOf(key); weight != Weight::Unknown)
        draft.doubtWidely(setting,
            weight == Weight::Shape ? "is not understood, and by its name it changes the model"
                                    : "is not understood, and by its name it changes work or memory",
            weight);
    else
        draft.doubt(setting, "is not understood: if it changes work, memory or shape, the plan does not have it",
            Weight::Unknown);
}

/// Of trainings that make samples and learn from them (slime, verl): options of how they are made and weighed.
bool isOfSamples(std::string_view name)
{
    static constexpr auto kStarts = std::to_array<std::string_view>({ "sglang_", "vllm_", "rollout_", "over_sampling_",
        "dynamic_sampling_", "n_samples_", "num_rollout", "num_steps_per_rollout", "advantage_", "eps_clip", "kl_",
        "use_kl_", "entropy_", "rm_type", "balance_data", "colocate", "reward_", "apply_chat_template" });
    return std::ranges::any_of(kStarts, [&](std::string_view start) { return name.starts_with(start); });
}

/// Of scripts and configurations for Megatron; what it prints of itself has all of its arguments.
void takeUnknownArguments(Draft &draft)
{
    const Recording &recording = draft.recording;
    const auto isScript = [&](std::uint32_t source) {
        const SourceKind kind =
            source < recording.sources.size() ? recording.sources[source].kind : SourceKind::Unknown;
        return kind == SourceKind::MegatronArguments || kind == SourceKind::PrimusConfig;
    };
    const auto isRecipe = [](std::string_view name) {
        return name == "recipe" || name == "model_recipe_name" || name == "factory";
    };
    const bool hasRecipe = draft.arguments.has("recipe"); // whose sections are its own
    const auto isBesideRecipe = [](std::string_view name) { return name == "mode" || name == "mixed_precision"; };
    const auto isUnknown = [&](const std::string &name, const std::string &value) {
        if (isRecipe(name) || (hasRecipe && isBesideRecipe(name)) || isOff(value) || name.starts_with(kInDoubt)
            || name.starts_with("primus.") || name.starts_with(kUntold) || name.starts_with(kOfScript))
            return false;
        if (name.find('.') != name.npos)
            return !hasRecipe && !(draft.arguments.isTorchtitan() && isTorchtitansSetting(name)) && !dialectOf(name)
                && (!isKnownToNemo(name) || isUnknownWord(name, value));
        return !isKnownToMegatron(name) || isUnknownWord(name, value);
    };
    std::string ofSamples;
    int more = 0;
    const auto take = [&](const std::map<std::string, std::string> &arguments) {
        for (const auto &[name, value] : arguments)
            if (isUnknown(name, value) && isOfSamples(name)) {
                more += ofSamples.empty() ? 0 : 1;
                ofSamples = ofSamples.empty() ? shortened(flagOf(name)) : ofSamples;
            } else if (isUnknown(name, value)) {
                takeNotUnderstood(draft, name, value, megatronsName(draft));
            }
    };
    if (recording.argumentsOf.empty() && isScript(0))
        take(recording.arguments);
    for (const SourceArguments &told : recording.argumentsOf)
        if (isScript(told.source))
            take(told.arguments);
    if (!ofSamples.empty())
        draft.doubt(ofSamples + (more > 0 ? " and " + std::to_string(more) + " more" : std::string()),
            "speak of samples that the training makes itself between its steps: the plan has the steps alone",
            Weight::Shape);
}

} // namespace

void takeDoubts(Draft &draft)
{
    for (const auto &[source, why] : draft.arguments.conflicts())
        draft.doubt(source, why);
    takeConditions(draft);
    takeProgram(draft);
    takeUntold(draft);
    for (const Translation &translation : draft.arguments.translations()) {
        for (const auto &[key, why] : translation.refused)
            draft.errors.push_back({ ErrorCode::BadValue,
                shortened(key) + (translation.source.empty() ? "" : " (" + translation.source + ")"), why,
                "full training of a model by the loss of the next token" });
        for (const auto &[key, value] : translation.notUnderstood)
            takeNotUnderstood(draft, key, value, translation.dialect->trainer);
    }
    if (draft.arguments.isTorchtitan())
        for (const auto &[key, value] : notUnderstoodOfTorchtitan(draft.recording))
            takeNotUnderstood(draft, key, value, "torchtitan");
    if ((draft.arguments.isMegatron() || draft.arguments.has("recipe")) && draft.arguments.translations().empty())
        takeUnknownArguments(draft);
}

} // namespace trainyard::imports
