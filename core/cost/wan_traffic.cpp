// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/wan_traffic.h"

#include "core/cost/wan_codec.h"
#include "core/cost/wan_path.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Tensor groups of one node that send at the same time: they share the node pair.
int groupsPerNode(const Workload &workload, StageLocation location)
{
    const Parallelism &p = workload.plan->parallelism;
    const int fit = std::max(1, workload.pool(location).gpusPerNode / p.tensor);
    return std::min(fit, workload.layout.data * p.context);
}

/// The same under a profile, whose figures are those of a whole pipeline.
int groupsThatShare(const Workload &workload, StageLocation location)
{
    return workload.plan->profile ? pipelinesPerNode(workload, location) : groupsPerNode(workload, location);
}

/// Pieces of a cell's transfer to or from the other nodes of the cell, each GPU of the tensor group over its own NIC.
Nanoseconds piecesTime(const Workload &workload, StageLocation location, double bytes, Link fabric)
{
    const Parallelism &p = workload.plan->parallelism;
    fabric.bandwidth = gbitsPerSecond(workload.fabricGbps(location));
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

/// Nodes hold the replicas in the same order, so that a pair carries as many groups as the node with fewer of them; each node's
/// NICs carry all of its own.
double shareOfPair(const Workload &workload, int link, StageLocation from, StageLocation to)
{
    const int groupsFrom = groupsThatShare(workload, from), groupsTo = groupsThatShare(workload, to);
    return std::min({workload.transports[std::size_t(link)].rate.value / std::min(groupsFrom, groupsTo),
                     nicRate(workload, from).value / groupsFrom, nicRate(workload, to).value / groupsTo});
}

PairLimit limitOfPair(const Workload &workload, int link, StageLocation from, StageLocation to)
{
    const int groupsFrom = groupsThatShare(workload, from), groupsTo = groupsThatShare(workload, to);
    const PairLimit pair = transportLimit(workload, link);
    const double ofPair = pair.rate.value / std::min(groupsFrom, groupsTo);
    const double ofSender = nicRate(workload, from).value / groupsFrom, ofReceiver = nicRate(workload, to).value / groupsTo;
    if (ofPair <= std::min(ofSender, ofReceiver))
        return pair;
    return {WanLimit::NodeNics, nicRate(workload, ofSender < ofReceiver ? from : to)};
}

int pipelinesPerNode(const Workload &workload, StageLocation location)
{
    return std::max(1, groupsPerNode(workload, location) / workload.plan->parallelism.context);
}

BoundaryTimes boundaryTimes(const Workload &workload, const PipelineClass &pipelines, int fromStage, int toStage,
                            const LayerSite &site, std::vector<WanLinkUse> &links, Crossing crossing)
{
    const StageLocation from = pipelines.locations[std::size_t(fromStage)], to = pipelines.locations[std::size_t(toStage)];
    const Plan &plan = *workload.plan;
    BoundaryTimes times;
    const double contextRanks = plan.profile ? 1 : plan.parallelism.context;
    for (int backward = 0; backward < 2; ++backward)
        times.bytes[backward] = workload.boundaryBytes(backward == 1) * crossing.tokens * contextRanks
            * (from.datacenter == to.datacenter ? 1 : activationBits(plan).share());
    if (from.datacenter == to.datacenter) {
        if (plan.profile)
            return times;   // a profile has no other cost than its own
        // The tensor group sends its slices side by side, each GPU over its own NIC (scatter-gather or sequence parallel).
        const bool sameNode = from == to && staysInDomain(workload.layout, pipelines, fromStage, toStage, site.domain);
        const double slice = workload.boundaryBytes(false) * crossing.tokens / plan.parallelism.tensor;
        const Seconds whole = transferTime(Bytes{slice}, 1, sameNode ? site.device : site.fabric);
        const Seconds seen = whole * (1 - std::clamp(workload.stack.pipelineOverlap, 0.0, 1.0));
        times.serialization[0] = times.serialization[1] = toNanoseconds(seen);
        return times;
    }
    const int linkIndex = workload.links.between(from.datacenter, to.datacenter);
    const WanLink &link = plan.cluster.wanLinks[std::size_t(linkIndex)];
    const double rate = shareOfPair(workload, linkIndex, from, to);
    times.isWan = true;
    times.wanLink = linkIndex;
    const int forward = direction(plan.cluster, link, from.datacenter);
    for (int backward = 0; backward < 2; ++backward) {
        const int way = backward ? 1 - forward : forward;
        times.linkDirection[backward] = 2 * linkIndex + way;
        times.rateCap[backward] = contextRanks * rate * pipelines.cellMembers;
        times.serialization[backward] = toNanoseconds(Seconds{times.bytes[backward] / times.rateCap[backward]});
        times.latency[backward] = toNanoseconds(milliseconds(link.rttMs / 2));
        if (pipelines.cellMembers > 1 && !plan.profile) {
            const double pieces = times.bytes[backward] * (pipelines.cellMembers - 1) / pipelines.cellMembers;
            times.scatter[backward] = piecesTime(workload, backward ? to : from, pieces, site.fabric);
            times.gather[backward] = piecesTime(workload, backward ? from : to, pieces, site.fabric);
        }
        links[std::size_t(linkIndex)].bytes[std::size_t(way)]
            += times.bytes[backward] * pipelines.microBatches * crossing.microBatches * pipelines.pipelines;
    }
    return times;
}

} // namespace trainyard
