// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/pool_gpu.h"

#include "core/facts/catalogue/catalogue.h"

namespace trainyard {

const GpuSpec *gpuOf(const Pool &pool, const Catalogue &catalogue)
{
    return pool.inlineGpu ? &*pool.inlineGpu : catalogue.gpu(pool.gpu);
}

std::set<std::string> gpuIdsOf(const Cluster &cluster)
{
    std::set<std::string> ids;
    for (const Datacenter &datacenter : cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            if (pool.gpus() > 0)
                ids.insert(gpuIdOf(pool));
    return ids;
}

} // namespace trainyard
