// SPDX-License-Identifier: GPL-3.0-or-later
// config.yaml of a wandb run: "key:", below it "value: …" or a map two blanks deeper. No YAML beyond that is needed.
#include "core/runs/telemetry/readers/reading_bounds_internal.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/readers/wandb_file.h"

namespace trainyard::readers {

namespace {

std::string_view yamlUnquoted(std::string_view text)
{
    text = trimmed(text);
    const bool isQuoted = text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
    return isQuoted ? text.substr(1, text.size() - 2) : text;
}

} // namespace

int looksLikeWandbConfig(std::string_view, std::string_view head)
{
    const bool hasVersion = head.starts_with("wandb_version:") || head.find("\nwandb_version:") != head.npos;
    const bool hasOwn = head.starts_with("_wandb:") || head.find("\n_wandb:") != head.npos;
    return (hasVersion || hasOwn) && head.find("\n  ") != head.npos && head.find(" value:") != head.npos ? 92 : 0;
}

Expected<Recording> readWandbConfig(const SourceText &source, const SourceOptions &)
{
    Recording recording = recordingOf(source, SourceKind::WandbFile);
    RecordedSource &made = recording.sources.front();
    std::string key;
    bool isInValue = false;
    TextLines lines(source.text);
    for (TextLine line; lines.next(line);) {
        made.isTruncated = made.isTruncated || line.isOpen;
        const std::string_view text = trimmed(line.text);
        const std::size_t indent = line.text.find_first_not_of(' ');
        const std::size_t colon = text.find(':');
        if (text.starts_with('#') || colon == text.npos || colon > 200 || line.isOpen
            || recording.arguments.size() >= kMostArguments)
            continue;
        const std::string_view name = yamlUnquoted(text.substr(0, colon)), value = yamlUnquoted(text.substr(colon + 1));
        if (indent == 0) {
            key = name;
            isInValue = false;
        } else if (indent <= 2) {
            isInValue = name == "value";
        }
        if (key.starts_with("_wandb") || key == "wandb_version" || indent == 0 || !isInValue || value.empty())
            continue;
        recording.arguments[indent <= 2 ? key : key + "." + std::string(name)] = value.substr(0, 20000);
        ++made.taken;
    }
    return recording;
}

} // namespace trainyard::readers
