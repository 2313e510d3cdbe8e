#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The machines of a plan from what topology files, schedulers and catalogues of prices tell of them. Files complete one
// another: Slurm names the nodes, a matrix of nvidia-smi has what is inside one, a fabric the speed of its adapters.
// Pure function, any thread.

#include "core/plan/plan.h"
#include "core/telemetry/recording.h"

#include <optional>

namespace trainyard {

struct Catalogue;

/// A cluster of one datacenter (the first of `base`, with its place, prices and fabric where nobody tells another);
/// empty where the recording tells nothing of machines or prices. What was read goes into `taken`, what was taken in
/// place of something that nobody told into `assumed`, a sentence each.
[[nodiscard]] std::optional<Cluster> clusterOf(const Recording &recording, const Catalogue &catalogue,
    const Cluster &base, std::vector<std::string> &taken, std::vector<std::string> &assumed);

} // namespace trainyard
