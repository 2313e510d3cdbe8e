// SPDX-License-Identifier: GPL-3.0-or-later
// YAML of settings: maps in maps by their indentation, one scalar a line. Lists and texts of several lines hold nothing
// that a plan is made of.
#include "core/runs/telemetry/readers/command_options.h"
#include "core/runs/telemetry/readers/reading_bounds_internal.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/shell_script.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/readers/training_script.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostYamlNesting = 64;

struct YamlEntry {
    std::size_t indent = 0;
    std::string_view key, value; // without quotes around the key
};

/// Where the comment of a line begins: a '#' at its start or behind a blank, outside quotes.
std::string_view withoutYamlComment(std::string_view line)
{
    char quote = '\0';
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if ((c == '"' || c == '\'') && i > 0 && (line[i - 1] == ' ' || line[i - 1] == ':'))
            quote = c;
        else if (c == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t'))
            return line.substr(0, i);
    }
    return line;
}

bool entryOf(std::string_view line, YamlEntry &entry)
{
    line = withoutYamlComment(line);
    entry.indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view text = trimmed(line);
    if (text.empty() || text.starts_with("- ") || text == "-" || text.starts_with("---"))
        return false;
    std::size_t colon = text.find(": ");
    if (colon == text.npos && text.ends_with(':'))
        colon = text.size() - 1;
    if (colon == text.npos || colon == 0 || colon > 200)
        return false;
    entry.key = trimmed(text.substr(0, colon));
    if (entry.key.size() > 2 && (entry.key[0] == '"' || entry.key[0] == '\'') && entry.key.back() == entry.key[0])
        entry.key = entry.key.substr(1, entry.key.size() - 2);
    entry.value = trimmed(text.substr(colon + 1));
    return true;
}

template <class Take> void walkEntries(std::string_view text, Take take)
{
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        YamlEntry entry;
        if (entryOf(line, entry))
            take(entry, end == text.size());
        at = end + 1;
    }
}

/// Sections whose names say nothing: what is in them is called as Megatron calls it.
bool isTransparent(std::string_view section)
{
    return section == "MODEL_ARGS" || section == "language_model" || section == "model_parallel"
        || section == "megatron" || section == "args";
}

} // namespace

int looksLikeTrainingYaml(std::string_view, std::string_view head)
{
    if (trimmedStart(head).starts_with('{') || head.starts_with("#!"))
        return 0;
    bool hasArguments = false;
    int trainings = 0;
    walkEntries(head, [&](const YamlEntry &entry, bool) {
        hasArguments = hasArguments || (entry.indent == 0 && entry.key == "MODEL_ARGS" && entry.value.empty());
        trainings += isOfTraining(argumentName(entry.key)) ? 1 : 0;
    });
    return hasArguments ? 96 : trainings >= 3 ? 72 : 0;
}

Expected<Recording> readTrainingYaml(const SourceText &source, const SourceOptions &)
{
    if (source.text.size() > kMostSettingsText)
        return std::unexpected(Error { ErrorCode::BadSyntax, source.file,
            "It looks like YAML of a training's arguments, but is longer than 4 MiB", "" });
    Recording recording = recordingOf(source, SourceKind::MegatronArguments);
    RecordedSource &made = recording.sources.front();
    CommandOptions all;
    ShellScript variables;
    struct Section {
        std::size_t indent;
        std::string name;
    };
    std::vector<Section> open;
    walkEntries(source.text, [&](const YamlEntry &entry, bool isLast) {
        while (!open.empty() && open.back().indent >= entry.indent)
            open.pop_back();
        const bool isMap = entry.value.empty() || entry.value.starts_with('&');
        if (isMap) {
            if (open.size() < kMostYamlNesting)
                open.push_back({ entry.indent, std::string(entry.key) });
            return;
        }
        if (isLast && !source.text.ends_with('\n') && source.isTruncated)
            return;
        const std::string_view section = open.empty() ? std::string_view() : std::string_view(open[0].name);
        if (section == "ENV_VARS") {
            variables.set(std::string(entry.key), argumentValue(entry.value));
            return;
        }
        std::string name;
        for (const Section &one : open)
            if (!isTransparent(one.name))
                name += one.name + ".";
        name += entry.key;
        std::string value = argumentValue(entry.value);
        if (value.find('$') != value.npos)
            value = variables.expanded(value);
        if (value.starts_with('|') || value.starts_with('>') || value == "null" || value == "~")
            return;
        all.add(argumentName(name), std::move(value));
    });
    if (all.arguments.empty())
        return std::unexpected(Error {
            ErrorCode::BadSyntax, source.file, "It looks like YAML of a training's arguments, but tells none", "" });
    drop(made, "values of variables that another file sets", all.unknown);
    made.taken = std::ssize(all.arguments);
    recording.arguments = std::move(all.arguments);
    return recording;
}

} // namespace trainyard::readers
