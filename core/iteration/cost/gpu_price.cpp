// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/gpu_price.h"

#include "core/facts/hardware/power_spec.h"

namespace trainyard {

double usdPerGpuHour(const Requested &asked, StageLocation location, double utilization)
{
    const PowerSpec &power = builtinPower();
    const GpuSpec &gpu = asked.gpu(location);
    const double price = asked.pool(location).usdPerGpuHour.value_or(gpu.usdPerHour);
    const double kilowatts = gpu.tdpWatts / 1e3 * (power.idleShare + (1 - power.idleShare) * utilization);
    return price > 0
        ? price
        : kilowatts * asked.plan->cluster.datacenters[std::size_t(location.datacenter)].usdPerKwh.value_or(0);
}

} // namespace trainyard
