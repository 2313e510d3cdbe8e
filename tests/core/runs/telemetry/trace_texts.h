#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of a profiler as tests write them, and reading a text as if it were a file.

#include "core/runs/telemetry/read_sources.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace trainyard::testing {

/// Reads the text by the surest reader, as readSource() would.
inline Expected<Recording> readText(const std::string &file, std::string text, const SourceOptions &options = {})
{
    const SourceReader *reader = readerFor(file, std::string_view(text).substr(0, 64 << 10));
    if (!reader)
        return std::unexpected(Error { ErrorCode::BadSyntax, file, "nobody knows it", "" });
    SourceText source;
    source.file = file;
    source.packedBytes = static_cast<std::int64_t>(text.size());
    const std::size_t size = text.size();
    text.append(kSourcePadding, '\0');
    source.text = std::string_view(text).substr(0, size);
    return reader->read(source, options);
}

inline std::string trace(
    const std::vector<std::string> &events, const std::string &before = {}, const std::string &behind = {})
{
    std::string text = "{\"schemaVersion\": 1,\n" + before + "\"traceEvents\": [\n";
    for (std::size_t i = 0; i < events.size(); ++i)
        text += (i > 0 ? ",\n" : "") + events[i];
    return text + "\n]" + behind + "}\n";
}

inline std::string span(const std::string &category, const std::string &name, const std::string &start,
    const std::string &duration, const std::string &arguments = {}, const std::string &thread = "7")
{
    return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name + R"(", "pid": 0, "tid": )" + thread
        + R"(, "ts": )" + start + R"(, "dur": )" + duration + R"(, "args": {)" + arguments + "}}";
}

inline std::string kernel(const std::string &name, const std::string &start, const std::string &duration,
    const std::string &correlation, const std::string &more = {})
{
    return span("kernel", name, start, duration,
        R"("device": 0, "stream": 7, "correlation": )" + correlation + (more.empty() ? "" : ", " + more));
}

inline std::string call(const std::string &start, const std::string &correlation)
{
    return span("cuda_runtime", "cudaLaunchKernel", start, "5", R"("correlation": )" + correlation, "1");
}

/// Of the first rank; nullptr where it is not there.
inline const RecordedStream *gpuStream(const Recording &recording, std::int64_t stream)
{
    for (const RecordedStream &one : recording.ranks.front().streams)
        if (one.isGpu && one.stream == stream && one.label.empty())
            return &one;
    return nullptr;
}

inline std::int64_t droppedOf(const Recording &recording, std::string_view reason)
{
    for (const Dropped &dropped : recording.sources.front().dropped)
        if (dropped.reason.find(reason) != std::string::npos)
            return dropped.count;
    return 0;
}

inline bool hasShared()
{
    return std::system("test -d " TRAINYARD_SHARED_DIR "/traces") == 0;
}

} // namespace trainyard::testing
