// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/nccl_xml.h"
#include "core/runs/telemetry/readers/node_builder.h"
#include "core/runs/telemetry/readers/nvlink_rates.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/readers/xml_scan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace trainyard::readers {

namespace {

constexpr std::int64_t kDefaultNetMegabits = 10000; // that NCCL takes where a network tells no speed
constexpr std::size_t kMostHostsFused = 100000;

/// GB/s of a slot as NCCL counts them: lanes × 60, 120, 240 or 480 at 8, 16, 32 or 64 GT/s, by 80.
double pcieBytesPerSecond(std::string_view speed, std::string_view width)
{
    const double transfers = numberIn(speed.substr(0, speed.find(' '))).value_or(0);
    const double lanes = numberIn(width).value_or(0);
    double perLane = 0;
    for (const double known : { 2.5, 5.0, 8.0, 16.0, 32.0, 64.0 })
        if (std::abs(transfers - known) < 0.2)
            perLane = known == 2.5 ? 15 : known == 5.0 ? 30 : known * 7.5;
    return perLane > 0 && lanes > 0 && lanes <= 32 ? lanes * perLane / 80 * 1e9 : 0;
}

struct NcclNet {
    std::string name;
    double megabits = 0;
    int root = 0; // the device below a CPU that it is behind; one more each
    bool reachesGpus = true; // by GPUDirect RDMA
};

struct NcclHost {
    int gpuDevices = 0, gpus = 0, infiniband = 0, ethernet = 0; // PCI devices, and what NCCL found
    std::map<std::string, NcclNet> nets; // by name and device
    std::set<int> rootsOfGpus;
    int links = -1, computeCapability = 0; // fewest NVLinks of a GPU
    std::string chip; // of AMD's GPUs, "gfx942"
    bool goesToSwitches = false, goesToGpus = false, isXgmi = false;
    double pcie = 0; // of the slowest GPU's slot
};

/// The networks that carry training, as NCCL would choose them: of unlike speeds neither what is far slower than the
/// fastest (a port for management), nor what is slower and shares no PCIe switch with a GPU where the fastest do (a
/// port for storage).
std::vector<NcclNet> trainingNets(const NcclHost &host)
{
    constexpr double kFarSlower = 4;
    const auto isNear = [&](const NcclNet &net) { return host.rootsOfGpus.contains(net.root); };
    double fastest = 0;
    for (const auto &[key, net] : host.nets)
        fastest = std::max(fastest, net.megabits);
    const bool areFastestNear = std::ranges::any_of(
        host.nets, [&](const auto &one) { return one.second.megabits == fastest && isNear(one.second); });
    std::vector<NcclNet> chosen;
    for (const auto &[key, net] : host.nets)
        if (net.megabits == fastest || (net.megabits * kFarSlower > fastest && (isNear(net) || !areFastestNear)))
            chosen.push_back(net);
    return chosen;
}

class DeviceTree {
public:
    explicit DeviceTree(RecordingBuilder &scribe)
        : m_scribe(scribe)
    {
    }

    void open(const XmlElement &element)
    {
        ++m_scribe.source().taken;
        const std::string_view name = element.name, parent = m_path.empty() ? "" : std::string_view(m_path.back());
        if (name == "cpu") {
            m_isStrange |= parent != "system" || !element.has("numaid");
            const std::string_view host = element["host_hash"];
            if (m_hosts.size() < kMostHostsFused || m_hosts.contains(std::string(host)))
                m_host = &m_hosts[std::string(host)];
        } else if (name == "pci") {
            m_isStrange |= (parent != "cpu" && parent != "pci") || !element.has("busid");
            m_root += parent == "cpu";
            addDevice(element);
        } else if (name == "gpu") {
            m_isStrange |= parent != "pci" || !element.has("dev");
            closeGpu();
            m_host->gpus += m_host->gpus < 4096;
            if (m_host->rootsOfGpus.size() < 4096)
                m_host->rootsOfGpus.insert(m_root);
            m_isInGpu = true;
            if (const auto sm = integerIn(element["sm"]); sm && *sm > 0 && *sm < 1000)
                m_host->computeCapability = static_cast<int>(*sm);
            takeChip(element["gcn"]);
        } else if ((name == "nvlink" || name == "xgmi") && m_isInGpu) {
            m_host->isXgmi |= name == "xgmi";
            m_links += static_cast<int>(std::clamp<std::int64_t>(integerIn(element["count"]).value_or(0), 0, 64));
            m_links = std::min(m_links, 64);
            (element["tclass"].starts_with("0x068") ? m_host->goesToSwitches : m_host->goesToGpus) = true;
        } else if (name == "nic") {
            m_root += parent == "cpu"; // behind no device that a GPU could share
        } else if (name == "net") {
            m_isStrange |= parent != "nic";
            addNet(element);
        }
        m_path.emplace_back(name);
    }

