#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What one NVLink carries, and the compute capability, a row a GPU: resources/catalog/nvlinks.json. For files that tell
// how many links there are and not how fast, and which GPUs by their capability alone; GpuSpec::linkGBps is all links
// of a GPU together. Loaded once, shared read-only by all threads.

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct NvlinkSpec {
    /// as names of devices have it: "H100" of "NVIDIA H100 80GB HBM3"
    std::string gpu;
    /// 90 of 9.0
    int computeCapability = 0;
    /// of one link, in one direction; 0: it has none
    double bytesPerSecond = 0;
    std::string source;
};

[[nodiscard]] const std::vector<NvlinkSpec> &builtinNvlinks();
/// 86 of "NVIDIA A10G 24 GB"; 0 where no row is of the GPU.
[[nodiscard]] int computeCapability(std::string_view gpuName);

} // namespace trainyard
