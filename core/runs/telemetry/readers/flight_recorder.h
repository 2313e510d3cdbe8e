#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reader of PyTorch's flight recorder as JSON (telemetry specification 4.3): which collective each rank had reached,
// for hangs and stragglers. Its times are those of the host and of a watchdog that polls, so that no bandwidth follows.
// The pickle that it writes by default is refused: opening one runs what is in it.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeFlightRecorder(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readFlightRecorder(const SourceText &source, const SourceOptions &options);
[[nodiscard]] int looksLikeFlightRecorderPickle(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> refuseFlightRecorderPickle(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
