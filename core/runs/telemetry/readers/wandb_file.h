#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What wandb leaves in a run's folder: the transaction log run-<id>.wandb (blocks of 32 KiB in LevelDB's framing whose
// CRC is zlib's, seeded by the kind; records are protobuf), wandb-summary.json and config.yaml.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeWandb(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readWandb(const SourceText &source, const SourceOptions &options);
[[nodiscard]] int looksLikeWandbConfig(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readWandbConfig(const SourceText &source, const SourceOptions &options);
[[nodiscard]] int looksLikeWandbSummary(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readWandbSummary(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
