#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Chakra execution traces (mlcommons/chakra, et_def.proto at 21585d8): a stream of protobuf messages, each behind its
// length: GlobalMetadata, then nodes. One file a rank.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

/// 0: its first bytes are no such messages.
[[nodiscard]] int looksLikeChakra(std::string_view fileName, std::string_view head);
/// Nodes with a start are spans at that time; where the file tells durations alone, they stand one after the other, and
/// a note says so.
[[nodiscard]] Expected<Recording> readChakra(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
