// SPDX-License-Identifier: GPL-3.0-or-later
// What a better part would buy: the second list of alternatives.h. Parts of one group answer the same wish in several
// sizes ("1, 2, 4 nodes"), smallest first, so that a ranking can keep the one that pays most apiece.
#include "core/base/words.h"
#include "core/evaluation/advice/alternatives.h"
#include "core/evaluation/advice/resources.h"
#include "core/facts/cluster/edits.h"
#include "core/facts/hardware/gpu_name.h"

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

/// Parts as wishes: their plans are made only of those that are kept, since each is a copy of the whole plan.
class Parts {
public:
    Parts(const Plan &plan, const Layout *layout, std::size_t most)
        : m_plan(plan)
        , m_sites(plan, layout)
        , m_most(most)
    {
        for (int d = 0; d < int(plan.cluster.datacenters.size()); ++d)
            m_numbers.try_emplace(plan.cluster.datacenters[std::size_t(d)].id, d);
    }

    void add(int distance, std::string group, std::string id, std::string label, std::function<bool(Plan &)> apply,
        int size = 1)
    {
        ++m_looked;
        if (isFull(distance))
            return leaveOut(distance, 1);
        ++m_ofDistance[std::size_t(distance)];
        m_wishes.push_back({ distance, std::move(group), std::move(id), std::move(label), std::move(apply), size });
    }
    /// There are as many of this distance as may be looked at: none more is among the nearest.
    [[nodiscard]] bool isFull(int distance) const { return m_ofDistance[std::size_t(distance)] >= m_most; }
    /// Of a distance that is full, without a look at each: n datacenters have 4 n² moves.
    void leaveOut(int distance, std::size_t count)
    {
        m_ofDistance[std::size_t(distance)] += count;
        m_leftOut += count;
    }
    [[nodiscard]] const UsedSites &sites() const { return m_sites; }
    /// Of a datacenter, by its id; −1 where there is none.
    [[nodiscard]] int numberOf(const std::string &id) const
    {
        const auto found = m_numbers.find(id);
        return found == m_numbers.end() ? -1 : found->second;
    }
    [[nodiscard]] std::string labelOf(const std::string &id) const
    {
        const int number = numberOf(id);
        return number < 0 ? id : m_plan.cluster.datacenters[std::size_t(number)].label();
    }

    BetterParts take()
    {
        BetterParts parts { {}, m_leftOut, m_looked };
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
    std::unordered_map<std::string_view, int> m_numbers; // of datacenters
    std::size_t m_most, m_leftOut = 0, m_looked = 0;
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

/// Every window of a link, where connections are counted.
void addWindows(Parts &parts, const Plan &plan)
{
    for (std::size_t i = 0; plan.wan.tcpConnections && i < plan.cluster.wanLinks.size(); ++i) {
        const auto &[a, b] = plan.cluster.wanLinks[i].between;
        if (plan.cluster.wanLinks[i].tcpWindowMb > 0)
            parts.add(parts.sites().distance(parts.numberOf(a), parts.numberOf(b)), "link:" + a + "-" + b + ":window",
                "2", parts.labelOf(a) + "–" + parts.labelOf(b) + " twice the TCP window",
                always([=](Plan &p) { p.cluster.wanLinks[i].tcpWindowMb *= 2; }));
    }
}

/// More of a resource, in a size that one could order.
void addMore(Parts &parts, const HardwareResource &resource)
{
    const auto add = [&](const std::string &size, const std::string &label, double value, int count = 1) {
        parts.add(resource.distance, resource.id, size, label,
            always([set = resource.set, value](Plan &p) { set(p, value); }), count);
    };
    const double now = resource.now, more = step(now), twice = 2 * now;
    const std::string &place = resource.place, change = number(now) + " → " + number(twice);
    switch (resource.kind) {
    case ResourceKind::NodePair:
        return add(number(more), place + " +" + number(more) + " Gbps per node pair", now + more);
    case ResourceKind::LinkBandwidth:
        return add(number(more), place + " +" + number(more) + " Gbps", now + more);
    case ResourceKind::RoundTrip:
        return add(number(more), place + " −" + number(more) + " ms round trip", now - more);
    case ResourceKind::Node:
        for (const int nodes : kNodeSteps)
            add(std::to_string(nodes), "+" + counted(nodes, "node") + place, now + nodes, nodes);
        return;
    case ResourceKind::Nic:
        return add("2", "Fabric " + change + " Gbps per GPU" + place, twice);
    case ResourceKind::DriveSpeed:
        return add("2",
            std::string("Drives ") + (resource.id.starts_with("drives-read") ? "read " : "write ") + change
                + " GB/s per node" + place,
            twice);
    case ResourceKind::HostLink:
        if (!place.empty()) // else of a type of GPU, which the next one has
            add("2", "Host memory " + change + " GB/s per GPU" + place, twice);
        return;
    case ResourceKind::NvLink: // what a type of GPU has comes with the next one
    case ResourceKind::HbmSize:
    case ResourceKind::HbmSpeed:
    case ResourceKind::PeakFlops:
    case ResourceKind::NextGpu:
    case ResourceKind::Budget:
        return;
    }
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
                always([type, id = better->id](Plan &p) { replaceGpus(p, type, id); }));
        }
    }
}

