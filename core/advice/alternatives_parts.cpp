// SPDX-License-Identifier: GPL-3.0-or-later
// What a better part would buy: the second list of alternatives.h. Parts of one group answer the same wish in several
// sizes ("1, 2, 4 nodes"), smallest first, so that a ranking can keep the one that pays most apiece.
#include "core/advice/alternatives.h"
#include "core/base/words.h"
#include "core/cluster/alike_pools.h"
#include "core/cluster/edits.h"
#include "core/hardware/gpu_name.h"
#include "core/placement/activations_leave.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>

namespace trainyard {

namespace {

constexpr std::array kNodeSteps { 1, 2, 4, 8 };

std::string number(double value)
{
    return formatted("%.4g", value);
}

/// The largest of 1, 2, 5 × 10^k that is at most a quarter of x: an upgrade one could order.
double step(double x)
{
    const double quarter = x / 4;
    const double decade = std::pow(10, std::floor(std::log10(quarter)));
    return quarter >= 5 * decade ? 5 * decade : quarter >= 2 * decade ? 2 * decade : decade;
}

/// Datacenters that hold stages of the plan: what changes there counts first where there are too many parts to look at.
class UsedSites {
public:
    UsedSites(const Plan &plan, const Layout *layout)
        : m_isUsed(plan.cluster.datacenters.size(), layout == nullptr)
    {
        if (layout)
            for (const GpuRun &run : layout->runs)
                m_isUsed[std::size_t(run.datacenter)] = true;
    }
    /// How many of the two hold none.
    [[nodiscard]] int distance(int a, int b) const { return isUnused(a) + isUnused(b); }
    [[nodiscard]] int distance(int a) const { return isUnused(a); }

private:
    [[nodiscard]] bool isUnused(int site) const { return site >= 0 && !m_isUsed[std::size_t(site)]; }
    std::vector<bool> m_isUsed;
};

/// Parts as wishes: their plans are made only of those that are kept, since each is a copy of the whole plan.
class Parts {
public:
    Parts(const Plan &plan, const Layout *layout, std::size_t most)
        : m_plan(plan)
        , m_sites(plan, layout)
        , m_most(most)
    {
    }

    void add(int distance, std::string group, std::string id, std::string label, std::function<bool(Plan &)> apply,
        int size = 1)
    {
        if (++m_ofDistance[std::size_t(distance)] > m_most) { // never among the nearest: n datacenters have 4 n² moves
            ++m_leftOut;
            return;
        }
        m_wishes.push_back({ distance, std::move(group), std::move(id), std::move(label), std::move(apply), size });
    }
    [[nodiscard]] const UsedSites &sites() const { return m_sites; }

