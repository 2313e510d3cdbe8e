// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/left_out_internal.h"
#include "core/facts/plan/zones.h"

#include <map>
#include <set>
#include <string>

namespace trainyard::detail {

namespace {

/// A link between zones that a network source knows, of which nothing is said of what a pair of nodes reaches.
void takeZoneNetworks(Cluster &cluster, const Json &document)
{
    const Json &links = document["cluster"]["wan_links"];
    for (std::size_t i = 0; i < cluster.wanLinks.size(); ++i) {
        if (links[i].contains("node_pair_gbps") || links[i].contains("cloud"))
            continue;
        if (const ZoneNetwork *network = zoneNetworkOf(cluster, cluster.wanLinks[i]))
            cluster.wanLinks[i].cloud = network->id;
    }
}

void nameNamelessPools(Cluster &cluster)
{
    std::set<std::string> taken;
    std::map<std::string, int> counts; // of a stem, so that many pools of one kind are not counted through for each
    for (const Datacenter &datacenter : cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            taken.insert(pool.id);
    for (Datacenter &datacenter : cluster.datacenters) {
        for (Pool &pool : datacenter.pools) {
            if (!pool.id.empty())
                continue;
            const std::string stem = datacenter.id + "-" + (pool.gpu.empty() ? "pool" : pool.gpu);
            pool.id = stem;
            for (int &n = counts.try_emplace(stem, 1).first->second; !taken.insert(pool.id).second;)
                pool.id = stem + "-" + std::to_string(++n);
        }
    }
}

} // namespace

void checkLeftOut(const Plan &plan, const Json &document, Context &context)
{
    const auto workload = document.find("workload");
    if (hasJobs(plan) || plan.jobGrid || (workload != document.end() && !workload->is_object()))
        return;
    const Context::Step step(context, std::string("workload"));
    if (workload == document.end())
        return context.fail("workload is missing", "the key workload: What is trained");
    const auto missing = [&](const char *name, const char *right) {
        if (workload->contains(name))
            return;
        const Context::Step inner(context, std::string(name));
        context.fail(std::string(name) + " is missing", right);
    };
    missing("global_batch", "a whole number: sequences of one iteration");
    if (!plan.profile)
        missing("model", "a catalogue name, the path of a config.json, or an object");
}

void fillIn(Plan &plan, const Json &document)
{
    nameNamelessPools(plan.cluster);
    if (!plan.cluster.wanLinks.empty())
        takeZoneNetworks(plan.cluster, document);
}

} // namespace trainyard::detail
