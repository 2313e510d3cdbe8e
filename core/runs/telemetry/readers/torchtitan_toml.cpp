// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/command_options.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/settings_tree.h"
#include "core/runs/telemetry/readers/training_script.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

int looksLikeTorchtitanToml(std::string_view, std::string_view head)
{
    static constexpr std::array<std::string_view, 8> kKeys { "seq_len", "local_batch_size", "batch_size",
        "tensor_parallel_degree", "pipeline_parallel_degree", "data_parallel_shard_degree",
        "data_parallel_replicate_degree", "context_parallel_degree" };
    if (head.find("[training]") == head.npos && head.find("[parallelism]") == head.npos
        && head.find("[experimental]") == head.npos)
        return 0;
    const auto tree = tomlSettings(head);
    if (!tree)
        return 0;
    const auto hasKey = [&](const char *section) {
        const SettingsNode *node = tree->root.find(section);
        return node && std::ranges::any_of(kKeys, [&](std::string_view key) { return node->find(key); });
    };
    return hasKey("training") || hasKey("parallelism") || hasKey("experimental") ? 95 : 0;
}

Expected<Recording> readTorchtitanToml(const SourceText &source, const SourceOptions &)
{
    const auto tree = tomlSettings(source.text, source.file);
    if (!tree)
        return std::unexpected(tree.error());
    Recording recording = recordingOf(source, SourceKind::TorchtitanToml);
    RecordedSource &made = recording.sources.front();
    made.isTruncated = made.isTruncated || tree->cutAt > 0;
    CommandOptions all;
    walkSettings(tree->root,
        [&](const std::string &path, const SettingsNode &node) { all.add(argumentName(path), node.value()); });
    if (all.arguments.empty())
        return std::unexpected(Error {
            ErrorCode::BadSyntax, source.file, "It looks like a torchtitan configuration, but sets nothing", "" });
    made.taken = std::ssize(all.arguments);
    recording.arguments = std::move(all.arguments);
    return recording;
}

} // namespace trainyard::readers