    BetterParts take()
    {
        BetterParts parts { {}, m_leftOut };
        std::vector<std::size_t> kept(m_wishes.size());
        std::iota(kept.begin(), kept.end(), std::size_t(0));
        if (kept.size() > m_most) {
            std::ranges::stable_sort(kept, {}, [&](std::size_t i) { return m_wishes[i].distance; });
            parts.leftOut += kept.size() - m_most;
            kept.resize(m_most);
            std::ranges::sort(kept);
        }
        for (const std::size_t i : kept) {
            Plan next = m_plan;
            if (!m_wishes[i].apply(next))
                continue;
            Alternative a;
            a.id = m_wishes[i].group + ":" + m_wishes[i].id;
            a.group = m_wishes[i].group;
            a.sentence = a.label = m_wishes[i].label;
            a.size = m_wishes[i].size;
            a.plan = std::make_shared<const Plan>(std::move(next));
            parts.list.push_back(std::move(a));
        }
        return parts;
    }

private:
    struct Wish {
        int distance; // datacenters that it is about and that hold no stage
        std::string group, id, label;
        std::function<bool(Plan &)> apply; // false: it cannot be had
        int size;
    };
    const Plan &m_plan;
    UsedSites m_sites;
    std::size_t m_most, m_leftOut = 0;
    std::array<std::size_t, 3> m_ofDistance {};
    std::vector<Wish> m_wishes;
};

/// A change that can always be made.
template <class Change> auto always(Change change)
{
    return [change = std::move(change)](Plan &p) {
        change(p);
        return true;
    };
}

std::string labelOf(const Cluster &cluster, const std::string &id)
{
    const int index = cluster.indexOf(id);
    return index < 0 ? id : cluster.datacenters[index].label();
}

void addLinks(Parts &parts, const Plan &plan)
{
    std::unordered_map<std::string_view, int> numbers;
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        numbers.try_emplace(datacenter.id, int(numbers.size()));
    for (std::size_t i = 0; i < plan.cluster.wanLinks.size(); ++i) {
        const WanLink &link = plan.cluster.wanLinks[i];
        const auto a = numbers.find(link.between[0]), b = numbers.find(link.between[1]);
        const auto labelAt = [&](auto found, const std::string &id) {
            return found == numbers.end() ? id : plan.cluster.datacenters[std::size_t(found->second)].label();
        };
        const int distance =
            parts.sites().distance(a == numbers.end() ? -1 : a->second, b == numbers.end() ? -1 : b->second);
        const std::string where = labelAt(a, link.between[0]) + "–" + labelAt(b, link.between[1]);
        const std::string key = "link:" + link.between[0] + "-" + link.between[1];
        if (link.nodePairGbps > 0) {
            const double more = step(link.nodePairGbps);
            parts.add(distance, key + ":pair", number(more), where + " +" + number(more) + " Gbps per node pair",
                always([=](Plan &p) { p.cluster.wanLinks[i].nodePairGbps += more; }));
        }
        if (link.capacityGbps > 0) {
            const double more = step(link.capacityGbps);
            parts.add(distance, key + ":capacity", number(more), where + " +" + number(more) + " Gbps",
                always([=](Plan &p) { p.cluster.wanLinks[i].capacityGbps += more; }));
        }
        if (link.rttMs > 0) {
            const double less = step(link.rttMs);
            parts.add(distance, key + ":rtt", number(less), where + " −" + number(less) + " ms round trip",
                always([=](Plan &p) { p.cluster.wanLinks[i].rttMs -= less; }));
        }
        if (plan.wan.tcpConnections && link.tcpWindowMb > 0)
            parts.add(distance, key + ":window", "2", where + " twice the TCP window",
                always([=](Plan &p) { p.cluster.wanLinks[i].tcpWindowMb *= 2; }));
    }
}

/// A node more is worth the same in any of the pools of one datacenter whose nodes are equal.
bool hasEqualBefore(const std::vector<Pool> &pools, std::size_t at)
{
    return std::any_of(pools.begin(), pools.begin() + std::ptrdiff_t(at),
        [&](const Pool &other) { return areAlike(other, pools[at]); });
}

void addNodes(Parts &parts, const Plan &plan)
{
    for (std::size_t d = 0; d < plan.cluster.datacenters.size(); ++d) {
        const Datacenter &datacenter = plan.cluster.datacenters[d];
        for (std::size_t k = 0; k < datacenter.pools.size(); ++k) {
            if (hasEqualBefore(datacenter.pools, k))
                continue;
            const Pool &pool = datacenter.pools[k];
            const std::string kind = datacenter.pools.size() > 1 ? " (" + pool.id + ")" : "";
            for (const int more : kNodeSteps)
                parts.add(parts.sites().distance(int(d)), "nodes:" + datacenter.id + ":" + pool.id,
                    std::to_string(more), "+" + counted(more, "node") + " in " + datacenter.label() + kind,
                    always([=](Plan &p) { p.cluster.datacenters[d].pools[k].nodes += more; }), more);
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
            parts.add(parts.sites().distance(int(d)), "fabric:" + datacenter.id, "2",
                "Fabric " + number(gbps) + " → " + number(2 * gbps) + " Gbps per GPU in " + datacenter.label(),
                always([=](Plan &p) {
                    Datacenter &faster = p.cluster.datacenters[d];
                    faster.fabricGbpsPerGpu = 2 * gbps;
                    if (faster.fabricMeasuredGBps)
                        *faster.fabricMeasuredGBps *= 2; // the new one is as good a share of its nominal rate
                }));
    }
}

/// Drives that read or write twice as fast, or a link of twice the bandwidth to host memory, where something moves
/// there.
void addStorage(Parts &parts, const Plan &plan)
{
    const MemoryStrategy &memory = plan.memory;
    const bool usesDrives = memory.activationOffload == ActivationOffload::Ssd
        || memory.optimizerOffload == OptimizerOffload::Ssd || memory.parameterOffload == ParameterOffload::Ssd;
    const bool usesHost = activationsLeaveTo(memory) == ActivationOffload::Host
        || memory.parameterOffload != ParameterOffload::None || memory.optimizerOffload != OptimizerOffload::None;
    for (std::size_t d = 0; d < plan.cluster.datacenters.size(); ++d) {
        const Datacenter &datacenter = plan.cluster.datacenters[d];
        for (std::size_t k = 0; k < datacenter.pools.size(); ++k) {
            if (hasEqualBefore(datacenter.pools, k))
                continue;
            const Pool &pool = datacenter.pools[k];
            const std::string key = datacenter.id + ":" + pool.id,
                              where = " per node in " + datacenter.label()
                + (datacenter.pools.size() > 1 ? " (" + pool.id + ")" : "");
            const auto twice = [&](const char *what, const std::string &verb, double now, auto apply) {
                if (now > 0)
                    parts.add(parts.sites().distance(int(d)), std::string(what) + ":" + key, "2",
                        "Drives " + verb + " " + number(now) + " → " + number(2 * now) + " GB/s" + where,
                        always(apply));
            };
            if (usesDrives && pool.ssd) {
                twice("drives-read", "read", pool.ssd->readGBps,
                    [=](Plan &p) { p.cluster.datacenters[d].pools[k].ssd->readGBps *= 2; });
                twice("drives-write", "write", pool.ssd->writeGBps,
                    [=](Plan &p) { p.cluster.datacenters[d].pools[k].ssd->writeGBps *= 2; });
            }
            if (usesHost && pool.host && pool.host->gbytesPerSecondPerGpu > 0) {
                const double now = pool.host->gbytesPerSecondPerGpu;
                parts.add(parts.sites().distance(int(d)), "host-link:" + key, "2",
                    "Host memory " + number(now) + " → " + number(2 * now) + " GB/s per GPU"
                        + (datacenter.pools.size() > 1 ? " in " + pool.id : ""),
                    always([=](Plan &p) { p.cluster.datacenters[d].pools[k].host->gbytesPerSecondPerGpu *= 2; }));
            }
        }
    }
}

/// The nearest GPU of the same maker with more memory and no less speed, and the nearest that is faster with no less
/// memory.
std::vector<const GpuSpec *> nextGpus(const GpuSpec &now, const Catalogue &catalogue, Precision precision)
{
    const GpuSpec *roomier = nullptr, *faster = nullptr;
    const double peak = now.peakFlops(precision);
    for (const GpuSpec &g : catalogue.gpus) {
        if (g.vendor != now.vendor || g.linkGBps < now.linkGBps)
            continue;
        const double itsPeak = g.peakFlops(precision);
        if (g.memoryBytes > now.memoryBytes * 1.1 && itsPeak >= 0.95 * peak
            && (!roomier || g.memoryBytes < roomier->memoryBytes))
            roomier = &g;
        if (itsPeak > 1.1 * peak && g.memoryBytes >= 0.95 * now.memoryBytes
            && (!faster || itsPeak < faster->peakFlops(precision)))
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
            parts.add(0, "gpu:" + type + ":" + better->id, "all", shortName(*now) + " → " + shortName(*better),
                always([type, id = better->id](Plan &p) {
                    for (Datacenter &datacenter : p.cluster.datacenters) {
                        for (Pool &pool : datacenter.pools) {
                            if (pool.inlineGpu || pool.gpu != type)
                                continue;
                            pool.gpu = id;
                            pool.usdPerGpuHour.reset(); // the price was the other GPU's
                        }
                    }
                }));
        }
    }
}

void addMoves(Parts &parts, const Plan &plan)
{
    const auto &datacenters = plan.cluster.datacenters;
    for (int from = 0; from < int(datacenters.size()); ++from) {
        if (datacenters[std::size_t(from)].pools.empty())
            continue;
        const int perNode = datacenters[std::size_t(from)].pools.back().gpusPerNode,
                  gpus = datacenters[std::size_t(from)].gpus();
        for (int to = 0; to < int(datacenters.size()); ++to) {
            for (const int count : kNodeSteps) {
                if (to == from || count * perNode > gpus)
                    continue;
                const Datacenter &source = datacenters[std::size_t(from)], &target = datacenters[std::size_t(to)];
                parts.add(
                    parts.sites().distance(from, to), "move:" + source.id + ":" + target.id, std::to_string(count),
                    "Move " + counted(count, "node") + " " + source.label() + " → " + target.label(),
                    [=](Plan &p) {
                        Expected<Cluster> moved = moveGpus(p.cluster, from, count * perNode, to);
                        if (moved)
                            p.cluster = std::move(*moved);
                        return moved.has_value();
                    },
                    count);
            }
        }
    }
}

/// Pinned placements: one stage from a datacenter to its neighbour in the pipeline.
void addPins(Parts &parts, const Plan &plan)
{
    const auto &pins = plan.placement.stages;
    for (std::size_t i = 0; i < pins.size(); ++i) {
        for (const int step : { -1, 1 }) {
            const std::size_t j = i + step;
            if (j >= pins.size() || pins[i].stages < 2)
                continue;
            const std::string from = labelOf(plan.cluster, pins[i].datacenter),
                              to = labelOf(plan.cluster, pins[j].datacenter);
            parts.add(0, "pin:" + std::to_string(i) + ":" + std::to_string(j), "1",
                "One stage from " + from + " to " + to, always([=](Plan &p) {
                    --p.placement.stages[i].stages;
                    ++p.placement.stages[j].stages;
                }));
        }
    }
}

} // namespace

BetterParts betterParts(const Plan &plan, const Catalogue &catalogue, const Layout *layout, std::size_t most)
{
    Parts parts(plan, layout, most);
    addLinks(parts, plan);
    addMoves(parts, plan);
    addPins(parts, plan);
    addNodes(parts, plan);
    addGpus(parts, plan, catalogue);
    addFabric(parts, plan, catalogue);
    addStorage(parts, plan);
    return parts.take();
}

std::size_t mostParts(std::size_t spans)
{
    return std::clamp<std::size_t>(kMostPartSpans / std::max<std::size_t>(1, spans), 1, kMostParts);
}

} // namespace trainyard
