// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/imports/cluster_of.h"

#include "core/hardware/gpu_name.h"
#include "core/imports/catalogue_gpu.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

std::string counted(std::size_t count, const char *one, const char *many)
{
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string plain(double value)
{
    std::string text = std::to_string(std::round(value * 100) / 100);
    text.erase(text.find_last_not_of('0') + 1);
    return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

/// What `known` does not have is taken from `more`.
void complete(RecordedNodes &known, const RecordedNodes &more)
{
    if (known.gpu.empty())
        known.gpu = more.gpu;
    for (const auto member : { &RecordedNodes::gpus, &RecordedNodes::nics })
        if (known.*member == 0)
            known.*member = more.*member;
    for (const auto member :
        { &RecordedNodes::nicBytesPerSecond, &RecordedNodes::nvlinkBytesPerSecond, &RecordedNodes::hostMemoryBytes })
        if (!(known.*member > 0))
            known.*member = more.*member;
    known.isNvlinkSwitched |= more.isNvlinkSwitched;
}

auto kindOf(const RecordedNodes &one)
{
    return std::tuple(
        one.gpu, one.gpus, one.nics, one.nicBytesPerSecond, one.nvlinkBytesPerSecond, one.hostMemoryBytes);
}

/// "node1" of "node1.cluster.example": sources differ in which they write.
std::string shortHost(const std::string &name)
{
    const auto dot = name.find('.');
    const bool isAddress = !name.empty() && name[0] >= '0' && name[0] <= '9';
    return isAddress ? name : name.substr(0, dot);
}

class Machines {
public:
    Machines(const Recording &recording, const Catalogue &catalogue, const Cluster &base,
        std::vector<std::string> &taken, std::vector<std::string> &assumed)
        : m_recording(recording)
        , m_catalogue(catalogue)
        , m_taken(taken)
        , m_assumed(assumed)
    {
        if (base.datacenters.empty())
            m_datacenter.id = "site";
        else
            m_datacenter = base.datacenters.front();
        if (!m_datacenter.pools.empty())
            m_like = m_datacenter.pools.front();
        m_extra = base.extra;
    }

    std::optional<Cluster> cluster()
    {
        gather();
        if (m_kinds.empty() && m_recording.prices.empty())
            return std::nullopt;
        if (!m_kinds.empty())
            makePools();
        const bool hasPrice = takePrices();
        if (m_kinds.empty() && !hasPrice)
            return std::nullopt;
        Cluster cluster;
        cluster.extra = m_extra;
        cluster.datacenters.push_back(std::move(m_datacenter));
        return cluster;
    }

private:
    [[nodiscard]] std::string fileOf(std::uint32_t source) const
    {
        if (source >= m_recording.sources.size())
            return "the recording";
        const std::string &file = m_recording.sources[source].file;
        return file.substr(file.find_last_of('/') + 1);
    }

    /// Named nodes by name; those without names tell of one kind of node each.
    void gather()
    {
        std::map<std::string, RecordedNodes> named;
        std::vector<RecordedNodes> kinds;
        for (const RecordedNodes &nodes : m_recording.nodes) {
            for (const std::string &name : nodes.names) {
                RecordedNodes one = nodes;
                one.names.clear();
                one.count = 1;
                const auto [at, isNew] = named.try_emplace(shortHost(name), std::move(one));
                if (!isNew)
                    complete(at->second, nodes);
            }
            if (!nodes.names.empty())
                continue;
            // several files of one node tell of it together
            const auto same = std::ranges::find_if(kinds, [&](const RecordedNodes &known) {
                return known.gpus == nodes.gpus && known.count == nodes.count
                    && (known.gpu.empty() || nodes.gpu.empty() || known.gpu == nodes.gpu);
            });
            if (same == kinds.end())
                kinds.push_back(nodes);
            else
                complete(*same, nodes);
        }
        std::map<decltype(kindOf({})), std::size_t> numbers;
        for (auto &[name, one] : named) {
            const auto fits = std::ranges::find_if(
                kinds, [&](const RecordedNodes &kind) { return one.gpus == 0 || one.gpus == kind.gpus; });
            // a node of which a scheduler tells that it has no GPU has none
            if (fits != kinds.end() && (one.gpus > 0 || one.hostMemoryBytes == 0))
                complete(one, *fits);
            const auto [kind, isNew] = numbers.try_emplace(kindOf(one), m_kinds.size());
            if (isNew)
                m_kinds.push_back(one);
            else
                ++m_kinds[kind->second].count;
            m_isNamed = true;
        }
        if (!m_isNamed)
            m_kinds = std::move(kinds);
    }

    [[nodiscard]] const GpuSpec *gpuOf(const RecordedNodes &kind, Pool &pool)
    {
        std::string name = kind.gpu;
        for (const RankRecording &rank : m_recording.ranks)
            if (name.empty() && catalogueGpu(m_catalogue, rank.gpu))
                name = rank.gpu;
        if (const GpuSpec *gpu = name.empty() ? nullptr : catalogueGpu(m_catalogue, name)) {
            pool.gpu = gpu->id;
            pool.inlineGpu.reset();
            m_taken.push_back("cluster.gpu " + gpu->id + " from " + name + " (" + fileOf(kind.source) + ")");
            return gpu;
        }
        const GpuSpec *gpu = pool.inlineGpu ? &*pool.inlineGpu : m_catalogue.gpu(pool.gpu);
        m_assumed.push_back(name.empty() ? "No source names the GPUs: " + pool.gpu + " stays"
                                         : "The catalogue has no GPU " + name + ": " + pool.gpu + " stays");
        return gpu;
    }

    /// GPUs of the blocks that are one NVLink domain, where the nodes of each are parts of it; else 0.
    [[nodiscard]] int gpusOfBlocks(const GpuSpec *gpu, int gpusPerNode)
    {
        std::set<std::size_t> sizes;
        for (const RecordedSwitch &one : m_recording.switches)
            if (one.isBlock)
                sizes.insert(one.below.size());
        if (sizes.size() != 1 || !gpu)
            return 0;
        const std::size_t gpus = *sizes.begin() * static_cast<std::size_t>(gpusPerNode);
        return gpus > static_cast<std::size_t>(gpusPerNode) && gpus <= static_cast<std::size_t>(gpu->linkDomain)
            ? static_cast<int>(gpus)
            : 0;
    }

    void makePools()
    {
        const bool tellsGpus = std::ranges::any_of(m_kinds, [](const RecordedNodes &kind) { return kind.gpus > 0; });
        std::vector<Pool> pools;
        std::size_t without = 0;
        double fabric = 0;
        for (const RecordedNodes &kind : m_kinds) {
            if (tellsGpus && kind.gpus == 0) {
                without += static_cast<std::size_t>(kind.count);
                continue;
            }
            pools.push_back(poolOf(kind, pools.size()));
            const double gbps = kind.nics * kind.nicBytesPerSecond * 8e-9 / std::max(kind.gpus, 1);
            if (kind.gpus > 0 && gbps > 0) {
                if (fabric > 0 && std::abs(fabric - gbps) > 0.01 * fabric)
                    m_assumed.emplace_back("Nodes differ in the speed of their NICs: the slowest counts for all");
                fabric = fabric > 0 ? std::min(fabric, gbps) : gbps;
                m_taken.push_back("fabric_gbps_per_gpu " + plain(gbps) + " from "
                    + counted(std::size_t(kind.nics), "NIC", "NICs") + " at " + plain(kind.nicBytesPerSecond * 8e-9)
                    + " Gbit/s (" + fileOf(kind.source) + ")");
            }
        }
        if (without > 0)
            m_assumed.push_back(counted(without, "node", "nodes") + " without a GPU left out");
        if (!pools.empty())
            m_datacenter.pools = std::move(pools);
        if (fabric > 0)
            m_datacenter.fabricGbpsPerGpu = fabric;
        if (m_recording.switches.size() > 1)
            m_assumed.push_back("Its " + std::to_string(m_recording.switches.size())
                + " switches and blocks are taken as one network without bottlenecks");
    }

    Pool poolOf(const RecordedNodes &kind, std::size_t index)
    {
        Pool pool = m_like;
        if (index > 0 || pool.id.empty())
            pool.id = "pool" + std::to_string(index + 1);
        const GpuSpec *gpu = gpuOf(kind, pool);
        if (gpu && gpu->id != m_like.gpu)
            pool.usdPerGpuHour.reset();
        if (kind.gpus > 0)
            pool.gpusPerNode = kind.gpus;
        else
            m_assumed.push_back(
                "No source tells how many GPUs a node has: " + std::to_string(pool.gpusPerNode) + " stays");
        pool.nodes = nodesOf(kind, pool);
        if (const int gpus = gpusOfBlocks(gpu, pool.gpusPerNode);
            gpus > 0 && (pool.nodes * pool.gpusPerNode) % gpus == 0) {
            pool.nodes = pool.nodes * pool.gpusPerNode / gpus;
            pool.gpusPerNode = gpus;
            m_taken.push_back("gpus_per_node " + std::to_string(gpus) + " from Slurm's blocks, which share NVLink");
        }
        if (kind.hostMemoryBytes > 0) {
            Host host = pool.host.value_or(Host { 0, gpu ? gpu->pcieGBps : 0 });
            host.memoryGib = kind.hostMemoryBytes / (1024.0 * 1024 * 1024);
            if (host.gbytesPerSecondPerGpu > 0) {
                m_taken.push_back("host.memory_gib " + plain(host.memoryGib) + " (" + fileOf(kind.source) + ")");
                pool.host = host;
            }
        }
        if (gpu && kind.nvlinkBytesPerSecond > 0
            && std::abs(kind.nvlinkBytesPerSecond / 1e9 - gpu->linkGBps) > 0.05 * gpu->linkGBps)
            m_assumed.push_back("A GPU's NVLinks carry " + plain(kind.nvlinkBytesPerSecond / 1e9)
                + " GB/s, the catalogue's " + shortName(*gpu) + " has " + plain(gpu->linkGBps)
                + ": the catalogue's is taken");
        return pool;
    }

    [[nodiscard]] int nodesOf(const RecordedNodes &kind, const Pool &pool)
    {
        // a topology of one node does not tell how many there are; a run does
        if (m_isNamed || kind.count > 1) {
            m_taken.push_back("nodes " + std::to_string(kind.count) + " of " + std::to_string(pool.gpusPerNode)
                + " GPUs (" + fileOf(kind.source) + ")");
            return kind.count;
        }
        int world = 0;
        for (const RankRecording &rank : m_recording.ranks)
            world = std::max(world, rank.worldSize);
        const int perNode = std::max(pool.gpusPerNode, 1);
        if (world >= perNode && m_kinds.size() == 1) {
            m_taken.push_back("nodes " + std::to_string(world / perNode) + " of " + std::to_string(perNode)
                + " GPUs from " + std::to_string(world) + " ranks");
            return world / perNode;
        }
        const int nodes = std::max(m_like.nodes, 1);
        m_assumed.push_back("No source tells how many nodes there are: " + std::to_string(nodes) + " stays");
        return nodes;
    }

    /// The cheapest offer of the same GPU, of as many in an instance where there is one.
    bool takePrices()
    {
        bool isAny = false;
        for (Pool &pool : m_datacenter.pools) {
            const RecordedPrice *best = nullptr;
            std::size_t offers = 0;
            const auto order = [&](const RecordedPrice &one) {
                return std::tuple(one.gpus != pool.gpusPerNode, one.usdPerHour / one.gpus);
            };
            std::map<std::string_view, bool> isThisGpu; // a catalogue has few names and very many rows
            for (const RecordedPrice &one : m_recording.prices) {
                if (!(one.usdPerHour > 0) || !(one.gpus > 0))
                    continue;
                const auto [at, isNew] = isThisGpu.try_emplace(one.gpu, false);
                if (isNew) {
                    const GpuSpec *gpu = catalogueGpu(m_catalogue, one.gpu);
                    at->second = gpu && gpu->id == pool.gpu;
                }
                if (!at->second)
                    continue;
                ++offers;
                best = !best || order(one) < order(*best) ? &one : best;
            }
            if (!best)
                continue;
            isAny = true;
            pool.usdPerGpuHour = best->usdPerHour / best->gpus;
            m_taken.push_back("usd_per_gpu_hour " + plain(*pool.usdPerGpuHour) + " of " + best->instance
                + (best->region.empty() ? "" : " in " + best->region)
                + (offers > 1 ? ", the cheapest of " + std::to_string(offers) + " offers" : "") + " ("
                + fileOf(best->source) + ")");
        }
        return isAny;
    }

    const Recording &m_recording;
    const Catalogue &m_catalogue;
    std::vector<std::string> &m_taken, &m_assumed;
    Datacenter m_datacenter;
    Pool m_like;
    Extra m_extra;
    std::vector<RecordedNodes> m_kinds;
    bool m_isNamed = false;
};

} // namespace

std::optional<Cluster> clusterOf(const Recording &recording, const Catalogue &catalogue, const Cluster &base,
    std::vector<std::string> &taken, std::vector<std::string> &assumed)
{
    return Machines(recording, catalogue, base, taken, assumed).cluster();
}

} // namespace trainyard