    void close(std::string_view name)
    {
        if (name == "gpu")
            closeGpu();
        if (!m_path.empty())
            m_path.pop_back();
    }

    [[nodiscard]] bool isStrange() const { return m_isStrange; }

    void finish()
    {
        closeGpu();
        for (const auto &[hash, host] : m_hosts)
            addHost(host);
    }

private:
    void addDevice(const XmlElement &element)
    {
        const std::string_view kind = element["class"];
        const bool isGpu = (kind.starts_with("0x0302") || kind.starts_with("0x0300") || kind.starts_with("0x0380")
                               || kind.starts_with("0x1200"))
            && (element["vendor"].empty() || element["vendor"] == "0x10de" || element["vendor"] == "0x1002"
                || element["vendor"] == "0x0000");
        const double pcie = pcieBytesPerSecond(element["link_speed"], element["link_width"]);
        if (isGpu) {
            m_host->gpuDevices += m_host->gpuDevices < 4096;
            if (pcie > 0)
                m_host->pcie = m_host->pcie > 0 ? std::min(m_host->pcie, pcie) : pcie;
        }
        m_host->infiniband += kind.starts_with("0x0207") && m_host->infiniband < 4096;
        m_host->ethernet += kind.starts_with("0x0200") && m_host->ethernet < 4096;
    }

    /// RCCL's "gfx942:sramecc+:xnack-", or of older ones "942"; its "910" was gfx90a.
    void takeChip(std::string_view gcn)
    {
        gcn = gcn.substr(0, gcn.find(':'));
        if (gcn.empty() || gcn.size() > 12)
            return;
        m_host->computeCapability = 0; // what it calls so is no capability of CUDA
        m_host->chip = gcn == "910" ? "gfx90a" : gcn.starts_with("gfx") ? std::string(gcn) : "gfx" + std::string(gcn);
    }

    void addNet(const XmlElement &element)
    {
        double megabits = numberIn(element["speed"]).value_or(0);
        if (!(megabits > 0) || megabits > 1e8) {
            megabits = kDefaultNetMegabits;
            m_scribe.note("Networks without a speed count as 10 Gbit/s, as NCCL takes them");
        }
        std::string key = std::string(element["name"]).append("/").append(element["dev"]);
        if (m_host->nets.size() < 4096)
            m_host->nets.emplace(
                std::move(key), NcclNet { std::string(element["name"]), megabits, m_root, element["gdr"] != "0" });
    }

    void closeGpu()
    {
        if (!m_isInGpu)
            return;
        m_host->links = m_host->links < 0 ? m_links : std::min(m_host->links, m_links);
        m_isInGpu = false;
        m_links = 0;
    }

    void noteLeftOut(const NcclHost &host, const std::vector<NcclNet> &chosen)
    {
        std::string names;
        for (const auto &[key, net] : host.nets)
            if (std::ranges::none_of(chosen, [&](const NcclNet &one) {
                    return one.name == net.name && one.megabits == net.megabits && one.root == net.root;
                }))
                names += (names.empty() ? "" : ", ") + net.name + " (" + plainNumber(net.megabits / 1e3) + " Gbit/s)";
        if (!names.empty())
            m_scribe.note("Not counted as NICs of training, since they are slower than the others and farther from "
                          "the GPUs, or far slower: "
                + names);
    }

