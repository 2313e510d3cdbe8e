// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/jobs/serving.h"

#include "core/base/number_text.h"
#include "core/systems/jobs/unit_bytes.h"

#include <algorithm>

namespace trainyard {

namespace {

bool hasTimes(const JobSpec &job, const JobGpu &gpu)
{
    const auto kind = static_cast<std::size_t>(gpu.kind);
    return gpu.kind >= 0 && kind < job.seconds.size() && !job.seconds[kind].empty()
        && job.seconds[kind].size() == job.units.size();
}

bool isPinnedElsewhere(const JobSpec &job, std::size_t gpu)
{
    return !job.gpus.empty() && std::ranges::find(job.gpus, static_cast<int>(gpu)) == job.gpus.end();
}

bool isInDatacenter(const JobSet &set, const JobGpu &gpu, int node)
{
    const auto own = static_cast<std::size_t>(gpu.node), host = static_cast<std::size_t>(node);
    return own < set.nodes.size() && set.nodes[own].site == set.nodes[host].site;
}

bool carries(const JobSet &set, double rate, const std::vector<std::uint32_t> &links)
{
    return rate > 0 && std::ranges::all_of(links, [&](std::uint32_t link) {
        return set.links.empty() || (link < set.links.size() && set.links[link] > 0);
    });
}

/// Why none of the GPUs may run it.
std::string whyNoGpu(const JobSet &set, const JobSpec &job)
{
    std::size_t inReach = 0, pinned = 0, timed = 0;
    double largest = -1;
    for (std::size_t g = 0; g < set.gpus.size(); ++g) {
        const JobGpu &gpu = set.gpus[g];
        if (!isInDatacenter(set, gpu, job.node) || !hasWay(set, loads(job), stores(job), g, job.node))
            continue;
        ++inReach;
        if (isPinnedElsewhere(job, g))
            continue;
        ++pinned;
        if (!hasTimes(job, gpu))
            continue;
        ++timed;
        largest = std::max(largest, gpu.memory);
    }
    const std::string host = "node " + std::to_string(job.node);
    if (inReach == 0)
        return "no GPU can be reached from its host, " + host;
    if (pinned == 0)
        return "is pinned to GPUs that cannot be reached from its host, " + host;
    if (timed == 0)
        return "runs on none of the kinds of GPU that can be reached from its host, " + host;
    return "needs " + bytesText(largestNeed(job)) + " of GPU memory for its largest unit, the largest GPU has "
        + bytesText(largest) + " for units";
}

} // namespace

bool loads(const JobSpec &job)
{
    return std::ranges::any_of(job.units, [](const JobUnit &unit) { return unit.weights > 0 || unit.input > 0; });
}

bool stores(const JobSpec &job)
{
    return std::ranges::any_of(job.units, [](const JobUnit &unit) { return unit.writeBack > 0 || unit.output > 0; });
}

bool hasWay(const JobSet &set, bool loads, bool stores, std::size_t gpu, int node)
{
    if (set.routeOf.empty())
        return !loads && !stores;
    const auto host = static_cast<std::size_t>(node);
    const int index = host < set.routeOf.size() && gpu < set.routeOf[host].size() ? set.routeOf[host][gpu] : -1;
    if (index < 0 || static_cast<std::size_t>(index) >= set.routes.size())
        return false;
    const JobRoute &route = set.routes[static_cast<std::size_t>(index)];
    return (!loads || carries(set, route.toGpu, route.linksToGpu))
        && (!stores || carries(set, route.toHost, route.linksToHost));
}

std::vector<std::uint8_t> servedBy(const JobSet &set, const JobSpec &job, int node)
{
    std::vector<std::uint8_t> served(set.gpus.size(), 0);
    if (!isNode(set, node) || job.units.empty())
        return served;
    const double need = largestNeed(job);
    const bool toGpu = loads(job), toHost = stores(job);
    for (std::size_t g = 0; g < set.gpus.size(); ++g)
        served[g] = hasTimes(job, set.gpus[g]) && need <= set.gpus[g].memory && !isPinnedElsewhere(job, g)
            && isInDatacenter(set, set.gpus[g], node) && hasWay(set, toGpu, toHost, g, node);
    return served;
}

std::string neverRuns(const JobSet &set, const JobSpec &job)
{
    if (job.units.empty() || job.minibatches <= 0)
        return "has no work";
    if (set.nodes.empty() || set.gpus.empty())
        return "there is no GPU";
    if (job.node < 0) { // any node will do; of those that will not, the one with the most memory tells why
        JobSpec there = job;
        int largest = 0;
        for (int node = 0; isNode(set, node); ++node) {
            there.node = node;
            if (neverRuns(set, there).empty())
                return {};
            if (set.nodes[static_cast<std::size_t>(node)].memory > set.nodes[static_cast<std::size_t>(largest)].memory)
                largest = node;
        }
        there.node = largest;
        return neverRuns(set, there);
    }
    if (!isNode(set, job.node))
        return "its host, node " + std::to_string(job.node) + ", does not exist";
    if (const double memory = set.nodes[static_cast<std::size_t>(job.node)].memory; job.hostPeak() > memory)
        return "needs " + bytesText(job.hostPeak()) + " of host memory, node " + std::to_string(job.node) + " has "
            + bytesText(memory);
    const std::vector<std::uint8_t> served = servedBy(set, job, job.node);
    return std::ranges::find(served, 1) != served.end() ? "" : whyNoGpu(set, job);
}

} // namespace trainyard
