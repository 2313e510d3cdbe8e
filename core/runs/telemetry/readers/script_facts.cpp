// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/script_facts.h"

#include "core/runs/telemetry/argument_names.h"
#include "core/runs/telemetry/readers/reading_bounds_internal.h"
#include "core/runs/telemetry/readers/settings_tree.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostListsNamed = 8;

bool isWholeNumber(std::string_view text)
{
    return !text.empty() && text.size() < 10 && std::ranges::all_of(text, isDigit);
}

/// GPT-2 as transformers has it where nothing changes it (configuration_gpt2.py), changed.
std::string gpt2Config(const std::map<std::string, std::string> &changes)
{
    static constexpr std::array<std::array<const char *, 2>, 6> kDefaults { { { "n_embd", "768" }, { "n_head", "12" },
        { "n_layer", "12" }, { "n_positions", "1024" }, { "vocab_size", "50257" }, { "n_inner", "" } } };
    std::string text = "{\"model_type\": \"gpt2\", \"activation_function\": \"gelu_new\", \"attn_pdrop\": 0.1, "
                       "\"embd_pdrop\": 0.1, \"resid_pdrop\": 0.1, \"tie_word_embeddings\": true";
    for (const auto &[name, own] : kDefaults) {
        const auto change = changes.find(name);
        const std::string value = change != changes.end() ? change->second : own;
        if (!value.empty())
            text += ", \"" + std::string(name) + "\": " + value;
    }
    return text + "}";
}

std::string joinedWords(const std::vector<std::string> &words)
{
    std::string text;
    for (std::size_t i = 0; i < words.size() && i < kMostListsNamed; ++i)
        if (std::find(words.begin(), words.begin() + std::ptrdiff_t(i), words[i]) == words.begin() + std::ptrdiff_t(i))
            text += (text.empty() ? "" : ", ") + words[i];
    return text.substr(0, kLongestArgumentValue);
}

} // namespace

void addWrittenConfig(ShellScript &script, CommandOptions &options, bool isOfTrainer)
{
    const bool isAsked = options.arguments.contains("deepspeed") || options.untold.contains("deepspeed");
    if (!isAsked)
        return;
    for (const std::string &document : script.documents()) {
        if (!trimmed(document).starts_with('{') || document.find("\"zero_optimization\"") == document.npos)
            continue;
        const auto tree = yamlSettings(script.expanded(document));
        if (!tree)
            continue;
        const std::string stage(tree->root.textOf("zero_optimization.stage"));
        if (!isOfTrainer && !stage.empty() && !isUnknown(stage))
            options.add("zero_stage", stage);
        if (isOfTrainer)
            walkSettings(tree->root, [&](const std::string &path, const SettingsNode &node) {
                if (!node.isNull() && options.arguments.size() < kMostArguments)
                    options.arguments.try_emplace("ds_config." + path.substr(0, kLongestArgumentName), node.value());
            });
        return;
    }
}

void addOverriddenModel(CommandOptions &options, Recording &recording)
{
    const auto told = options.arguments.find("config_overrides");
    if (told == options.arguments.end())
        return;
    const auto of = [&](const char *name) {
        const auto at = options.arguments.find(name);
        return at == options.arguments.end() ? std::string() : at->second;
    };
    if (of("model_type") != "gpt2" && of("config_name") != "gpt2")
        return;
    std::map<std::string, std::string> changes;
    std::string_view rest = told->second;
    while (!rest.empty()) {
        const std::string_view one = trimmed(rest.substr(0, rest.find(',')));
        rest.remove_prefix(std::min(rest.size(), rest.find(',') == rest.npos ? rest.size() : rest.find(',') + 1));
        const std::size_t equals = one.find('=');
        if (equals == one.npos)
            return;
        const std::string name(one.substr(0, equals)), value = argumentValue(one.substr(equals + 1));
        const bool isOfShape = name.starts_with("n_") || name == "vocab_size";
        if (isOfShape && !isWholeNumber(value))
            return;
        if (isOfShape)
            changes[name] = value;
        else if (name == "gradient_checkpointing")
            options.add(name, value);
        else if (name != "use_cache")
            options.add("config_overrides." + name, value);
    }
    // run_clm.py's blocks are at most 1,024 tokens, and no longer than GPT-2 takes, unless it is told.
    const std::string positions = changes.contains("n_positions") ? changes["n_positions"] : "1024";
    options.add("block_size", std::stol(positions) < 1024 ? positions : "1024");
    options.add("packing", "True"); // it joins texts into blocks
    for (const char *taken : { "config_overrides", "model_type", "config_name" })
        options.arguments.erase(taken);
    recording.models.push_back({ "GPT-2 of " + (changes.contains("n_layer") ? changes["n_layer"] : "12") + " layers of "
            + (changes.contains("n_embd") ? changes["n_embd"] : "768"),
        gpt2Config(changes), 0 });
}

void addFirstMegatrons(CommandOptions &options)
{
    std::map<std::string, std::string> &told = options.arguments;
    if (!options.program.starts_with("pretrain_gpt") || !told.contains("num_layers")
        || told.contains("micro_batch_size"))
        return;
    const auto batch = told.find("batch_size");
    if (batch == told.end())
        return;
    options.set("micro_batch_size", std::string(batch->second));
    told.erase("batch_size");
    if (!told.contains("global_batch_size"))
        options.add("gradient_accumulation_steps", "1");
}

void tellUntold(CommandOptions &options)
{
    for (const auto &[name, by] : options.untold)
        if (!options.arguments.contains(name) && options.arguments.size() < kMostArguments)
            options.arguments.emplace(std::string(kUntold) + name, by);
}

void tellFacts(const ShellScript &script, CommandOptions &options, bool isPart)
{
    tellUntold(options);
    const auto tell = [&](const char *name, std::string value) {
        if (!value.empty() && !isUnknown(value))
            options.arguments.insert_or_assign(std::string(kOfScript) + name, std::move(value));
    };
    tell("program", options.program.substr(0, kLongestArgumentValue));
    tell("words", joinedWords(options.lists));
    tell("sourced", joinedWords(script.others()));
    if (isPart)
        tell("is_part", "True");
}

} // namespace trainyard::readers
