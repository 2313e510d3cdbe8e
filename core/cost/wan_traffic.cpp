// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/wan_traffic.h"

#include "core/cluster/wan.h"
#include "core/schedule/chunks.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

/// Tensor groups of one node that send at the same time: they share the node pair.
int groupsPerNode(const Workload &workload, StageSeat seat)
{
    const Parallelism &p = workload.plan->parallelism;
    const int fit = std::max(1, workload.pool(seat).gpusPerNode / p.tensor);
    return std::min(fit, workload.layout.data * p.context);
}

/// Which of the link's two directions leads from one datacenter to another.
int direction(const Cluster &cluster, const WanLink &link, int from)
{
    return link.between[0] == cluster.datacenters[std::size_t(from)].id ? 0 : 1;
}

/// What one node may put on the link: its NICs carry WAN and fabric traffic alike.
double nodeRate(const Workload &workload, const WanLink &link, StageSeat seat)
{
    const double nics = gbitsPerSecond(workload.fabricGbps(seat)).value * workload.pool(seat).gpusPerNode;
    return std::min(nodePairThroughput(link, workload.plan->wan.tcpConnections).value, nics);
}

/// Pieces of a cell's transfer to or from the other nodes of the cell, each GPU of the tensor group over its own NIC.
Nanoseconds piecesTime(const Workload &workload, StageSeat seat, double bytes, Link fabric)
{
    const Parallelism &p = workload.plan->parallelism;
    fabric.bandwidth = gbitsPerSecond(workload.fabricGbps(seat));
    return toNanoseconds(transferTime(Bytes{bytes / (p.tensor * p.context)}, 1, fabric));
}

/// First GPU in its pool of one pipeline's stage, and how many it has; negative where the layout does not say.
struct Position { int first = -1, gpus = 0; };

Position positionOf(const Layout &layout, int stage, int pipeline)
{
    for (const GpuRun &run : layout.runs) {
        if (run.stage != stage || pipeline < run.firstPipeline || pipeline >= run.firstPipeline + run.pipelines)
            continue;
        const int each = run.gpus / run.pipelines;
        return {run.firstGpu + (pipeline - run.firstPipeline) * each, each};
    }
    return {};
}

/// Whether every pipeline of the class has both stages on GPUs that reach each other without the fabric; else the
/// slowest crosses it. Pipelines repeat their places after one domain of GPUs.
bool staysInDomain(const Layout &layout, const PipelineClass &pipelines, int from, int to, int domain)
{
    for (int i = 0; i < std::min(pipelines.pipelines, domain); ++i) {
        const Position a = positionOf(layout, from, pipelines.firstPipeline + i), b = positionOf(layout, to, pipelines.firstPipeline + i);
        if (a.first < 0 || b.first < 0 || a.first / domain != (a.first + a.gpus - 1) / domain || a.first / domain != b.first / domain
            || b.first / domain != (b.first + b.gpus - 1) / domain)
            return false;
    }
    return true;
}

} // namespace

int pipelinesPerNode(const Workload &workload, StageSeat seat)
{
    return std::max(1, groupsPerNode(workload, seat) / workload.plan->parallelism.context);
}

BoundaryTimes boundaryTimes(const Workload &workload, const PipelineClass &pipelines, int fromStage, int toStage,
                            const LayerSite &site, std::vector<WanLinkUse> &links, Crossing crossing)
{
    const StageSeat from = pipelines.seats[std::size_t(fromStage)], to = pipelines.seats[std::size_t(toStage)];
    const Plan &plan = *workload.plan;
    BoundaryTimes times;
    const double contextRanks = plan.profile ? 1 : plan.parallelism.context;
    for (int backward = 0; backward < 2; ++backward)
        times.bytes[backward] = workload.boundaryBytes(backward == 1) * crossing.tokens * contextRanks;
    if (from.datacenter == to.datacenter) {
        if (plan.profile)
            return times;   // a profile has no other cost than its own
        // The tensor group sends its slices side by side, each GPU over its own NIC (scatter-gather or sequence parallel).
        const bool sameNode = from == to && staysInDomain(workload.layout, pipelines, fromStage, toStage, site.domain);
        const double slice = workload.boundaryBytes(false) * crossing.tokens / plan.parallelism.tensor;
        const Seconds whole = transferTime(Bytes{slice}, 1, sameNode ? site.device : site.fabric);
        const Seconds seen = whole * (1 - std::clamp(workload.stack.pipelineOverlap, 0.0, 1.0));
        times.hold[0] = times.hold[1] = toNanoseconds(seen);
        return times;
    }
    const int linkIndex = plan.cluster.linkBetween(plan.cluster.datacenters[std::size_t(from.datacenter)].id,
                                                   plan.cluster.datacenters[std::size_t(to.datacenter)].id);
    const WanLink &link = plan.cluster.wanLinks[std::size_t(linkIndex)];
    const int sharing = std::max(groupsPerNode(workload, from), groupsPerNode(workload, to));
    const double pairRate = std::min(nodeRate(workload, link, from), nodeRate(workload, link, to));
    times.isWan = true;
    times.wanLink = linkIndex;
    const int forward = direction(plan.cluster, link, from.datacenter);
    for (int backward = 0; backward < 2; ++backward) {
        const int way = backward ? 1 - forward : forward;
        times.linkDirection[backward] = 2 * linkIndex + way;
        times.rateCap[backward] = contextRanks * pairRate / sharing * pipelines.lanes;
        times.hold[backward] = toNanoseconds(Seconds{times.bytes[backward] / times.rateCap[backward]});
        times.latency[backward] = toNanoseconds(milliseconds(link.rttMs / 2));
        if (pipelines.lanes > 1 && !plan.profile) {
            const double pieces = times.bytes[backward] * (pipelines.lanes - 1) / pipelines.lanes;
            times.scatter[backward] = piecesTime(workload, backward ? to : from, pieces, site.fabric);
            times.gather[backward] = piecesTime(workload, backward ? from : to, pieces, site.fabric);
        }
        links[std::size_t(linkIndex)].bytes[std::size_t(way)]
            += times.bytes[backward] * pipelines.microBatches * crossing.microBatches * pipelines.pipelines;
    }
    return times;
}

