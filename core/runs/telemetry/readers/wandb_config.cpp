// SPDX-License-Identifier: GPL-3.0-or-later
// config.yaml of a wandb run: "key:", below it "value: …" or a map two blanks deeper.
#include "core/runs/telemetry/readers/reading_bounds_internal.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/settings_tree.h"
#include "core/runs/telemetry/readers/wandb_file.h"

namespace trainyard::readers {

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
    const auto tree = yamlSettings(source.text, source.file);
    if (!tree)
        return std::unexpected(tree.error());
    made.isTruncated = made.isTruncated || tree->cutAt > 0;
    for (const SettingsNode &one : tree->root.below) {
        const SettingsNode *value = one.find("value");
        if (!value || one.key.starts_with("_wandb"))
            continue;
        walkSettings(*value, [&](const std::string &path, const SettingsNode &node) {
            if (node.isNull() || recording.arguments.size() >= kMostArguments)
                return;
            recording.arguments[one.key + (path.empty() ? "" : "." + path)] =
                node.value().substr(0, kLongestArgumentValue);
            ++made.taken;
        });
    }
    return recording;
}

} // namespace trainyard::readers
