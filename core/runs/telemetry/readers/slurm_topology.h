#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Readers of Slurm's topology.conf (tree and block plugin) and topology.yaml (telemetry specification 7). Of several
// topologies in one topology.yaml the cluster's default is read. Speeds in them mean nothing to Slurm and are left out.

#include "core/runs/telemetry/read_sources.h"

namespace trainyard::readers {

[[nodiscard]] int looksLikeSlurmConf(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readSlurmConf(const SourceText &source, const SourceOptions &options);
[[nodiscard]] int looksLikeSlurmYaml(std::string_view fileName, std::string_view head);
[[nodiscard]] Expected<Recording> readSlurmYaml(const SourceText &source, const SourceOptions &options);

} // namespace trainyard::readers
