#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which GPUs of a plan a probe ran on. For the .cpp files of this folder.

#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/placement/resolve.h"
#include "core/runs/telemetry/recording.h"

#include <string>
#include <vector>

namespace trainyard {

/// One type of GPU of the plan and where it stands.
struct PlannedGpu {
    const GpuSpec *gpu = nullptr;
    /// its pools
    std::vector<StageLocation> at;
};

/// Names of what probes of the recording ran on.
[[nodiscard]] std::vector<std::string> probedNames(const Recording &recording);
[[nodiscard]] std::vector<PlannedGpu> plannedGpus(const Requested &workload);
/// Whether a driver's name is this GPU's.
[[nodiscard]] bool isCalled(const GpuSpec &gpu, const std::string &name, const Catalogue &catalogue);
/// The plan without its factors: they are of the models as they are.
[[nodiscard]] ExpectedAll<Requested> nominalOf(const Plan &plan, const Catalogue &catalogue);

} // namespace trainyard
