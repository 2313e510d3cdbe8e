#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Readers of NCCL's topology XML (NCCL_TOPO_DUMP_FILE, files of cloud images, which lack GPUs and networks, and fused
// dumps of several hosts) and graph XML (telemetry specification 7). XML of another shape is refused with what NCCL
// writes instead.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeNcclTopology(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readNcclTopology(const SourceText &source, const SourceOptions &options);
[[nodiscard]] int looksLikeNcclGraph(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readNcclGraph(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
