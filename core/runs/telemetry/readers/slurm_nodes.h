#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reader of `scontrol show node`: a block of lines a node, one line a node (-o), and --json (telemetry specification
// 7). Nodes that are alike in GPUs and memory are put together.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeSlurmNodes(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readSlurmNodes(const SourceText &source, const SourceOptions &options);
[[nodiscard]] int looksLikeSlurmNodesJson(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readSlurmNodesJson(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
