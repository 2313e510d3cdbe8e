#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What GPUs draw: those at work between idle and full power by their use, others idle power. Chips only, no cooling.
// docs/metrics.md, "energy". Pure.

#include "core/facts/hardware/gpu_spec.h"
#include "core/facts/hardware/power_spec.h"

namespace trainyard {

/// Of `all` GPUs of one kind, `used` of which are at work for a share `utilization` of the time.
[[nodiscard]] inline double chipKilowatts(const GpuSpec &gpu, int used, int all, double utilization)
{
    const double idle = builtinPower().idleShare;
    return gpu.tdpWatts / 1e3 * (used * (idle + (1 - idle) * utilization) + (all - used) * idle);
}

} // namespace trainyard
