// SPDX-License-Identifier: GPL-3.0-or-later
// The machines of a run: as topologies tell them, or as many nodes of the plan's first pool as the run had GPUs; which
// GPU it was, by whatever names it; prices by GPU.
#include "core/base/number_text.h"
#include "core/base/printable.h"
#include "core/facts/catalogue/nvlinks.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/hardware/gpu_name.h"
#include "core/runs/imports/draft.h"
#include "core/runs/imports/told_gpu.h"
#include "core/runs/imports/told_nodes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace trainyard::imports {

namespace {

constexpr int kMostNodes = 1'000'000, kMostGpusOfNode = 1024;

std::string nameOf(const Draft &draft, const Pool &pool)
{
    const GpuSpec *gpu = gpuOf(pool, draft.catalogue);
    return gpu ? shortName(*gpu) : pool.gpu;
}

Pool firstPool(const Plan &base)
{
    for (const Datacenter &datacenter : base.cluster.datacenters)
        if (!datacenter.pools.empty())
            return datacenter.pools.front();
    Pool pool;
    pool.id = "pool-1";
    pool.gpu = "h100-sxm-80gb";
    pool.nodes = 1;
    return pool;
}

/// The first datacenter of the plan alone, without pools: everything ran there.
Datacenter &onlyDatacenter(Draft &draft)
{
    Cluster &cluster = draft.plan.cluster;
    if (cluster.datacenters.empty())
        cluster.datacenters.push_back({ .id = "datacenter-1" });
    if (cluster.datacenters.size() > 1)
        draft.assume("No source tells of several datacenters: all of it ran in " + cluster.datacenters[0].label());
    cluster.datacenters.resize(1);
    cluster.wanLinks.clear();
    draft.plan.placement.stages.clear();
    draft.plan.heterogeneity.assign.clear();
    cluster.datacenters[0].pools.clear();
    return cluster.datacenters[0];
}

void assumeGpu(Draft &draft, const Pool &pool)
{
    draft.assumeGpu("The type of GPU is told by no source: " + nameOf(draft, pool)
        + (draft.hasOwnPools ? ", as in the plan" : " is assumed"));
}

/// Sets the pool's GPU by a name; false where the catalogue has none of it.
bool setGpu(Draft &draft, Pool &pool, const std::string &name, const std::string &from)
{
    const NamedGpu found = gpuNamed(name, draft.catalogue);
    if (!found.gpu) {
        if (auto measured = measuredGpu(draft.recording, name)) {
            draft.taken.push_back("pools[].gpu from what the probe measured of " + shortened(name) + " (" + from
                + "): " + plainText(measured->peakFlops(draft.plan.workload.precision) / 1e12) + " TFLOP/s");
            pool.inlineGpu = *std::move(measured);
            pool.gpu.clear();
            pool.usdPerGpuHour.reset(); // was another's
            return true;
        }
        draft.doubt(shortened(name) + " (" + from + ")",
            "is no GPU of the catalogue: " + nameOf(draft, pool) + " is counted in its place");
        draft.assumeGpu("The catalogue has no GPU called " + shortened(name) + " (" + from + "): " + nameOf(draft, pool)
            + " is taken");
        return false;
    }
    if (pool.inlineGpu || pool.gpu != found.gpu->id) {
        pool.usdPerGpuHour.reset(); // was another's
        pool.inlineGpu.reset();
    }
    pool.gpu = found.gpu->id;
    draft.taken.push_back("pools[].gpu " + found.gpu->id + " from " + shortened(name) + " (" + from + ")");
    if (!found.ofChip.empty())
        draft.doubt(shortened(name) + " (" + from + ")",
            "is the chip of " + std::string(found.ofChip)
                + ", and which it is no source tells: " + shortName(*found.gpu) + " is counted");
    else if (!found.isSure)
        draft.assumeGpu(
            shortened(name) + " (" + from + ") does not tell form and memory: " + shortName(*found.gpu) + " is taken");
    return true;
}

/// What a topology tells of its GPUs without their names, against the GPU that is counted.
void checkCapability(Draft &draft, const Pool &pool, int capability, const std::string &from)
{
    const GpuSpec *gpu = gpuOf(pool, draft.catalogue);
    const int own = gpu ? computeCapability(gpu->name) : 0;
    if (!gpu || own == capability || (own == 0 && gpu->vendor == "NVIDIA"))
        return;
    std::string those;
    for (const GpuSpec &one : draft.catalogue.gpus)
        if (computeCapability(one.name) == capability && those.size() < 100)
            those += (those.empty() ? "" : ", ") + shortName(one);
    const auto text = [](int value) { return std::to_string(value / 10) + "." + std::to_string(value % 10); };
    draft.doubt("Compute capability " + text(capability) + " (" + from + ")",
        "is not of " + shortName(*gpu) + (own > 0 ? ", which has " + text(own) : std::string()) + " and is counted: "
            + (those.empty() ? std::string("no GPU of the catalogue has it") : "of " + those + " it is"));
}

/// Links between the GPUs of a node, where they are told and other than the catalogue's by more than a tenth.
void setNvlink(Draft &draft, Pool &pool, const RecordedNodes &nodes, const std::string &from)
{
    const GpuSpec *gpu = gpuOf(pool, draft.catalogue);
    const double told = nodes.nvlinkBytesPerSecond / 1e9;
    if (!gpu || !(told > 0) || told > 1e5 || std::abs(told - gpu->linkGBps) <= 0.1 * std::max(gpu->linkGBps, told))
        return;
    pool.inlineGpu = *gpu;
    pool.inlineGpu->id.clear();
    pool.inlineGpu->linkGBps = told;
    pool.inlineGpu->linkDomain = std::max(1, nodes.gpus);
    pool.gpu.clear();
    draft.taken.push_back("pools[].gpu.link_gbytes_per_s " + plainText(told) + " from " + from
        + ", where the catalogue has " + plainText(gpu->linkGBps));
}

Pool poolOf(Draft &draft, const CountedNodes &counted, const Pool &model)
{
    const RecordedNodes &nodes = counted.like;
    const std::string from = draft.sourceOf(nodes.source);
    Pool pool = model;
    pool.nodes = std::clamp(
        nodes.count > 0 ? nodes.count : int(std::min<std::size_t>(nodes.names.size(), kMostNodes)), 0, kMostNodes);
    if (nodes.gpus > 0)
        pool.gpusPerNode = std::min(nodes.gpus, kMostGpusOfNode);
    else
        draft.assume("How many GPUs a node has is not told by " + from + ": "
            + std::to_string(draft.gpusPerNode.value_or(model.gpusPerNode)));
    if (nodes.gpus <= 0 && draft.gpusPerNode)
        pool.gpusPerNode = *draft.gpusPerNode;
    const auto other = toldGpu(draft);
    const int capability = capabilityNamed(nodes.gpu);
    if (!nodes.gpu.empty() && capability == 0)
        setGpu(draft, pool, nodes.gpu, from);
    else if (other)
        setGpu(draft, pool, other->name, other->from);
    else
        assumeGpu(draft, pool);
    if (capability > 0)
        checkCapability(draft, pool, capability, from);
    setNvlink(draft, pool, nodes, from);
    for (const std::string &fault : nodes.faults)
        draft.doubt(from, fault + ". The plan counts whole nodes");
    if (nodes.hostMemoryBytes > 0 && nodes.hostMemoryBytes < 1e16) {
        if (!pool.host)
            pool.host.emplace();
        pool.host->memoryGib = std::round(nodes.hostMemoryBytes / double(1 << 30));
        draft.taken.push_back("pools[].host.memory_gib " + plainText(pool.host->memoryGib) + " from " + from);
    }
    draft.taken.push_back("pools[].nodes " + wholeText(pool.nodes) + counted.why
        + (nodes.gpus > 0 ? ", each with " + std::to_string(pool.gpusPerNode) + " GPUs," : std::string()) + " from "
        + from);
    return pool;
}

/// What a GPU has of its node's NICs, where all nodes that tell it agree.
void setFabric(Draft &draft, Datacenter &datacenter)
{
    std::optional<double> gbps;
    std::string from;
    for (const RecordedNodes &nodes : draft.recording.nodes) {
        if (!(nodes.nicBytesPerSecond > 0))
            continue;
        if (nodes.nics <= 0 || nodes.gpus <= 0) {
            draft.ignore("NICs of " + plainText(nodes.nicBytesPerSecond * 8e-9) + " Gbit/s ("
                + draft.sourceOf(nodes.source) + "): how many GPUs share one is not told there");
            continue;
        }
        const double own = nodes.nicBytesPerSecond * nodes.nics * 8e-9 / nodes.gpus;
        if (own > 1e5)
            continue;
        if (gbps && std::abs(own - *gbps) > 0.01 * *gbps)
            draft.assume("Nodes have unequal NICs: the slowest count for all");
        if (!gbps || own < *gbps)
            from = draft.sourceOf(nodes.source);
        gbps = gbps ? std::min(*gbps, own) : own;
    }
    if (!gbps)
        return;
    datacenter.fabricGbpsPerGpu = *gbps;
    datacenter.fabricMeasuredGBps.reset();
    draft.taken.push_back("fabric_gbps_per_gpu " + plainText(*gbps) + " from " + from);
}

/// Links below switches have no key of a plan of their own: which of them a training uses is not told.
void leaveOutSwitches(Draft &draft)
{
    std::map<std::uint32_t, std::pair<double, double>> rates; // by source: the slowest and the fastest link
    for (const RecordedSwitch &one : draft.recording.switches)
        if (one.linkBytesPerSecond > 0) {
            const double rate = one.linkBytesPerSecond * 8e-9;
            const auto [at, isNew] = rates.try_emplace(one.source, rate, rate);
            at->second = { std::min(at->second.first, rate), std::max(at->second.second, rate) };
        }
    for (const auto &[source, range] : rates)
        draft.ignore("Links of switches at " + plainText(range.first)
            + (range.second > range.first ? " to " + plainText(range.second) : std::string()) + " Gbit/s ("
            + draft.sourceOf(source) + "): how many of them a GPU has is not told there");
}

bool takeNodes(Draft &draft)
{
    const std::vector<CountedNodes> told = countedNodes(draft);
    if (told.empty())
        return false;
    const Pool model = firstPool(draft.plan);
    Datacenter &datacenter = onlyDatacenter(draft);
    std::set<std::string> ids;
    for (const CountedNodes &nodes : told) {
        Pool pool = poolOf(draft, nodes, model);
        if (pool.nodes < 1)
            continue;
        std::string id = pool.id.empty() ? "pool-1" : pool.id;
        for (int i = 2; !ids.insert(id).second; ++i)
            id = (pool.id.empty() ? "pool" : pool.id) + "-" + std::to_string(i);
        pool.id = id;
        datacenter.pools.push_back(std::move(pool));
    }
    if (datacenter.pools.empty())
        datacenter.pools.push_back(model);
    setFabric(draft, datacenter);
    draft.isClusterTold = true;
    return true;
}

/// A plan of several places with as many GPUs as the run: no argument tells places, so that nothing says otherwise.
bool staysAsPlanned(Draft &draft, bool isGpuTold)
{
    const Cluster &cluster = draft.plan.cluster;
    std::size_t pools = 0;
    bool hasSuchNodes = true;
    for (const Datacenter &datacenter : cluster.datacenters) {
        pools += datacenter.pools.size();
        for (const Pool &pool : datacenter.pools)
            hasSuchNodes = hasSuchNodes && (!draft.gpusPerNode || *draft.gpusPerNode == pool.gpusPerNode);
    }
    if (isGpuTold || pools < 2 || !hasSuchNodes || cluster.gpus() != *draft.worldSize)
        return false;
    draft.assume("Where the " + wholeText(*draft.worldSize)
        + " GPUs stand, and which they are, is told by no source: as in the plan, which has as many");
    return true;
}

/// As many nodes of the plan's first pool as the run had GPUs.
void takeWorld(Draft &draft)
{
    const auto told = toldGpu(draft);
    if (!draft.worldSize) {
        if (told)
            for (Datacenter &datacenter : draft.plan.cluster.datacenters)
                for (Pool &pool : datacenter.pools)
                    setGpu(draft, pool, told->name, told->from);
        if (draft.hasOwnPools)
            draft.assume(
                "How many GPUs ran is told by no source: the " + wholeText(draft.plan.cluster.gpus()) + " of the plan");
        if (!told && draft.plan.cluster.gpus() > 0)
            assumeGpu(draft, firstPool(draft.plan));
        return;
    }
    const int world = *draft.worldSize;
    if (staysAsPlanned(draft, told.has_value()))
        return;
    Pool pool = firstPool(draft.plan);
    int own = draft.gpusPerNode.value_or(pool.gpusPerNode);
    if (world < own)
        own = world;
    if (!draft.gpusPerNode)
        draft.assume("How many GPUs a node has is told by no source: " + std::to_string(own));
    pool.gpusPerNode = std::clamp(own, 1, kMostGpusOfNode);
    pool.nodes = (world + pool.gpusPerNode - 1) / pool.gpusPerNode;
    if (pool.nodes > kMostNodes)
        return draft.bad("world_size", "makes " + wholeText(pool.nodes) + " nodes", "at most " + wholeText(kMostNodes));
    if (told)
        setGpu(draft, pool, told->name, told->from);
    else
        assumeGpu(draft, pool);
    onlyDatacenter(draft).pools.push_back(pool);
    draft.taken.push_back("pools[].nodes " + wholeText(pool.nodes) + ", each with " + std::to_string(pool.gpusPerNode)
        + " GPUs, for a world of " + wholeText(world));
}

void takePrices(Draft &draft)
{
    if (draft.recording.prices.empty())
        return;
    int taken = 0;
    for (Datacenter &datacenter : draft.plan.cluster.datacenters)
        for (Pool &pool : datacenter.pools) {
            const RecordedPrice *best = nullptr;
            double least = 0;
            bool hasSize = false;
            for (const RecordedPrice &price : draft.recording.prices) {
                if (!(price.gpus > 0) || !(price.usdPerHour > 0) || price.gpu.empty() || pool.gpu.empty())
                    continue;
                const NamedGpu named = gpuNamed(price.gpu, draft.catalogue);
                const double own = price.usdPerHour / price.gpus;
                if (!named.gpu || named.gpu->id != pool.gpu || own > 1e6)
                    continue;
                // an instance of as many GPUs as the nodes goes before cheaper ones
                const bool isSize = std::llround(price.gpus) == pool.gpusPerNode;
                if (!best || (isSize && !hasSize) || (isSize == hasSize && own < least)) {
                    best = &price;
                    least = own;
                    hasSize = isSize;
                }
            }
            if (!best)
                continue;
            ++taken;
            pool.usdPerGpuHour = least;
            draft.taken.push_back("pools[].usd_per_gpu_hour " + plainText(least) + " from " + shortened(best->instance)
                + (best->region.empty() ? "" : ", " + shortened(best->region)) + " (" + draft.sourceOf(best->source)
                + "), the cheapest of that GPU");
        }
    if (taken == 0)
        draft.ignore("Prices are of other GPUs than the plan's");
}

} // namespace

void takeCluster(Draft &draft)
{
    if (!takeNodes(draft))
        takeWorld(draft);
    tellOtherGpus(draft);
    leaveOutSwitches(draft);
    takePrices(draft);
}

} // namespace trainyard::imports
