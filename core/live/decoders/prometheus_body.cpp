// SPDX-License-Identifier: GPL-3.0-or-later
// Answers of a Prometheus API, read as the saved file of the same answer is.
#include "core/live/decoder.h"
#include "core/runs/telemetry/file/check_recording.h"
#include "core/runs/telemetry/read_sources.h"
#include "core/runs/telemetry/readers/prometheus_answer.h"

namespace trainyard::live {

Expected<Batch> decodePrometheus(
    std::string_view body, const std::string &name, Moment received, const DecoderLimits & /*limits*/)
{
    std::string padded(body);
    padded.append(kSourcePadding, '\0');
    const SourceText source { name, std::string_view(padded).substr(0, body.size()), std::int64_t(body.size()), false };
    if (readers::looksLikePrometheusAnswer(name, source.text) == 0)
        return std::unexpected(Error {
            ErrorCode::BadSyntax, name, "is no answer of a Prometheus API", "JSON with \"status\" and \"data\"" });
    auto read = readers::readPrometheusAnswer(source, {});
    if (!read) {
        Error error = read.error();
        error.code = ErrorCode::BadSyntax;
        return std::unexpected(std::move(error));
    }
    Batch batch { .received = received };
    batch.part = std::move(*read);
    recording_file::dropOutOfBounds(batch.part);
    return batch;
}

} // namespace trainyard::live
