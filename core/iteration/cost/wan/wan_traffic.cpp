// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/wan/wan_traffic.h"

#include "core/iteration/cost/wan/wan_codec.h"
#include "core/iteration/cost/wan/wan_path.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Of a node, at the same time: tensor groups or, where the figures are those of a whole pipeline, pipelines.
double groupsThatShare(const Workload &workload, StageLocation location)
{
    return workload.source.sendsWhole ? pipelinesPerNode(workload, location) : groupsPerNode(workload, location);
}

/// Pieces of a cell's transfer to or from the other nodes of the cell, each GPU of the tensor group over its own NIC.
Nanoseconds piecesTime(const Workload &workload, StageLocation location, double bytes, Link fabric)
{
    fabric.bandwidth = gbitsPerSecond(workload.fabricGbps(location));
    return toNanoseconds(transferTime(Bytes { bytes / workload.degreesAt(location).gpusOfStage() }, 1, fabric));
}

} // namespace

/// Nodes hold the replicas in the same order, so that a pair carries as many groups as the node with fewer of them;
/// each node's NICs carry all of its own.
double shareOfPair(const Workload &workload, int link, StageLocation from, StageLocation to)
{
    const double groupsFrom = groupsThatShare(workload, from), groupsTo = groupsThatShare(workload, to);
    return std::min({ workload.transports[std::size_t(link)].rate.value / std::min(groupsFrom, groupsTo),
        nicRate(workload, from).value / groupsFrom, nicRate(workload, to).value / groupsTo });
}

PairLimit limitOfPair(const Workload &workload, int link, StageLocation from, StageLocation to)
{
    const double groupsFrom = groupsThatShare(workload, from), groupsTo = groupsThatShare(workload, to);
    const PairLimit pair = transportLimit(workload, link);
    const double ofPair = pair.rate.value / std::min(groupsFrom, groupsTo);
    const double ofSender = nicRate(workload, from).value / groupsFrom,
                 ofReceiver = nicRate(workload, to).value / groupsTo;
    if (ofPair <= std::min(ofSender, ofReceiver))
        return pair;
    return { WanLimit::NodeNics, nicRate(workload, ofSender < ofReceiver ? from : to) };
}

BoundaryTimes boundaryTimes(const Workload &workload, const PipelineClass &pipelines, int fromStage, int toStage,
    const LayerSite &site, std::vector<WanLinkUse> &links, Crossing crossing)
{
    const StageLocation from = pipelines.locations[std::size_t(fromStage)],
                        to = pipelines.locations[std::size_t(toStage)];
    const Plan &plan = *workload.plan;
    BoundaryTimes times;
    const double parts = workload.boundaryParts();
    for (int backward = 0; backward < 2; ++backward)
        times.bytes[backward] = workload.boundaryBytes(backward == 1) * crossing.tokens * parts
            * (from.datacenter == to.datacenter ? 1 : activationBits(plan).share());
    const Reach reach = reachBetween(workload, pipelines, fromStage, toStage);
    if (reach != Reach::Wan) {
        if (workload.source.includesFabric)
            return times;
        // The tensor group sends its slices side by side, each GPU over its own NIC (scatter-gather or sequence
        // parallel). Of two unlike groups the smaller one's GPUs have more to pass.
        const double slice =
            workload.boundaryBytes(false) * crossing.tokens / std::min(workload.tensorAt(from), workload.tensorAt(to));
        const Seconds whole = transferTime(Bytes { slice }, 1, reach == Reach::Node ? site.device : site.fabric);
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
        times.rateCap[backward] = parts * rate * pipelines.cellMembers;
        times.serialization[backward] = toNanoseconds(Seconds { times.bytes[backward] / times.rateCap[backward] });
        times.latency[backward] = toNanoseconds(milliseconds(workload.roundTripMs(linkIndex) / 2));
        if (pipelines.cellMembers > 1 && !workload.source.includesFabric) {
            const double pieces = times.bytes[backward] * (pipelines.cellMembers - 1) / pipelines.cellMembers;
            times.scatter[backward] = piecesTime(workload, backward ? to : from, pieces, site.fabric);
            times.gather[backward] = piecesTime(workload, backward ? from : to, pieces, site.fabric);
        }
        links[std::size_t(linkIndex)].bytes[std::size_t(way)] +=
            times.bytes[backward] * pipelines.microBatches * crossing.microBatches * pipelines.pipelines;
    }
    return times;
}

} // namespace trainyard
