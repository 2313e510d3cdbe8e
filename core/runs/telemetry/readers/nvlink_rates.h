#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What one NVLink carries in one direction, by what a file says of its GPUs: the catalogue's figures
// (core/facts/catalogue/nvlinks.h). Pure functions.

#include <string_view>

namespace trainyard::readers {

/// By CUDA's compute capability (90 of 9.0, as NCCL writes sm="90"); 0 where it has no NVLink that is known.
[[nodiscard]] double nvlinkBytesPerSecond(int computeCapability);
/// By a name of the GPU: "NVIDIA H100 80GB HBM3", "h100"; 0 where it is not known.
[[nodiscard]] double nvlinkBytesPerSecond(std::string_view gpuName);
/// The GPU that a text names as a word of its own: "H100" of "topo_m_8xH100.txt"; empty where there is none.
[[nodiscard]] std::string_view gpuNamedIn(std::string_view text);

} // namespace trainyard::readers
