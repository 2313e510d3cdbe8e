// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/hardware/gpu_name.h"

namespace trainyard {

std::string shortName(const GpuSpec &gpu)
{
    const std::string prefix = gpu.vendor + " ";
    return gpu.name.starts_with(prefix) ? gpu.name.substr(prefix.size()) : gpu.name;
}

} // namespace trainyard
