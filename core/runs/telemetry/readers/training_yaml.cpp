// SPDX-License-Identifier: GPL-3.0-or-later
// YAML of Megatron's arguments: of Megatron-MoE-ModelZoo, --yaml-cfg and NeMo.
#include "core/runs/telemetry/readers/command_options.h"
#include "core/runs/telemetry/readers/script_facts.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/settings_tree.h"
#include "core/runs/telemetry/readers/shell_script.h"
#include "core/runs/telemetry/readers/training_script.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

/// Sections whose names say nothing: what is in them is called as Megatron calls it.
bool isTransparent(std::string_view section)
{
    return section == "MODEL_ARGS" || section == "language_model" || section == "model_parallel"
        || section == "megatron" || section == "args";
}

} // namespace

int looksLikeTrainingYaml(std::string_view, std::string_view head)
{
    if (!mayBeYaml(head))
        return 0;
    const auto tree = yamlSettings(head);
    if (!tree)
        return 0;
    const SettingsNode *arguments = tree->root.find("MODEL_ARGS");
    int trainings = 0;
    walkSettings(tree->root, [&](const std::string &path, const SettingsNode &) {
        trainings += isOfTraining(argumentName(path.substr(path.rfind('.') + 1))) ? 1 : 0;
    });
    return arguments && arguments->isMap() ? 96 : trainings >= 3 ? 72 : 0;
}

namespace {

CommandOptions argumentsIn(const SettingsTree &tree)
{
    CommandOptions all;
    ShellScript variables;
    walkSettings(tree.root, [&](const std::string &path, const SettingsNode &node) {
        std::string value = node.value();
        if (path.starts_with("ENV_VARS."))
            return variables.set(path.substr(9), std::move(value));
        if (value.find('$') != value.npos)
            value = variables.expanded(value);
        std::string name;
        for (std::size_t at = 0; at < path.size();) {
            const std::size_t end = std::min(path.find('.', at), path.size());
            if (end == path.size() || !isTransparent(path.substr(at, end - at)))
                name += (name.empty() ? "" : ".") + path.substr(at, end - at);
            at = end + 1;
        }
        if (!node.isNull())
            all.add(argumentName(name), std::move(value));
    });
    return all;
}

} // namespace

Expected<CommandOptions> argumentsOfYaml(std::string_view text, const std::string &file)
{
    const auto tree = yamlSettings(text, file);
    if (!tree)
        return std::unexpected(tree.error());
    return argumentsIn(*tree);
}

Expected<Recording> readTrainingYaml(const SourceText &source, const SourceOptions &)
{
    const auto tree = yamlSettings(source.text, source.file);
    if (!tree)
        return std::unexpected(tree.error());
    Recording recording = recordingOf(source, SourceKind::MegatronArguments);
    RecordedSource &made = recording.sources.front();
    made.isTruncated = made.isTruncated || tree->cutAt > 0;
    CommandOptions all = argumentsIn(*tree);
    if (all.arguments.empty())
        return std::unexpected(Error {
            ErrorCode::BadSyntax, source.file, "It looks like YAML of a training's arguments, but tells none", "" });
    drop(made, "values of variables that another file sets", all.unknown);
    tellUntold(all);
    made.taken = std::ssize(all.arguments);
    recording.arguments = std::move(all.arguments);
    return recording;
}

} // namespace trainyard::readers
