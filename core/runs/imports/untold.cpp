// SPDX-License-Identifier: GPL-3.0-or-later
// Options whose values a script does not tell: Megatron's defaults are not what it runs with. Where the shape hangs on
// one no plan is made; of the others each is told with the plan, but for those that change nothing.
#include "core/base/printable.h"
#include "core/runs/imports/draft.h"
#include "core/runs/imports/megatron_arguments.h"
#include "core/runs/telemetry/argument_names.h"

#include <algorithm>
#include <array>

namespace trainyard::imports {

namespace {

bool isSize(std::string_view name)
{
    static constexpr std::array<std::string_view, 5> kSizes { "world_size", "nnodes", "nproc_per_node",
        "tasks_per_node", "tasks" };
    return std::ranges::find(kSizes, name) != kSizes.end();
}

bool isSizeTold(const Draft &draft)
{
    return draft.arguments.has("world_size") || !draft.recording.nodes.empty()
        || (draft.arguments.has("nnodes") && draft.arguments.has("nproc_per_node"))
        || std::ranges::any_of(draft.recording.ranks, [](const RankRecording &rank) { return rank.worldSize > 0; });
}

/// Megatron's name of an option, whatever tells it; empty: it changes nothing.
std::string_view argumentOf(const std::string &option)
{
    const Dialect *dialect = dialectOf(option);
    if (!dialect)
        return megatronNameOf(option);
    const std::string_view key = std::string_view(option).substr(dialect->prefix.size());
    const DialectRule *rule = ruleOf(dialect->rules, key, "");
    rule = rule ? rule : ruleOf(dialect->shared, key, "");
    return !rule ? key : rule->name.starts_with('!') ? std::string_view("adapters") : rule->name;
}

bool isHarmless(const Draft &draft, std::string_view name)
{
    if (name.empty() || name.starts_with("launch.") || name == "deepspeed_file" || name == "launch_file")
        return name != "deepspeed_file" && name != "launch_file";
    if (name == "max_position_embeddings")
        return draft.arguments.text("position_embedding_type").value_or("") == "rope"
            || draft.arguments.isOn("use_rotary_position_embeddings");
    static constexpr std::array<std::string_view, 5> kRates { "train_iters", "train_samples", "adapters",
        "moe_router_topk", "tokenizer_model" };
    return std::ranges::find(kRates, name) == kRates.end() && !megatronArgument(name) && !tellsShape(name)
        && (isKnownToMegatron(name) || isKnownToNemo(name) || weightOf(name) == Weight::Unknown);
}

std::string optionOf(const Draft &draft, const std::string &option)
{
    const Dialect *dialect = dialectOf(option);
    const std::string key = dialect ? option.substr(dialect->prefix.size()) : option;
    const std::string source = draft.arguments.sourceOf(std::string(kUntold) + option);
    return shortened(key.find('.') == key.npos && (!dialect || dialect->prefix == "hf_trainer.") ? flagOf(key) : key)
        + (source.empty() ? "" : " (" + source + ")");
}

} // namespace

void takeUntold(Draft &draft)
{
    const Told &told = draft.arguments;
    for (const std::string &option : told.namesBehind(kUntold)) {
        const std::string by = shortened(told.text(std::string(kUntold) + option).value_or(""), 80);
        std::string trainers = option;
        const std::string_view name = argumentOf(dialectOf(option) || told.translations().empty()
                ? option
                : trainers = std::string(told.translations().front().dialect->prefix) + option);
        const std::string setting = optionOf(draft, option);
        if (told.has(name) || told.has(option))
            continue;
        if (isSize(name)) {
            if (!isSizeTold(draft) && draft.hasOwnPools)
                draft.doubt(setting, "is " + by + ", which is told by no source: the plan's own GPUs are counted");
        } else if (isHarmless(draft, name)) {
            continue; // its reader names it
        } else if (tellsShape(name)) {
            draft.errors.push_back({ ErrorCode::BadValue, setting,
                "is " + by + ", which the script does not tell, and the model's shape hangs on it",
                "a script that sets it, or the script that does beside it" });
        } else {
            draft.doubtWidely(setting,
                "is " + by + ", which the script does not tell: " + told.trainer() + "'s default stands in its place",
                weightOf(name));
        }
    }
    if (const auto words = told.text(std::string(kOfScript) + "words"))
        draft.doubtWidely(shortened(*words) + " (" + told.sourceOf(std::string(kOfScript) + "words") + ")",
            "stands among the options, and the script does not tell what it is: any options may be in it",
            Weight::Work);
    for (const std::string &sentence : told.parts())
        draft.assume(sentence);
}

} // namespace trainyard::imports
