// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/command_options.h"
#include "core/runs/telemetry/readers/reading_bounds_internal.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/readers/training_script.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

constexpr std::size_t kLongestList = 20000;

std::string_view withoutTomlComment(std::string_view line)
{
    char quote = '\0';
    for (std::size_t i = 0; i < line.size(); ++i)
        if (quote != '\0')
            quote = line[i] == quote ? '\0' : quote;
        else if (line[i] == '"' || line[i] == '\'')
            quote = line[i];
        else if (line[i] == '#')
            return line.substr(0, i);
    return line;
}

/// Lines without comments, those of a list joined.
template <class Take> void walkLines(std::string_view text, Take take)
{
    std::string joined;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = trimmed(withoutTomlComment(text.substr(at, end - at)));
        at = end + 1;
        if (joined.empty() && line.find('=') != line.npos && line.find('[') != line.npos && line.find(']') == line.npos)
            joined = line;
        else if (!joined.empty())
            joined += std::string(" ") + std::string(line);
        else if (!line.empty())
            take(line);
        if (joined.find(']') != joined.npos || joined.size() > kLongestList) {
            take(std::string_view(joined));
            joined.clear();
        }
    }
}

/// 1_000 is 1000.
std::string scalar(std::string_view text)
{
    std::string value = argumentValue(text);
    if (!text.empty() && (isDigit(text[0]) || text[0] == '-' || text[0] == '+'))
        std::erase(value, '_');
    return value;
}

} // namespace

int looksLikeTorchtitanToml(std::string_view, std::string_view head)
{
    static constexpr std::array<std::string_view, 8> kKeys { "seq_len", "local_batch_size", "batch_size",
        "tensor_parallel_degree", "pipeline_parallel_degree", "data_parallel_shard_degree",
        "data_parallel_replicate_degree", "context_parallel_degree" };
    if (head.find("[training]") == head.npos && head.find("[parallelism]") == head.npos
        && head.find("[experimental]") == head.npos)
        return 0;
    int keys = 0;
    bool hasSection = false;
    walkLines(head, [&](std::string_view line) {
        hasSection = hasSection || line == "[training]" || line == "[parallelism]";
        const std::string_view key = trimmed(line.substr(0, line.find('=')));
        keys += std::ranges::find(kKeys, key) != kKeys.end() ? 1 : 0;
    });
    return hasSection && keys > 0 ? 95 : 0;
}

Expected<Recording> readTorchtitanToml(const SourceText &source, const SourceOptions &)
{
    if (source.text.size() > kMostSettingsText)
        return std::unexpected(Error { ErrorCode::BadSyntax, source.file,
            "It looks like a torchtitan configuration, but is longer than 4 MiB", "" });
    Recording recording = recordingOf(source, SourceKind::TorchtitanToml);
    RecordedSource &made = recording.sources.front();
    CommandOptions all;
    std::string section;
    walkLines(source.text, [&](std::string_view line) {
        if (line.starts_with('[')) {
            const std::size_t end = line.find(']');
            section = end == line.npos ? "" : argumentName(trimmed(line.substr(1, end - 1)));
            return;
        }
        const std::size_t equals = line.find('=');
        const std::string_view value = equals == line.npos ? std::string_view() : trimmed(line.substr(equals + 1));
        const std::string name = equals == line.npos ? "" : argumentName(trimmed(line.substr(0, equals)));
        if (name.empty() || value.empty())
            return drop(made, "lines that are no setting");
        all.add((section.empty() ? "" : section + ".") + name, scalar(value));
    });
    if (all.arguments.empty())
        return std::unexpected(Error {
            ErrorCode::BadSyntax, source.file, "It looks like a torchtitan configuration, but sets nothing", "" });
    made.taken = std::ssize(all.arguments);
    recording.arguments = std::move(all.arguments);
    return recording;
}

} // namespace trainyard::readers
