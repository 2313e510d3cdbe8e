#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What one NVLink carries, a row a GPU: resources/catalog/nvlinks.json. For files that tell how many links there are
// and not how fast; GpuSpec::linkGBps is all links of a GPU together. Loaded once, shared read-only by all threads.

#include <string>
#include <vector>

namespace trainyard {

struct NvlinkSpec {
    /// as names of devices have it: "H100" of "NVIDIA H100 80GB HBM3"
    std::string gpu;
    /// 90 of 9.0
    int computeCapability = 0;
    /// of one link, in one direction
    double bytesPerSecond = 0;
    std::string source;
};

[[nodiscard]] const std::vector<NvlinkSpec> &builtinNvlinks();

} // namespace trainyard
