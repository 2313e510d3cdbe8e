#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which GPU of the catalogue a tool means: drivers write "NVIDIA H100 80GB HBM3", Slurm "h100", clouds "A100-80GB".
// Pure function.

#include "core/catalogue/catalogue.h"

namespace trainyard {

/// The entry whose model the name has as words of its own, by memory and form (SXM before PCIe where it tells none);
/// nullptr where there is none.
[[nodiscard]] const GpuSpec *catalogueGpu(const Catalogue &catalogue, std::string_view name);

} // namespace trainyard
