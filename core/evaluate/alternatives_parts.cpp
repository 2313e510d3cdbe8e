// SPDX-License-Identifier: GPL-3.0-or-later
// What a better part would buy: the second list of alternatives.h. Parts of one group answer the same wish in several
// sizes ("1, 2, 4 nodes"), smallest first, so that a ranking can keep the one that pays most apiece.
#include "core/cluster/edits.h"
#include "core/evaluate/alternatives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

namespace trainyard {

namespace {

constexpr std::array kNodeSteps{1, 2, 4, 8};

std::string number(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

/// The largest of 1, 2, 5 × 10^k that is at most a quarter of x: an upgrade one could order.
double step(double x)
{
    const double quarter = x / 4;
    const double decade = std::pow(10, std::floor(std::log10(quarter)));
    return quarter >= 5 * decade ? 5 * decade : quarter >= 2 * decade ? 2 * decade : decade;
}

class Parts {
public:
    explicit Parts(const Plan &plan) : m_plan(plan) {}

    template <class Apply>
    void add(const std::string &group, const std::string &id, const std::string &label, Apply apply, int size = 1)
    {
        Plan next = m_plan;
        apply(next);
        Alternative a;
        a.id = group + ":" + id;
        a.group = group;
        a.label = label;
        a.sentence = label;
        a.size = size;
        a.plan = std::make_shared<const Plan>(std::move(next));
        m_list.push_back(std::move(a));
    }
    std::vector<Alternative> take() { return std::move(m_list); }

private:
    const Plan &m_plan;
    std::vector<Alternative> m_list;
};

std::string nodes(int count)
{
    return count == 1 ? "1 node" : std::to_string(count) + " nodes";
}

std::string labelOf(const Cluster &cluster, const std::string &id)
{
    const int index = cluster.indexOf(id);
    return index < 0 ? id : cluster.datacenters[index].label();
}

void addLinks(Parts &parts, const Plan &plan)
{
    for (std::size_t i = 0; i < plan.cluster.wanLinks.size(); ++i) {
        const WanLink &link = plan.cluster.wanLinks[i];
        const std::string where = labelOf(plan.cluster, link.between[0]) + "–" + labelOf(plan.cluster, link.between[1]);
        const std::string key = "link:" + link.between[0] + "-" + link.between[1];
        if (link.nodePairGbps > 0) {
            const double more = step(link.nodePairGbps);
            parts.add(key + ":pair", number(more), where + " +" + number(more) + " Gbps a node pair",
                      [&](Plan &p) { p.cluster.wanLinks[i].nodePairGbps += more; });
        }
        if (link.capacityGbps > 0) {
            const double more = step(link.capacityGbps);
            parts.add(key + ":capacity", number(more), where + " +" + number(more) + " Gbps",
                      [&](Plan &p) { p.cluster.wanLinks[i].capacityGbps += more; });
        }
        if (link.rttMs > 0) {
            const double less = step(link.rttMs);
            parts.add(key + ":rtt", number(less), where + " −" + number(less) + " ms round trip",
                      [&](Plan &p) { p.cluster.wanLinks[i].rttMs -= less; });
        }
        if (plan.wan.tcpConnections && link.tcpWindowMb > 0)
            parts.add(key + ":window", "2", where + " twice the TCP window", [&](Plan &p) { p.cluster.wanLinks[i].tcpWindowMb *= 2; });
    }
}

void addNodes(Parts &parts, const Plan &plan)
{
    for (std::size_t d = 0; d < plan.cluster.datacenters.size(); ++d) {
        const Datacenter &datacenter = plan.cluster.datacenters[d];
        for (std::size_t k = 0; k < datacenter.pools.size(); ++k) {
            const Pool &pool = datacenter.pools[k];
            const std::string kind = datacenter.pools.size() > 1 ? " (" + pool.id + ")" : "";
            for (const int more : kNodeSteps)
                parts.add("nodes:" + datacenter.id + ":" + pool.id, std::to_string(more),
                          nodes(more) + " more in " + datacenter.label() + kind,
                          [&](Plan &p) { p.cluster.datacenters[d].pools[k].nodes += more; }, more);
        }
    }
}

void addFabric(Parts &parts, const Plan &plan, const Catalogue &catalogue)
{
    for (std::size_t d = 0; d < plan.cluster.datacenters.size(); ++d) {
        const Datacenter &datacenter = plan.cluster.datacenters[d];
        double gbps = datacenter.fabricGbpsPerGpu.value_or(0);
        for (const Pool &pool : datacenter.pools) {
            const GpuSpec *gpu = pool.inlineGpu ? &*pool.inlineGpu : catalogue.gpu(pool.gpu);
            if (!datacenter.fabricGbpsPerGpu && gpu)
                gbps = std::max(gbps, gpu->fabricGbps);
        }
        if (gbps > 0)
            parts.add("fabric:" + datacenter.id, "2", "Fabric " + number(gbps) + " → " + number(2 * gbps) + " Gbps a GPU in " + datacenter.label(),
                      [&](Plan &p) {
                          Datacenter &faster = p.cluster.datacenters[d];
                          faster.fabricGbpsPerGpu = 2 * gbps;
                          if (faster.fabricMeasuredGBps)
                              *faster.fabricMeasuredGBps *= 2;   // the new one is as good a share of its nominal rate
                      });
    }
}

/// Drives that read or write twice as fast, or a link of twice the bandwidth to host memory, where something moves there.
void addStorage(Parts &parts, const Plan &plan)
{
    const MemoryStrategy &memory = plan.memory;
    const bool usesDrives = memory.activationOffload == ActivationOffload::Ssd || memory.optimizerOffload == OptimizerOffload::Ssd
        || memory.parameterOffload == ParameterOffload::Ssd;
    const bool usesHost = memory.activationOffload == ActivationOffload::Host || memory.parameterOffload != ParameterOffload::None
        || memory.optimizerOffload != OptimizerOffload::None;
    for (std::size_t d = 0; d < plan.cluster.datacenters.size(); ++d) {
        const Datacenter &datacenter = plan.cluster.datacenters[d];
        for (std::size_t k = 0; k < datacenter.pools.size(); ++k) {
            const Pool &pool = datacenter.pools[k];
            const std::string key = datacenter.id + ":" + pool.id, where = " a node in " + datacenter.label() + (datacenter.pools.size() > 1 ? " (" + pool.id + ")" : "");
            const auto twice = [&](const char *what, const std::string &verb, double now, auto apply) {
                if (now > 0)
                    parts.add(std::string(what) + ":" + key, "2", "Drives " + verb + " " + number(now) + " → " + number(2 * now) + " GB/s" + where, apply);
            };
            if (usesDrives && pool.ssd) {
                twice("drives-read", "read", pool.ssd->readGBps, [&](Plan &p) { p.cluster.datacenters[d].pools[k].ssd->readGBps *= 2; });
                twice("drives-write", "write", pool.ssd->writeGBps, [&](Plan &p) { p.cluster.datacenters[d].pools[k].ssd->writeGBps *= 2; });
            }
            if (usesHost && pool.host && pool.host->gbytesPerSecondPerGpu > 0) {
                const double now = pool.host->gbytesPerSecondPerGpu;
                parts.add("host-link:" + key, "2", "Host memory " + number(now) + " → " + number(2 * now) + " GB/s a GPU" + (datacenter.pools.size() > 1 ? " in " + pool.id : ""),
                          [&](Plan &p) { p.cluster.datacenters[d].pools[k].host->gbytesPerSecondPerGpu *= 2; });
            }
        }
    }
}

std::string shortName(const GpuSpec &gpu)
{
    const std::string prefix = gpu.vendor + " ";
    return gpu.name.starts_with(prefix) ? gpu.name.substr(prefix.size()) : gpu.name;
}

/// The nearest GPU of the same maker with more memory and no less speed, and the nearest that is faster with no less memory.
std::vector<const GpuSpec *> nextGpus(const GpuSpec &now, const Catalogue &catalogue, Precision precision)
{
    const GpuSpec *roomier = nullptr, *faster = nullptr;
    const double peak = now.peakFlops(precision);
    for (const GpuSpec &g : catalogue.gpus) {
        if (g.vendor != now.vendor || g.linkGBps < now.linkGBps)
            continue;
        const double itsPeak = g.peakFlops(precision);
        if (g.memoryBytes > now.memoryBytes * 1.1 && itsPeak >= 0.95 * peak && (!roomier || g.memoryBytes < roomier->memoryBytes))
            roomier = &g;
        if (itsPeak > 1.1 * peak && g.memoryBytes >= 0.95 * now.memoryBytes && (!faster || itsPeak < faster->peakFlops(precision)))
            faster = &g;
    }
    std::vector<const GpuSpec *> next;
    if (roomier)
        next.push_back(roomier);
    if (faster && faster != roomier)
        next.push_back(faster);
    return next;
}

void addGpus(Parts &parts, const Plan &plan, const Catalogue &catalogue)
{
    std::set<std::string> types;
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            if (!pool.inlineGpu)
                types.insert(pool.gpu);
    for (const std::string &type : types) {
        const GpuSpec *now = catalogue.gpu(type);
        if (!now)
            continue;
        for (const GpuSpec *better : nextGpus(*now, catalogue, plan.workload.precision)) {
            parts.add("gpu:" + type + ":" + better->id, "all", shortName(*now) + " → " + shortName(*better), [&](Plan &p) {
                for (Datacenter &datacenter : p.cluster.datacenters) {
                    for (Pool &pool : datacenter.pools) {
                        if (pool.inlineGpu || pool.gpu != type)
                            continue;
                        pool.gpu = better->id;
                        pool.usdPerGpuHour.reset();   // the price was the other GPU's
                    }
                }
            });
        }
    }
}

void addMoves(Parts &parts, const Plan &plan)
{
    const auto &datacenters = plan.cluster.datacenters;
    for (int from = 0; from < int(datacenters.size()); ++from) {
        if (datacenters[from].pools.empty())
            continue;
        const int perNode = datacenters[from].pools.back().gpusPerNode;
        for (int to = 0; to < int(datacenters.size()); ++to) {
            for (const int count : kNodeSteps) {
                if (to == from || count * perNode > datacenters[from].gpus())
                    continue;
                Expected<Cluster> moved = moveGpus(plan.cluster, from, count * perNode, to);
                if (moved)
                    parts.add("move:" + datacenters[from].id + ":" + datacenters[to].id, std::to_string(count),
                              "Move " + nodes(count) + " " + datacenters[from].label() + " → " + datacenters[to].label(),
                              [&](Plan &p) { p.cluster = std::move(*moved); }, count);
            }
        }
    }
}

/// Pinned placements: one stage from a datacenter to its neighbour in the pipeline.
void addPins(Parts &parts, const Plan &plan)
{
    const auto &pins = plan.placement.stages;
    for (std::size_t i = 0; i < pins.size(); ++i) {
        for (const int step : {-1, 1}) {
            const std::size_t j = i + step;
            if (j >= pins.size() || pins[i].stages < 2)
                continue;
            const std::string from = labelOf(plan.cluster, pins[i].datacenter), to = labelOf(plan.cluster, pins[j].datacenter);
            parts.add("pin:" + std::to_string(i) + ":" + std::to_string(j), "1", "One stage from " + from + " to " + to, [&](Plan &p) {
                --p.placement.stages[i].stages;
                ++p.placement.stages[j].stages;
            });
        }
    }
}

} // namespace

std::vector<Alternative> betterParts(const Plan &plan, const Catalogue &catalogue)
{
    Parts parts(plan);
    addLinks(parts, plan);
    addMoves(parts, plan);
    addPins(parts, plan);
    addNodes(parts, plan);
    addGpus(parts, plan, catalogue);
    addFabric(parts, plan, catalogue);
    addStorage(parts, plan);
    return parts.take();
}

} // namespace trainyard
