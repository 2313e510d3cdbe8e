// SPDX-License-Identifier: GPL-3.0-or-later
// OTLP as its senders post it, read as the file of the same message is (core/runs/telemetry/readers/otlp.h).
#include "core/live/decoder.h"
#include "core/runs/telemetry/file/check_recording.h"
#include "core/runs/telemetry/read_sources.h"
#include "core/runs/telemetry/readers/otlp.h"

#include <algorithm>

namespace trainyard::live {

namespace {

/// A request that tells nothing is a right one: exporters send them to see whether anybody listens.
bool tellsNothing(std::string_view body, bool isJson)
{
    const std::size_t last = body.find_last_not_of(" \t\r\n");
    if (isJson && (last == std::string_view::npos || body[last] != '}'))
        return body.empty();
    return isJson ? body.find_first_not_of(" \t\r\n{}") == std::string_view::npos
            || body.find("\"resource") != std::string_view::npos
                  : body.empty() || body.front() == '\n';
}

} // namespace

OtlpHistoryPtr makeOtlpHistory()
{
    return std::make_shared<OtlpHistory>();
}

Expected<Batch> decodeOtlp(std::string_view body, bool isJson, const std::string &name, Moment received,
    const DecoderLimits &limits, OtlpHistory *history)
{
    Batch batch { .received = received };
    if (body.size() > limits.bodyBytes)
        return std::unexpected(Error { ErrorCode::BadSyntax, name,
            "a message of " + std::to_string(body.size()) + " bytes", "at most " + std::to_string(limits.bodyBytes) });
    std::string padded(body);
    padded.append(kSourcePadding, '\0');
    const SourceText source { name, std::string_view(padded).substr(0, body.size()), std::int64_t(body.size()), false };
    using namespace readers;
    auto read = isJson ? readOtlpJson(source, {}, history) : readOtlpProtobuf(source, {}, history);
    if (!read && !tellsNothing(body, isJson)) {
        Error error = read.error();
        error.code = ErrorCode::BadSyntax;
        error.right = isJson ? "an OTLP message as JSON: resourceMetrics, resourceSpans or resourceLogs"
                             : "an OTLP message as protobuf";
        return std::unexpected(std::move(error));
    }
    if (read && std::ranges::any_of(read->sources, &RecordedSource::isTruncated))
        return std::unexpected(Error { ErrorCode::BadSyntax, name, "a message that ends in the middle",
            isJson ? "a whole OTLP message as JSON" : "a whole OTLP message as protobuf" });
    if (read)
        batch.part = std::move(*read);
    else
        batch.part.sources.push_back({ .file = name,
            .kind = isJson ? SourceKind::OtlpJson : SourceKind::OtlpProtobuf,
            .bytes = source.packedBytes });
    recording_file::dropOutOfBounds(batch.part);
    return batch;
}

} // namespace trainyard::live
