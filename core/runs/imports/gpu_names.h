#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What drivers, schedulers and clouds call a GPU, to the catalogue's; and GPUs that no catalogue has, as a probe
// measured them. Pure functions.

#include "core/facts/catalogue/catalogue.h"
#include "core/runs/telemetry/recording.h"

#include <optional>

namespace trainyard::imports {

struct NamedGpu {
    /// of the catalogue
    const GpuSpec *gpu = nullptr;
    /// false: of several that are called so
    bool isSure = false;
    /// of the name of a chip that several GPUs have, all of them: "MI300X, MI300A or MI325X"; empty: of another name
    std::string_view ofChip = {};
};
/// Of "NVIDIA H100 80GB HBM3", "A100-SXM4-80GB", "h100".
/// gpu_names.cpp
[[nodiscard]] NamedGpu gpuNamed(std::string_view name, const Catalogue &catalogue);
/// Whether a name may be that of the GPU: "a100" of every A100, "A100-SXM4-80GB" of one.
[[nodiscard]] bool mayMean(std::string_view name, const GpuSpec &gpu, const Catalogue &catalogue);
/// A GPU of that name by what a probe measured of it (docs/probe.md): its peaks are what long products reach. A
/// processor stands for a GPU likewise. Empty where the recording has no product or no memory kernel of it.
[[nodiscard]] std::optional<GpuSpec> measuredGpu(
    const Recording &recording, const std::string &name); // measured_gpu.cpp

} // namespace trainyard::imports
