// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/restart.h"

#include "core/base/number_text.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/workload/model_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace trainyard::watch {

namespace {

double fabricBytesPerSecond(const Datacenter &datacenter, const Pool &pool)
{
    const GpuSpec *gpu = gpuOf(pool, builtinCatalogue());
    return datacenter.fabricGbpsPerGpu.value_or(gpu ? gpu->fabricGbps : 0) * 1e9 / 8;
}

} // namespace

RestartCost restartCost(const Evaluation &evaluation)
{
    RestartCost cost { .startSeconds = kStartSeconds };
    const Cluster &cluster = evaluation.plan->cluster;
    cost.bytes = kCheckpointBytes * totalParameters(evaluation.model);
    std::set<std::pair<int, int>> used;
    for (const GpuRun &run : evaluation.layout.runs)
        used.emplace(run.datacenter, run.pool);
    const auto poolOf = [&](const std::pair<int, int> &at) -> const Pool & {
        return cluster.datacenters[static_cast<std::size_t>(at.first)].pools[static_cast<std::size_t>(at.second)];
    };
    cost.isOnDrives = !used.empty() && std::ranges::all_of(used, [&](const auto &at) {
        return poolOf(at).ssd && poolOf(at).ssd->writeGBps > 0 && poolOf(at).ssd->readGBps > 0;
    });
    double written = 0, read = 0; // bytes/s of all nodes together
    for (const auto &at : used) {
        const Pool &pool = poolOf(at);
        const double nics =
            fabricBytesPerSecond(cluster.datacenters[static_cast<std::size_t>(at.first)], pool) * pool.gpusPerNode;
        written += pool.nodes * (cost.isOnDrives ? pool.ssd->writeGBps * 1e9 : nics);
        read += pool.nodes * (cost.isOnDrives ? pool.ssd->readGBps * 1e9 : nics);
    }
    cost.saveSeconds = written > 0 ? cost.bytes / written : 0;
    cost.loadSeconds = read > 0 ? cost.bytes / read : 0;
    double narrowest = std::numeric_limits<double>::infinity(); // bytes/s of a link that is in use
    for (const WanLinkUse &use : evaluation.metrics.wanLinks) {
        if (use.totalBytes() <= 0 || use.link < 0 || static_cast<std::size_t>(use.link) >= cluster.wanLinks.size())
            continue;
        const WanLink &link = cluster.wanLinks[static_cast<std::size_t>(use.link)];
        int nodes = std::numeric_limits<int>::max(); // of the smaller end
        for (const std::string &id : link.between) {
            int ofEnd = 0;
            for (const Pool &pool : cluster.datacenters[static_cast<std::size_t>(cluster.indexOf(id))].pools)
                ofEnd += pool.nodes;
            nodes = std::min(nodes, ofEnd);
        }
        narrowest = std::min(narrowest, std::min(use.nodePairGbps * nodes, link.capacityGbps) * 1e9 / 8);
    }
    if (std::isfinite(narrowest) && narrowest > 0)
        cost.crossSeconds = cost.bytes / narrowest;
    return cost;
}

std::string restartText(const RestartCost &cost, bool isMove)
{
    std::string text = "Restart assumed: a checkpoint of " + bytesText(cost.bytes) + " (14 bytes per parameter) "
        + (isMove ? "written and read " : "read ")
        + (cost.isOnDrives ? "on the nodes' drives in " : "over all NICs in ")
        + secondsText(cost.loadSeconds + (isMove ? cost.saveSeconds : 0));
    if (isMove && cost.crossSeconds > 0)
        text += ", once over the narrowest WAN link in " + secondsText(cost.crossSeconds);
    return text + ", " + secondsText(cost.startSeconds) + " to start"
        + (isMove ? "" : "; steps since the last checkpoint are lost as well");
}

} // namespace trainyard::watch
