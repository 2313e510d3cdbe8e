#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reader of what NCCL prints with NCCL_DEBUG=INFO (telemetry specification 4.4): which rank ran on which host and GPU,
// and by which transports its channels go. It holds no times. Beside it, the dump of NCCL's example profiler plugin,
// which is no valid JSON and is refused by name.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeNcclDebug(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readNcclDebug(const SourceText &source, const SourceOptions &options);
[[nodiscard]] int looksLikeNcclProfilerDump(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> refuseNcclProfilerDump(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
