#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Ways of sharing work and states out to unequal GPUs, as `trainyard-cli explain --baselines` prints them: what other
// systems would reach, and what each step between even shares and Cephalo's brings.

#include "core/evaluation/advice/sharing_results.h"

#include <span>
#include <string>

namespace trainyard {

[[nodiscard]] std::string sharingTable(
    std::span<const SharingResult> baselines, std::span<const SharingResult> ablations);
/// {"baselines": [{"id", "label", "what", "current", "feasible", "fits", "why", "iteration_time_s", "samples_per_s",
/// "usd_per_iteration", "layer_ms", "device_bytes", "capacity_bytes", "sets": [{"datacenter", "pool", "gpu", "stage",
/// "gpus", "samples", "compute_share", "state_share", "idle_share"}]}], "ablations": [the same]}
[[nodiscard]] std::string sharingJson(
    std::span<const SharingResult> baselines, std::span<const SharingResult> ablations);

} // namespace trainyard
