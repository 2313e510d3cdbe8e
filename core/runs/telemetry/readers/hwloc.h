#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reader of hwloc's XML (lstopo --of xml): the host's name and memory, its GPUs, InfiniBand adapters.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeHwloc(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readHwloc(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
