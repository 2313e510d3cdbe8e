#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reader of the matrix that `nvidia-smi topo -m` prints (telemetry specification 2.4 and 7): coloured and with tabs, or
// pasted with blanks; NICs as columns NIC0 or mlx5_0. It names no GPU: speeds of NVLinks follow from GPU names around
// the matrix (nvidia-smi -L), else from a GPU named in the file's name, else only the number of links is told.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeSmiTopology(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readSmiTopology(const SourceText &source, const SourceOptions &options);

/// What rocm-smi --showtopo prints: GPUs of a node, and whether XGMI joins them.
[[nodiscard]] int looksLikeRocmTopology(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readRocmTopology(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
