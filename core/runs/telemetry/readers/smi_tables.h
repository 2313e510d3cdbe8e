#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Readers of nvidia-smi's tables: `--query-gpu=… --format=csv` and `dmon` (telemetry specification 2.4). Columns are
// known by their header alone, so that tables without one are refused. Times are local and tell no zone: they are read
// as UTC, with a note.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeSmiQuery(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readSmiQuery(const SourceText &source, const SourceOptions &options);
[[nodiscard]] int looksLikeSmiDmon(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readSmiDmon(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