void addMove(Parts &parts, const Plan &plan, int from, int to, int nodes)
{
    const Datacenter &source = plan.cluster.datacenters[std::size_t(from)],
                     &target = plan.cluster.datacenters[std::size_t(to)];
    parts.add(
        parts.sites().distance(from, to), "move:" + source.id + ":" + target.id, std::to_string(nodes),
        "Move " + counted(nodes, "node") + " " + source.label() + " → " + target.label(),
        [=, gpus = nodes * source.pools.back().gpusPerNode](Plan &p) {
            Expected<Cluster> moved = moveGpus(p.cluster, from, gpus, to);
            if (moved)
                p.cluster = std::move(*moved);
            return moved.has_value();
        },
        nodes);
}

/// Nodes to every other datacenter. What cannot be among the nearest any more is counted and not looked at, so that the
/// work grows with the datacenters and not with their pairs.
void addMoves(Parts &parts, const Plan &plan)
{
    const auto &datacenters = plan.cluster.datacenters;
    const int count = int(datacenters.size());
    int unused = 0;
    for (int d = 0; d < count; ++d)
        unused += parts.sites().distance(d);
    for (int from = 0; from < count; ++from) {
        const Datacenter &source = datacenters[std::size_t(from)];
        if (source.pools.empty())
            continue;
        const auto isThere = [&, gpus = source.gpus()](
                                 int nodes) { return nodes * source.pools.back().gpusPerNode <= gpus; };
        const auto sizes = std::size_t(std::ranges::count_if(kNodeSteps, isThere));
        const int own = parts.sites().distance(from);
        const std::array targets { count - unused - (1 - own), unused - own }; // that hold a stage, that hold none
        const std::array isLeft { parts.isFull(own), parts.isFull(own + 1) };
        for (const int isUnused : { 0, 1 })
            if (isLeft[std::size_t(isUnused)])
                parts.leaveOut(own + isUnused, sizes * std::size_t(targets[std::size_t(isUnused)]));
        if ((isLeft[0] || targets[0] == 0) && (isLeft[1] || targets[1] == 0))
            continue;
        for (int to = 0; to < count; ++to)
            for (const int nodes : kNodeSteps)
                if (to != from && isThere(nodes) && !isLeft[std::size_t(parts.sites().distance(to))])
                    addMove(parts, plan, from, to, nodes);
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
            const std::string from = parts.labelOf(pins[i].datacenter), to = parts.labelOf(pins[j].datacenter);
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
    const std::vector<HardwareResource> resources = resourcesOf(plan, catalogue, layout);
    const auto isLink = [](const HardwareResource &resource) { return resource.id.starts_with("link:"); };
    for (const HardwareResource &resource : resources)
        if (isLink(resource))
            addMore(parts, resource);
    addWindows(parts, plan);
    addMoves(parts, plan);
    addPins(parts, plan);
    addGpus(parts, plan, catalogue);
    for (const HardwareResource &resource : resources)
        if (!isLink(resource))
            addMore(parts, resource);
    return parts.take();
}

BetterParts rearrangements(const Plan &plan, const Layout *layout, std::size_t most)
{
    Parts parts(plan, layout, most);
    addWindows(parts, plan);
    addMoves(parts, plan);
    addPins(parts, plan);
    return parts.take();
}

std::size_t mostParts(std::size_t spans)
{
    return std::clamp<std::size_t>(kMostPartSpans / std::max<std::size_t>(1, spans), 1, kMostParts);
}

} // namespace trainyard