Seconds wanReduceTime(const Workload &workload, int stage, Bytes gradient, std::vector<WanLinkUse> &links)
{
    if (gradient.value <= 0)
        return {};
    const Cluster &cluster = workload.plan->cluster;
    struct Site { int datacenter; StageSeat seat; int nodes; };
    std::vector<Site> sites;
    const int mirror = mirrorStage(*workload.plan, stage);
    const int copies = mirror == stage ? 1 : 2;
    for (std::size_t i = 0; i < workload.layout.classes.size() * std::size_t(copies); ++i) {
        const PipelineClass &c = workload.layout.classes[i / std::size_t(copies)];
        const StageSeat seat = c.seats[std::size_t(i % std::size_t(copies) == 0 ? stage : mirror)];
        auto site = std::find_if(sites.begin(), sites.end(), [&](const Site &s) { return s.datacenter == seat.datacenter; });
        if (site == sites.end())
            site = sites.insert(sites.end(), {seat.datacenter, seat, 0});
        const int perNode = std::max(1, workload.pool(seat).gpusPerNode / workload.plan->parallelism.tensor);
        site->nodes += (c.pipelines * workload.plan->parallelism.context + perNode - 1) / perNode;
    }
    if (sites.size() < 2)
        return {};

    std::sort(sites.begin(), sites.end(), [](const Site &a, const Site &b) { return a.datacenter < b.datacenter; });
    const int stagesSharing = workload.plan->parallelism.pipeline / copies;   // every stage reduces over the same links at the end
    struct Hop { double rate; double latency; int link; int way; };
    const auto hop = [&](const Site &a, const Site &b) -> Hop {
        const int index = cluster.linkBetween(cluster.datacenters[std::size_t(a.datacenter)].id,
                                              cluster.datacenters[std::size_t(b.datacenter)].id);
        if (index < 0)
            return {0, 0, -1, 0};
        const WanLink &link = cluster.wanLinks[std::size_t(index)];
        const double pairs = std::min(a.nodes, b.nodes) * std::min(nodeRate(workload, link, a.seat), nodeRate(workload, link, b.seat));
        return {std::min(pairs, gbitsPerSecond(link.capacityGbps).value / stagesSharing), link.rttMs / 2e3, index,
                direction(cluster, link, a.datacenter)};
    };
    // The order in which the slowest hop is fastest; a closed ring is preferred to a chain there and back.
    struct Route { double seconds = std::numeric_limits<double>::infinity(); std::vector<Hop> hops; bool isRing = false; } best;
    const double n = double(sites.size());
    int tries = 0;
    do {
        std::vector<Hop> hops;
        for (std::size_t i = 0; i + 1 < sites.size(); ++i)
            hops.push_back(hop(sites[i], sites[i + 1]));
        const Hop closing = hop(sites.back(), sites.front());
        const bool isRing = sites.size() == 2 || closing.link >= 0;
        if (isRing)
            hops.push_back(closing);
        if (std::any_of(hops.begin(), hops.end(), [](const Hop &h) { return h.link < 0; }))
            continue;
        double slowest = std::numeric_limits<double>::infinity(), latency = 0;
        for (const Hop &h : hops) {
            slowest = std::min(slowest, h.rate);
            latency += h.latency;
        }
        const double volume = gradient.value * (isRing ? 2 * (n - 1) / n : 2);
        const double seconds = volume / slowest + 2 * latency * (isRing ? (n - 1) / n : 1);
        if (seconds < best.seconds)
            best = {seconds, std::move(hops), isRing};
    } while (++tries < 5040 && std::next_permutation(sites.begin(), sites.end(), [](const Site &a, const Site &b) {
                 return a.datacenter < b.datacenter;
             }));
    if (best.hops.empty()) {
        // No route passes every datacenter once (a star, say): up and down a tree of direct links.
        Route tree;
        double slowest = std::numeric_limits<double>::infinity(), latency = 0;
        for (std::size_t joined = 1; joined < sites.size(); ++joined) {
            for (std::size_t next = joined, from = 0; next < sites.size() && tree.hops.size() < joined; ++next) {
                for (from = 0; from < joined && tree.hops.size() < joined; ++from) {
                    const Hop h = hop(sites[from], sites[next]);
                    if (h.link < 0)
                        continue;
                    tree.hops.push_back(h);
                    slowest = std::min(slowest, h.rate);
                    latency += h.latency;
                    std::swap(sites[joined], sites[next]);
                }
            }
        }
        tree.seconds = gradient.value * 2 / slowest + 2 * latency;
        best = std::move(tree);
    }
    for (const Hop &h : best.hops) {
        auto &bytes = links[std::size_t(h.link)].bytes;
        if (best.isRing) {
            bytes[std::size_t(h.way)] += gradient.value * 2 * (n - 1) / n;
        } else {
            bytes[0] += gradient.value;
            bytes[1] += gradient.value;
        }
    }
    return Seconds{best.seconds};
}

} // namespace trainyard
