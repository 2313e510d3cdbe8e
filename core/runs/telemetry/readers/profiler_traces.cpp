// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of PyTorch's profiler, and what lies beside them: Chakra and execution traces.
#include "core/runs/telemetry/readers.h"
#include "core/runs/telemetry/readers/chakra_internal.h"
#include "core/runs/telemetry/readers/kineto_collect_internal.h"
#include "core/runs/telemetry/readers/nsys_export.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

bool has(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

/// From its first byte that is no blank.
std::string_view fromFirst(std::string_view head)
{
    if (head.starts_with("\xef\xbb\xbf"))
        head.remove_prefix(3);
    return head.substr(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
}

int looksLikeKineto(std::string_view fileName, std::string_view head)
{
    head = fromFirst(head);
    const bool isNamed = has(fileName, ".pt.trace.json") || has(fileName, "_trace.json");
    if (head.starts_with('[')) {
        const std::string_view entry = fromFirst(head.substr(1));
        const bool hasEvents = entry.starts_with('{') && has(entry, "\"ph\"") && has(entry, "\"ts\"");
        return hasEvents && has(entry, "\"cat\"") ? 55 : hasEvents || (isNamed && entry.empty()) ? 35 : 0;
    }
    if (!head.starts_with('{'))
        return 0;
    if (has(head, "\"traceEvents\""))
        return 95;
    const bool hasSchema = has(head.substr(0, 4096), "\"schemaVersion\"");
    if (has(head, "\"deviceProperties\"") || has(head, "\"distributedInfo\"") || has(head, "\"baseTimeNanoseconds\""))
        return hasSchema ? 90 : 70;
    return hasSchema ? 40 : isNamed ? 20 : 0;
}

Expected<Recording> readKinetoStream(SourceStream &stream, const SourceOptions &options)
{
    Recording recording;
    RecordedSource &made = recording.sources.emplace_back();
    made.file = stream.file();
    made.kind = SourceKind::KinetoTrace;
    made.bytes = stream.packedBytes();
    readers::TraceCollector collector(recording, options);
    const readers::TraceScan scan = readers::scanTrace(stream, collector, [&](double share) {
        if (options.progress)
            options.progress(share);
        return !options.stop.stop_requested();
    });
    if (scan.isCancelled)
        return std::unexpected(Error { ErrorCode::Cancelled, stream.file(), "cancelled", "" });
    if (stream.failure())
        return std::unexpected(*stream.failure());
    made.isTruncated = stream.isTruncated() || scan.isTruncated;
    if (!scan.hasEvents && !made.isTruncated)
        return std::unexpected(Error { ErrorCode::BadSyntax, stream.file(),
            "It is written like a PyTorch profiler trace, but there is no list of events in it", "" });
    collector.finish();
    if (scan.broken > 0)
        made.dropped.push_back({ "stretches that are no JSON", scan.broken });
    if (scan.mended > 0)
        made.notes.push_back(std::to_string(scan.mended)
            + " of its events are no valid JSON (a quote or a control character in a name) and were read as they were "
              "meant");
    return recording;
}

Expected<Recording> readKineto(const SourceText &source, const SourceOptions &options)
{
    TextStream stream(source);
    return readKinetoStream(stream, options);
}

int looksLikeChakraJson(std::string_view, std::string_view head)
{
    head = fromFirst(head);
    return head.starts_with('{') && has(head.substr(0, 4096), "\"workload_graph\"") ? 95 : 0;
}

int looksLikeExecutionTrace(std::string_view, std::string_view head)
{
    head = fromFirst(head);
    const std::string_view first = head.substr(0, 4096);
    if (!head.starts_with('{') || !has(first, "\"schema\""))
        return 0;
    return has(first, "\"nodes\"") && (has(first, "\"start_ts\"") || has(first, "\"pid\"")) ? 95
        : has(first, "\"start_ts\"")                                                        ? 60
                                                                                            : 0;
}

std::unexpected<Error> traceRefusal(const SourceText &source, const char *why)
{
    return std::unexpected(Error { ErrorCode::BadSyntax, source.file, why, "" });
}

Expected<Recording> refuseChakraJson(const SourceText &source, const SourceOptions &)
{
    return traceRefusal(source,
        "It is a Chakra execution trace as JSON, which each tool writes differently and which tells no times of "
        "starts; "
        "its protobuf form (*.et) is read");
}

Expected<Recording> refuseExecutionTrace(const SourceText &source, const SourceOptions &)
{
    return traceRefusal(source,
        "It is a PyTorch execution trace (of ExecutionTraceObserver): operators and their tensors, without times and "
        "without kernels; the profiler's trace of the same step has them");
}

} // namespace

std::span<const SourceReader> readers::profilerTraces()
{
    static constexpr std::array kReaders {
        SourceReader { SourceKind::KinetoTrace, looksLikeKineto, readKineto, false, readKinetoStream },
        SourceReader { SourceKind::ChakraTrace, looksLikeChakra, readChakra },
        SourceReader { SourceKind::ChakraJson, looksLikeChakraJson, refuseChakraJson, true },
        SourceReader { SourceKind::ExecutionTrace, looksLikeExecutionTrace, refuseExecutionTrace, true },
        SourceReader { SourceKind::NsysExport, readers::looksLikeNsysExport, readers::readNsysExport },
        SourceReader { SourceKind::OtherProfiler, readers::looksLikeOtherProfiler, readers::refuseOtherProfiler, true }
    };
    return kReaders;
}

} // namespace trainyard
