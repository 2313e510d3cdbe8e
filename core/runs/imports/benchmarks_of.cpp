// SPDX-License-Identifier: GPL-3.0-or-later
// What iperf3, nccl-tests and fio measured, where a plan has a key for it: a link between datacenters, the fabric of
// one, the drives of a node.
#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/runs/imports/draft.h"

#include <algorithm>

namespace trainyard::imports {

namespace {

constexpr double kLargeMessage = 128e6; // bytes from which a collective is bound by the fabric

const BenchmarkPoint *fastestPoint(const Draft &draft, const auto &isMeant, const auto &rateOf)
{
    const BenchmarkPoint *found = nullptr;
    for (const BenchmarkPoint &point : draft.recording.benchmarks)
        if (isMeant(point) && rateOf(point) > 0 && rateOf(point) < 1e15 && (!found || rateOf(point) > rateOf(*found)))
            found = &point;
    return found;
}

void takeWan(Draft &draft)
{
    const auto isTcp = [](const BenchmarkPoint &point) { return point.what == "tcp" || point.what == "tcp_reverse"; };
    const BenchmarkPoint *fastest =
        fastestPoint(draft, isTcp, [](const BenchmarkPoint &point) { return point.bytesPerSecond; });
    if (!fastest)
        return;
    double rtt = 0;
    for (const BenchmarkPoint &point : draft.recording.benchmarks)
        if (isTcp(point) && point.rttSeconds > 0 && (rtt == 0 || point.rttSeconds < rtt))
            rtt = point.rttSeconds;
    auto &links = draft.plan.cluster.wanLinks;
    const std::string from = draft.sourceOf(fastest->source);
    if (links.size() != 1)
        return draft.ignore("TCP throughput of " + from + ": the plan has "
            + (links.empty() ? "no link" : std::to_string(links.size()) + " links") + " between datacenters, and "
            + from + " does not say which it is of");
    WanLink &link = links.front();
    link.nodePairGbps = fastest->bytesPerSecond * 8e-9;
    link.capacityGbps = std::max(link.capacityGbps, link.nodePairGbps);
    draft.taken.push_back("wan_links[0].node_pair_gbps " + plainText(link.nodePairGbps) + " with "
        + std::to_string(fastest->streams) + (fastest->streams == 1 ? " connection from " : " connections from ")
        + from);
    if (rtt <= 0 || rtt > 100)
        return;
    link.rttMs = rtt * 1e3;
    draft.taken.push_back("wan_links[0].rtt_ms " + plainText(link.rttMs) + " from " + from + ", the least that it saw");
}

void takeFabric(Draft &draft)
{
    auto &datacenters = draft.plan.cluster.datacenters;
    if (datacenters.empty() || datacenters[0].pools.empty())
        return;
    // A ring through several nodes enters and leaves each at the rate that nccl-tests call bus bandwidth.
    const BenchmarkPoint *fastest = fastestPoint(
        draft,
        [](const BenchmarkPoint &point) {
            return point.nodes > 1 && point.bytes >= kLargeMessage && point.ranks > 0
                && (point.what == "all_reduce" || point.what == "all_gather" || point.what == "reduce_scatter");
        },
        [](const BenchmarkPoint &point) { return point.busBytesPerSecond; });
    if (!fastest)
        return;
    const double own = fastest->busBytesPerSecond * 1e-9 / std::max(1, fastest->ranks / fastest->nodes);
    const std::string from = draft.sourceOf(fastest->source);
    const Pool &pool = datacenters[0].pools[0];
    const GpuSpec *gpu = gpuOf(pool, draft.catalogue);
    const double nominal = datacenters[0].fabricGbpsPerGpu.value_or(gpu ? gpu->fabricGbps : 0) / 8;
    if (nominal > 0 && own > nominal)
        return draft.ignore(from + " reaches " + plainText(own) + " GB/s per GPU between nodes, more than the "
            + plainText(nominal) + " of the plan's fabric: fabric_gbps_per_gpu is another");
    datacenters[0].fabricMeasuredGBps = own;
    draft.taken.push_back("datacenters[0].fabric_measured_gbytes_per_s " + plainText(own) + " from "
        + plainText(fastest->busBytesPerSecond * 1e-9) + " GB/s bus bandwidth of " + std::to_string(fastest->ranks)
        + " GPUs on " + std::to_string(fastest->nodes) + " nodes (" + from + ")");
}

/// Of all measurements of drives the median, as calibration takes it; 0: there is none.
struct DriveRate {
    double gbytesPerS = 0;
    std::uint32_t source = kNoIndex; // of the first
};
DriveRate driveRate(const Draft &draft, std::string_view what)
{
    DriveRate rate;
    std::vector<double> values;
    for (const BenchmarkPoint &point : draft.recording.benchmarks) {
        if (point.what != what || !(point.bytesPerSecond > 0 && point.bytesPerSecond < 1e15))
            continue;
        if (values.empty())
            rate.source = point.source;
        values.push_back(point.bytesPerSecond * 1e-9);
    }
    rate.gbytesPerS = medianOf(std::move(values));
    return rate;
}

void takeDrives(Draft &draft)
{
    const DriveRate write = driveRate(draft, "write"), read = driveRate(draft, "read");
    if (!(write.gbytesPerS > 0) && !(read.gbytesPerS > 0))
        return;
    for (Datacenter &datacenter : draft.plan.cluster.datacenters)
        for (Pool &pool : datacenter.pools) {
            if (!pool.ssd) {
                pool.ssd.emplace();
                const bool isWritten = write.gbytesPerS > 0;
                pool.ssd->writeGBps = pool.ssd->readGBps = isWritten ? write.gbytesPerS : read.gbytesPerS;
                if (!isWritten || !(read.gbytesPerS > 0))
                    draft.assume(std::string("Drives are taken to ") + (isWritten ? "read" : "write")
                        + " as fast as they " + (isWritten ? "write" : "read"));
            }
            if (write.gbytesPerS > 0)
                pool.ssd->writeGBps = write.gbytesPerS;
            if (read.gbytesPerS > 0)
                pool.ssd->readGBps = read.gbytesPerS;
        }
    if (write.gbytesPerS > 0)
        draft.taken.push_back(
            "pools[].ssd.write_gbytes_per_s " + plainText(write.gbytesPerS) + " from " + draft.sourceOf(write.source));
    if (read.gbytesPerS > 0)
        draft.taken.push_back(
            "pools[].ssd.read_gbytes_per_s " + plainText(read.gbytesPerS) + " from " + draft.sourceOf(read.source));
}

} // namespace

void takeBenchmarks(Draft &draft)
{
    if (draft.recording.benchmarks.empty())
        return;
    takeWan(draft);
    takeFabric(draft);
    takeDrives(draft);
}

} // namespace trainyard::imports
