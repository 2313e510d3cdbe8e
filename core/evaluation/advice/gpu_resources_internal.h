#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Resources of the types of GPUs of a plan (resources.h).

#include "core/evaluation/advice/resources.h"

namespace trainyard::detail {

/// FLOPs, HBM, NVLink and the way to the host of each type; of measured times, the times.
void addGpuResources(
    std::vector<HardwareResource> &list, const Plan &plan, const Catalogue &catalogue, const UsedSites &sites);

/// From now on the plan describes the GPU of the pool itself, as the catalogue does.
GpuSpec &describeGpu(Pool &pool, const GpuSpec &gpu);

} // namespace trainyard::detail
