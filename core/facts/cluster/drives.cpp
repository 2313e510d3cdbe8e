// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/drives.h"

#include <algorithm>

namespace trainyard {

bool hasDrives(const Pool &pool)
{
    return pool.ssd && pool.ssd->writeGBps > 0 && pool.ssd->readGBps > 0;
}

bool allHaveDrives(const Cluster &cluster)
{
    return std::ranges::all_of(
        cluster.datacenters, [](const Datacenter &site) { return std::ranges::all_of(site.pools, hasDrives); });
}

} // namespace trainyard
