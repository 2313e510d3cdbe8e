// SPDX-License-Identifier: GPL-3.0-or-later
// Every setting of a source is used, known to be without effect, or not understood. What is not understood and can
// change work, memory or shape is told with the plan; where the shape itself is in doubt no plan is made.
#include "core/base/printable.h"
#include "core/runs/imports/draft.h"
#include "core/runs/imports/megatron_arguments.h"

#include <algorithm>
#include <array>

namespace trainyard::imports {

namespace {

bool tellsShape(std::string_view name)
{
    static constexpr std::array<std::string_view, 9> kWords { "swiglu", "quick_geglu", "normalization",
        "untie_embeddings_and_output_weights", "multi_latent_attention", "moe_layer_freq", "position_embedding_type",
        "group_query_attention", "model_name" };
    return std::ranges::find(kWords, name) != kWords.end() || isOfShape(name)
        || std::ranges::any_of(megatronShapes(), [&](const MegatronShape &shape) { return name == shape.name; });
}

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
            draft.doubt(draft.arguments.said(name), "is " + text);
    }
}

void takeNotUnderstood(Draft &draft, const std::string &key, const std::string &value, const std::string &trainer)
{
    const std::string setting = shortened(key) + " = " + shortened(value);
    if (isOfShape(key))
        draft.errors.push_back({ ErrorCode::BadValue, shortened(key),
            "is " + shortened(value) + ", which " + trainer + " makes a model of that no plan can express yet",
            "a model whose layers are all alike but for experts" });
    else
        draft.doubt(setting, "is not understood: if it changes work, memory or shape, the plan does not have it");
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
            || name.starts_with("primus."))
            return false;
        if (name.find('.') != name.npos)
            return !hasRecipe && !(draft.arguments.isTorchtitan() && isTorchtitansSetting(name)) && !dialectOf(name)
                && (!isKnownToNemo(name) || isUnknownWord(name, value));
        return (!isKnownToMegatron(name) || isUnknownWord(name, value)) && !name.starts_with("hybrid_")
            && name != "is_hybrid_model";
    };
    const auto take = [&](const std::map<std::string, std::string> &arguments) {
        for (const auto &[name, value] : arguments)
            if (isUnknown(name, value))
                takeNotUnderstood(draft, name, value, "Megatron");
    };
    if (recording.argumentsOf.empty() && isScript(0))
        take(recording.arguments);
    for (const SourceArguments &told : recording.argumentsOf)
        if (isScript(told.source))
            take(told.arguments);
}

/// Layers by kind, whoever tells them: what Megatron prints of itself has other arguments of them at their defaults.
void refuseLayersByKind(Draft &draft)
{
    for (const char *name : { "hybrid_layer_pattern", "hybrid_override_pattern", "is_hybrid_model" })
        if (const auto pattern = draft.arguments.text(name); pattern && !isOff(*pattern))
            draft.bad(name, "is " + shortened(*pattern) + ": layers by their kind, which no plan can express yet",
                "a model whose layers are all alike but for experts");
}

} // namespace

void takeDoubts(Draft &draft)
{
    for (const auto &[source, why] : draft.arguments.conflicts())
        draft.doubt(source, why);
    takeConditions(draft);
    refuseLayersByKind(draft);
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
