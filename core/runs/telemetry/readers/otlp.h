#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Readers of OTLP messages, as a collector's file exporter writes them or a server received them: metrics, traces and
// logs as JSON (one envelope or one a line) and as protobuf (telemetry specification 5.1).

#include "core/runs/telemetry/read_sources.h"
#include "core/runs/telemetry/readers/otlp_history.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeOtlpJson(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readOtlpJson(const SourceText &source, const SourceOptions &options);
[[nodiscard]] Expected<Recording> readOtlpJson(
    const SourceText &source, const SourceOptions &options, OtlpHistory *history);
[[nodiscard]] int looksLikeOtlpProtobuf(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readOtlpProtobuf(const SourceText &source, const SourceOptions &options);
[[nodiscard]] Expected<Recording> readOtlpProtobuf(
    const SourceText &source, const SourceOptions &options, OtlpHistory *history);

} // namespace trainyard::readers
