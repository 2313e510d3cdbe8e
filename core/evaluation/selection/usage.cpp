// SPDX-License-Identifier: GPL-3.0-or-later
// What the GPUs of an option cost, and why a datacenter has none in it.
#include "core/base/words.h"
#include "core/evaluation/selection/candidates_internal.h"
#include "core/iteration/cost/gpu_price.h"

#include <algorithm>

namespace trainyard::selecting {

double usdPerHour(const Requested &asked, const Layout &layout, double utilization)
{
    double sum = 0;
    for (const GpuRun &run : layout.runs)
        sum += run.gpus * usdPerGpuHour(asked, { run.datacenter, run.pool }, utilization);
    return sum;
}

std::vector<LeftOut> leftOut(const Requested &asked, const SelectionOption &option)
{
    const Cluster &cluster = asked.plan->cluster;
    const Degrees &p = asked.degrees;
    const LocationBook book(asked);
    const int stageGpus = option.data() * p.tensor * p.context;
    std::vector<LeftOut> reasons;
    for (int d = 0; d < int(cluster.datacenters.size()); ++d) {
        const bool isUsed = std::ranges::find(option.blocks, d, &DatacenterBlock::datacenter) != option.blocks.end();
        if (isUsed || option.blocks.empty())
            continue;
        const Datacenter &datacenter = cluster.datacenters[std::size_t(d)];
        const bool joins = std::ranges::any_of(
            option.blocks, [&](const DatacenterBlock &b) { return asked.links.between(b.datacenter, d) >= 0; });
        std::string reason;
        if (datacenter.gpus() == 0)
            reason = datacenter.label() + " has no GPUs";
        else if (book.capacity(d) < option.data())
            reason = datacenter.label() + "'s " + counted(datacenter.gpus(), "GPU")
                + (datacenter.gpus() == 1 ? " holds no stage of " : " hold no stage of ")
                + counted(option.cells, "cell") + ": a stage needs " + std::to_string(stageGpus);
        else if (!joins)
            reason = "no WAN link joins " + datacenter.label() + " to the datacenters of this option";
        else
            reason = "all " + std::to_string(p.pipeline) + " stages have their place without " + datacenter.label();
        reasons.push_back({ d, std::move(reason) });
    }
    return reasons;
}

} // namespace trainyard::selecting
