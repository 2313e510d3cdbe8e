// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/hwloc.h"

#include "core/runs/telemetry/readers/node_builder.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/readers/xml_scan.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

constexpr int kMostDevices = 4096;

/// Bytes of a NUMA node; Machine has them in hwloc 1, where it has no NUMA nodes.
double memoryOf(const XmlElement &object)
{
    return amountIn(object["local_memory"], 1e18);
}

class Host {
public:
    void open(const XmlElement &element)
    {
        if (element.name == "object")
            addObject(element);
        else if (element.name == "info" && !m_types.empty())
            addInfo(element["name"], element["value"]);
        if (element.name == "object")
            m_types.emplace_back(element["type"]);
    }
    void close(std::string_view element)
    {
        if (element == "object" && !m_types.empty())
            m_types.pop_back();
    }

    [[nodiscard]] RecordedNodes node() const
    {
        RecordedNodes node;
        node.gpu = gpu;
        node.gpus = m_nvidiaGpus > 0 ? m_nvidiaGpus : m_gpus;
        node.nics = m_infiniband > 0 ? m_infiniband : m_ethernet;
        node.hostMemoryBytes = m_numaMemory > 0 ? m_numaMemory : m_machineMemory;
        return node;
    }
    std::string name, gpu, cpu;
    int units = 0;
    [[nodiscard]] bool hasInfiniband() const { return m_infiniband > 0; }

private:
    void addObject(const XmlElement &object)
    {
        const std::string_view type = object["type"];
        if (type == "NUMANode") {
            m_numaMemory += memoryOf(object);
        } else if (type == "Machine") {
            m_machineMemory += memoryOf(object);
        } else if (type == "PU") {
            units += units < (1 << 20);
        } else if (type == "PCIDev") {
            // "0302 [10de:2330] [10de:16c1] a1": class, vendor and device
            const std::string_view device = object["pci_type"];
            const bool isDisplay = device.starts_with("0302") || device.starts_with("0300");
            const bool isNvidia = device.find("[10de:") == 5;
            m_nvidiaGpus += isDisplay && isNvidia && m_nvidiaGpus < kMostDevices;
            m_gpus += device.starts_with("0302") && m_gpus < kMostDevices;
            m_infiniband += device.starts_with("0207") && m_infiniband < kMostDevices;
            m_ethernet += device.starts_with("0200") && m_ethernet < kMostDevices;
        }
    }

    void addInfo(std::string_view key, std::string_view value)
    {
        if (key == "HostName" && name.empty())
            name = value;
        else if (key == "GPUModel" && gpu.empty())
            gpu = value;
        else if (key == "CPUModel" && cpu.empty())
            cpu = value;
    }

    std::vector<std::string> m_types;
    double m_numaMemory = 0, m_machineMemory = 0;
    int m_gpus = 0, m_nvidiaGpus = 0, m_infiniband = 0, m_ethernet = 0;
};

} // namespace

int looksLikeHwloc(std::string_view, std::string_view head)
{
    if (xmlRoot(head) != "topology")
        return 0;
    return head.find("<object type=\"Machine\"") != std::string_view::npos
            || head.find("hwloc") != std::string_view::npos
        ? 90
        : 0;
}

Expected<Recording> readHwloc(const SourceText &source, const SourceOptions &options)
{
    RecordingBuilder scribe(source, SourceKind::Hwloc);
    Host host;
    const auto open = [&](const XmlElement &element) {
        host.open(element);
        ++scribe.source().taken;
    };
    scanXml(source, options, { .open = open, .close = [&](std::string_view name) { host.close(name); } }, scribe);
    RecordedNodes node = host.node();
    if (node.hostMemoryBytes <= 0 && node.gpus == 0 && host.units == 0)
        return refusal(source, "It is a topology of hwloc without a machine in it");
    scribe.note(counted(static_cast<std::size_t>(host.units), "hardware thread", "hardware threads")
        + (host.cpu.empty() ? "" : " of " + host.cpu));
    if (node.gpus == 0)
        scribe.note("It lists no GPU");
    if (node.nics > 0 && !host.hasInfiniband()) {
        scribe.note("It has no InfiniBand adapter: its "
            + counted(std::size_t(node.nics), "network adapter", "network adapters")
            + " may or may not carry training traffic, and are not taken");
        node.nics = 0;
    }
    addNode(scribe, host.name, std::move(node));
    return scribe.finish();
}

} // namespace trainyard::readers
