#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the tracks of a timeline are called, for exports and the report: datacenter, pipelines, stage, stream.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>

namespace trainyard {

/// Index into Cluster::datacenters of where a track's stage sits (the sending stage of a WAN track); -1 where unknown.
[[nodiscard]] int datacenterOf(const Evaluation &evaluation, const Track &track);
/// "Virginia"; empty where unknown.
[[nodiscard]] std::string datacenterName(const Evaluation &evaluation, const Track &track);
/// "pipeline 0", "pipelines 0–7"; "GPUs" of a plan with jobs
[[nodiscard]] std::string pipelinesName(const Evaluation &evaluation, const Track &track);
/// "stage 3", "stage 3 → 4 WAN", "stage 3 copy"
[[nodiscard]] std::string trackName(const Track &track);
/// The same, and of a plan with jobs "GPU 2", "GPU 2 ← host", "GPU 2 → host": its stages are the GPUs, from 0 on.
[[nodiscard]] std::string trackName(const Evaluation &evaluation, const Track &track);
/// "compute", "wan" …
[[nodiscard]] const char *toString(Stream stream);

} // namespace trainyard