    void addHost(const NcclHost &host)
    {
        RecordedNodes node;
        node.gpus = host.gpus > 0 ? host.gpus : host.gpuDevices;
        const std::vector<NcclNet> nets = trainingNets(host);
        node.nics = static_cast<int>(nets.size());
        noteLeftOut(host, nets);
        bool areFar = !nets.empty() && node.gpus > 0;
        for (const NcclNet &net : nets) {
            const double rate = net.megabits * 1e6 / 8;
            areFar = areFar && !net.reachesGpus;
            if (node.nicBytesPerSecond > 0 && rate != node.nicBytesPerSecond)
                m_scribe.note("Its NICs differ in speed: the slowest counts");
            node.nicBytesPerSecond = node.nicBytesPerSecond > 0 ? std::min(node.nicBytesPerSecond, rate) : rate;
        }
        if (areFar) {
            node.faults.push_back(
                "Its NICs reach no memory of a GPU (gdr 0): what is exchanged between nodes passes the "
                "hosts' memory, and takes longer");
            m_scribe.note(node.faults.back());
        }
        if (node.nics == 0 && (node.nics = host.infiniband > 0 ? host.infiniband : host.ethernet) > 0)
            m_scribe.note(host.infiniband > 0
                    ? "It lists no network of NCCL: its InfiniBand adapters count as NICs, of unknown speed"
                    : "It lists no network of NCCL: its Ethernet adapters count as NICs, of unknown speed");
        if (host.gpus == 0 && host.gpuDevices > 0)
            m_scribe.note("It lists no GPU of NCCL: its PCI devices of a GPU's class are counted, and NVLinks are not "
                          "told, as in the files of cloud images");
        if (host.links > 0) {
            node.isNvlinkSwitched = host.goesToSwitches && !host.goesToGpus;
            node.nvlinkBytesPerSecond = host.isXgmi ? 0 : host.links * nvlinkBytesPerSecond(host.computeCapability);
            m_scribe.note("A GPU has " + std::to_string(host.links) + (host.isXgmi ? " XGMI links" : " NVLinks")
                + (node.isNvlinkSwitched ? ", to switches" : "")
                + (node.nvlinkBytesPerSecond > 0 ? "" : "; what one of them carries is not known"));
        }
        node.gpu = host.chip;
        if (host.chip.empty() && host.computeCapability > 0)
            node.gpu = "sm_" + std::to_string(host.computeCapability);
        if (host.computeCapability > 0)
            m_scribe.note("Its GPUs have compute capability " + std::to_string(host.computeCapability / 10) + "."
                + std::to_string(host.computeCapability % 10) + "; it does not name them");
        if (host.pcie > 0)
            m_scribe.note("A GPU's slot carries " + plainNumber(host.pcie / 1e9) + " GB/s, as NCCL counts PCIe");
        if (node.gpus > 0 || node.nics > 0)
            addNode(m_scribe, {}, std::move(node));
    }

    RecordingBuilder &m_scribe;
    std::map<std::string, NcclHost> m_hosts; // by host_hash
    NcclHost m_nowhere;
    NcclHost *m_host = &m_nowhere;
    std::vector<std::string> m_path;
    int m_links = 0, m_root = 0;
    bool m_isInGpu = false, m_isStrange = false;
};

} // namespace

int looksLikeNcclTopology(std::string_view, std::string_view head)
{
    return xmlRoot(head) == "system" ? 90 : 0;
}

Expected<Recording> readNcclTopology(const SourceText &source, const SourceOptions &options)
{
    RecordingBuilder scribe(source, SourceKind::NcclTopology);
    DeviceTree topology(scribe);
    scanXml(source, options,
        { .open = [&](const XmlElement &element) { topology.open(element); },
            .close = [&](std::string_view name) { topology.close(name); } },
        scribe);
    if (topology.isStrange())
        return refusal(source,
            "It is XML like a topology of NCCL, but not as NCCL writes it: <system><cpu numaid=…><pci busid=…><gpu "
            "dev=…> and <pci><nic><net>");
    topology.finish();
    if (scribe.recording().nodes.empty())
        return refusal(source, "It is a topology of NCCL without a GPU and without a network adapter");
    return scribe.finish();
}

} // namespace trainyard::readers
