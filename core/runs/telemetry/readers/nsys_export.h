#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reader of what Nsight Systems exports as SQLite; and what is said of files of other profilers.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeNsysExport(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readNsysExport(const SourceText &source, const SourceOptions &options);

/// Known by the end of its name.
[[nodiscard]] int looksLikeOtherProfiler(std::string_view fileName, std::string_view head);
/// With how to make of it what is read.
[[nodiscard]] Expected<Recording> refuseOtherProfiler(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
