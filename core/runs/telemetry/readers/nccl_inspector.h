#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reader of NCCL Inspector's logs, one JSON object a line (telemetry specification 4.2). Every operation is a
// collective of its rank, matched across ranks by communicator and sequence number; the fastest of each size is a point
// of a benchmark, since the time of the others is waiting. Aggregated as it is read: a million operations are 50 MB.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeNcclInspector(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readNcclInspector(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
