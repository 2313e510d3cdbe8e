#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reader of iperf3's JSON, whole (-J) and as a stream of events (--json-stream), TCP, UDP, SCTP, reverse and both ways
// at once (telemetry specification 4.5), and of what it prints without them. Goodput is what was received; round trips
// are the smallest that TCP saw.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeIperf3(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readIperf3(const SourceText &source, const SourceOptions &options);

[[nodiscard]] int looksLikeIperf3Text(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readIperf3Text(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
