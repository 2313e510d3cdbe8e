// SPDX-License-Identifier: GPL-3.0-or-later
// What is inside nodes and between them: matrices of nvidia-smi, XML of NCCL and hwloc, fabrics of InfiniBand. Own
// fixtures, and the captured files with numbers counted by hand.
#include "core/facts/catalogue/catalogue.h"
#include "core/runs/telemetry/readers/fabric_graph.h"
#include "core/runs/telemetry/readers/nvlink_rates.h"
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::trial;
using namespace trainyard::readers;

namespace {

const std::string kFourAmpere = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n\n"
                                "\tGPU0\tGPU1\tGPU2\tGPU3\tmlx5_0\tmlx5_1\tCPU Affinity\tNUMA Affinity\n"
                                "GPU0\t X \tNV4\tNV4\tNV4\tPXB\tSYS\t0-63\t0\n"
                                "GPU1\tNV4\t X \tNV4\tNV4\tSYS\tSYS\t0-63\t0\n"
                                "GPU2\tNV4\tNV4\t X \tNV4\tSYS\tSYS\t0-63\t0\n"
                                "GPU3\tNV4\tNV4\tNV4\t X \tSYS\tSYS\t0-63\t0\n"
                                "mlx5_0\tPXB\tSYS\tSYS\tSYS\t X \tSYS\n";

std::string ncclHost(const char *hash)
{
    std::string text = std::string("<cpu numaid=\"0\" host_hash=\"") + hash + "\" arch=\"x86_64\">";
    for (const char *device : { "0", "1" })
        text += std::string("<pci busid=\"0000:0") + device + ":00.0\" class=\"0x060400\"><pci busid=\"0000:1" + device
            + ":00.0\" class=\"0x030200\" vendor=\"0x10de\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\""
            + device + "\" sm=\"90\" rank=\"" + device
            + "\" gdr=\"1\"><nvlink target=\"0\" count=\"10\" tclass=\"0x068000\"/><nvlink target=\"1\" count=\"8\" "
              "tclass=\"0x068000\"/></gpu></pci><pci busid=\"0000:2"
            + device + ":00.0\" class=\"0x020700\"><nic><net name=\"mlx5_" + device + "\" dev=\"" + device
            + "\" speed=\"400000\" port=\"1\" gdr=\"1\"/></nic></pci></pci>";
    return text + "</cpu>";
}

} // namespace

class TestTopologies : public QObject {
    Q_OBJECT

private slots:
    void anNvlinkCarriesWhatItsGenerationDoes()
    {
        QCOMPARE(18 * nvlinkBytesPerSecond("NVIDIA H100 80GB HBM3"), 450e9);
        QCOMPARE(12 * nvlinkBytesPerSecond("NVIDIA A100-SXM4-80GB"), 300e9);
        QCOMPARE(18 * nvlinkBytesPerSecond("NVIDIA GB200"), 900e9);
        QCOMPARE(nvlinkBytesPerSecond("NVIDIA GeForce RTX 5090"), 0.0);
        QCOMPARE(nvlinkBytesPerSecond(90), 25e9);
        QCOMPARE(gpuNamedIn("topo_m_8xH100_pasted.txt"), std::string_view("H100"));
        QCOMPARE(gpuNamedIn("run_1h100min.txt"), std::string_view());
        QCOMPARE(gpuNamedIn("NVIDIA GH200 480GB"), std::string_view("GH200"));
    }

    /// A GPU's bandwidth over NVLink, which the catalogue has from another page, is that of its links: n × one.
    void allLinksOfAGpuCarryAWholeNumberOfOne()
    {
        int compared = 0;
        for (const GpuSpec &gpu : builtinCatalogue().gpus)
            if (const double one = nvlinkBytesPerSecond(gpu.name); one > 0 && gpu.linkGBps > 0) {
                const double links = gpu.linkGBps * 1e9 / one;
                QVERIFY2(links == std::round(links) && links >= 4 && links <= 18, gpu.id.c_str());
                ++compared;
            }
        QVERIFY(compared > 10);
    }

    void gpusLinkedDirectlyShareTheirLinks()
    {
        // three peers with 4 links each: 12 × 25 GB/s, which no switch is needed for
        const Recording r = read("topo.txt", kFourAmpere);
        QCOMPARE(r.nodes.size(), std::size_t(1));
        QVERIFY(r.nodes[0].gpus == 4 && !r.nodes[0].isNvlinkSwitched);
        QCOMPARE(r.nodes[0].gpu, std::string("NVIDIA A100-SXM4-40GB"));
        QCOMPARE(r.nodes[0].nvlinkBytesPerSecond, 300e9);
        QCOMPARE(r.nodes[0].nics, 1); // the one behind a PCIe switch
        QCOMPARE(r.sources[0].taken, std::int64_t(4));
    }

    void pastedBlanksAndColoursAndMissingNamesChangeNothingElse()
    {
        std::string pasted = kFourAmpere.substr(kFourAmpere.find('\t')), text = "    \x1b[4m";
        for (const char byte : pasted.substr(1))
            text += byte == '\t' ? std::string("    ") : std::string(1, byte);
        text.insert(text.find("NUMA Affinity") + 13, "\x1b[0m");
        const Recording r = read("topo.txt", text);
        QVERIFY(r.nodes.at(0).gpus == 4 && r.nodes[0].nics == 1);
        QCOMPARE(r.nodes[0].nvlinkBytesPerSecond, 0.0);
        QVERIFY(hasNote(r, "12 NVLinks") && hasNote(r, "nobody knows"));
        QCOMPARE(read("4xA100.txt", text).nodes.at(0).nvlinkBytesPerSecond, 300e9);
    }

    /// What the other GPUs have stays; the one that lost its links is named.
    void aGpuOffNvlinkIsAFaultOfItsNode()
    {
        const Recording r = read("4xA100.txt",
            "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\nGPU0\tX\tNV12\tSYS\tNV12\t0\n"
            "GPU1\tNV12\tX\tSYS\tNV12\t0\nGPU2\tSYS\tSYS\tX\tNODE\t0\nGPU3\tNV12\tNV12\tNODE\tX\t0\n");
        QVERIFY(r.nodes.at(0).gpus == 4 && r.nodes[0].isNvlinkSwitched);
        QCOMPARE(r.nodes[0].nvlinkBytesPerSecond, 300e9);
        QCOMPARE(r.nodes[0].faults.size(), std::size_t(1));
        QVERIFY(r.nodes[0].faults[0].find("GPU2 has no NVLink") == 0 && hasNote(r, "GPU2 has no NVLink"));
    }

    void rocmSmisMatrixOfLinkTypesIsRead()
    {
        const auto matrix = [](const std::string &third) {
            return "============ ROCm System Management Interface ============\n"
                   "=============== Weight between two GPUs ===============\n       GPU0 GPU1 GPU2\nGPU0   0    15   "
                   "15\n"
                   "GPU1   15   0    15\nGPU2   15   15   0\n"
                   "=============== Link Type between two GPUs ===============\n       GPU0 GPU1 GPU2\n"
                   "GPU0   0    XGMI "
                + third + "\nGPU1   XGMI 0    " + third + "\nGPU2   " + third + " " + third
                + " 0\n=============== Numa Nodes ===============\nGPU[0] : (Topology) Numa Node: 0\n";
        };
        const Recording whole = read("topo.txt", matrix("XGMI"));
        QVERIFY(whole.nodes.at(0).gpus == 3 && whole.nodes[0].faults.empty() && hasNote(whole, "2 others by XGMI"));
        const Recording broken = read("topo.txt", matrix("PCIE"));
        QVERIFY(broken.nodes.at(0).faults.at(0).find("GPU2 has fewer XGMI links") == 0);
    }

    void nodesWithoutNvlinkHaveNone()
    {
        const Recording r = read("t", "\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tPHB\t0-3\nGPU1\tPHB\tX\t0-3\n");
        QVERIFY(r.nodes.at(0).gpus == 2 && r.nodes[0].nvlinkBytesPerSecond == 0 && !r.nodes[0].isNvlinkSwitched);
    }

    void aFusedDumpHasSeveralHosts()
    {
        const std::string hosts = ncclHost("0x1") + ncclHost("0x2") + ncclHost("0x3");
        const Recording r = read("topo.xml", "<system version=\"1\">" + hosts + "</system>");
        QCOMPARE(r.nodes.size(), std::size_t(1));
        QVERIFY(r.nodes[0].count == 3 && r.nodes[0].gpus == 2 && r.nodes[0].nics == 2);
        QCOMPARE(r.nodes[0].nicBytesPerSecond, 50e9); // 400000 Mbit/s
        QCOMPARE(r.nodes[0].nvlinkBytesPerSecond, 450e9);
        QVERIFY(r.nodes[0].isNvlinkSwitched && hasNote(r, "48 GB/s"));
    }

    /// NCCL takes the fastest adapters; a slow one, and a slower one far from all GPUs, carry no training.
    void portsForManagementAndStorageAreNoFabric()
    {
        const auto port = [](const char *name, const char *bus, const char *megabits) {
            return std::string("<pci busid=\"0000:") + bus + ":00.0\" class=\"0x020000\"><nic><net name=\"" + name
                + "\" dev=\"0\" speed=\"" + megabits + "\" gdr=\"0\"/></nic></pci>";
        };
        std::string host = ncclHost("0x1");
        host.insert(host.find("<pci"), port("eno1", "e1", "1000") + port("store", "e2", "200000"));
        const Recording r = read("topo.xml", "<system version=\"1\">" + host + "</system>");
        QVERIFY(r.nodes.at(0).nics == 2 && r.nodes[0].nicBytesPerSecond == 50e9);
        QVERIFY(hasNote(r, "eno1 (1 Gbit/s), store (200 Gbit/s)"));
    }

    void nicsThatReachNoGpuAreAFaultOfTheirNode()
    {
        const std::string host = ncclHost("0x1");
        const auto with = [&](const char *gdr) { // of the networks alone
            std::string text = host;
            const std::string told = "port=\"1\" gdr=\"1\"";
            for (std::size_t at = text.find(told); at != text.npos; at = text.find(told, at + 1))
                text.replace(at, told.size(), std::string("port=\"1\"") + gdr);
            return read("topo.xml", "<system version=\"1\">" + text + "</system>");
        };
        QVERIFY(with("").nodes.at(0).faults.empty()); // older ones do not tell it
        QVERIFY(with(" gdr=\"1\"").nodes.at(0).faults.empty());
        const Recording far = with(" gdr=\"0\"");
        QCOMPARE(far.nodes.at(0).faults.size(), std::size_t(1));
        QVERIFY(far.nodes[0].faults[0].find("gdr 0") != std::string::npos);
    }

    void rcclsTopologyNamesTheChipAndItsLinks()
    {
        const auto host = [](const char *gcn) {
            return std::string("<system version=\"2\"><cpu numaid=\"0\" host_hash=\"0x1\"><pci busid=\"0000:0c:00.0\" "
                               "class=\"0x038000\" vendor=\"0x1002\" link_speed=\"32.0 GT/s PCIe\" "
                               "link_width=\"16\"><gpu dev=\"0\" sm=\"94\" rank=\"0\" gcn=\"")
                + gcn
                + "\"><xgmi target=\"0000:22:00.0\" count=\"1\" tclass=\"0x038000\"/><xgmi target=\"0000:38:00.0\" "
                  "count=\"1\" tclass=\"0x038000\"/></gpu></pci></cpu></system>";
        };
        const Recording r = read("topo.xml", host("gfx942:sramecc+:xnack-"));
        QCOMPARE(r.nodes.at(0).gpu, std::string("gfx942"));
        QVERIFY(r.nodes[0].gpus == 1 && r.nodes[0].nvlinkBytesPerSecond == 0);
        QVERIFY(hasNote(r, "A GPU has 2 XGMI links") && !hasNote(r, "compute capability"));
        QCOMPARE(read("topo.xml", host("910")).nodes.at(0).gpu, std::string("gfx90a"));
    }

    void aNetworkWithoutASpeedCountsAsNcclTakesIt()
    {
        const Recording r = read("t.xml",
            "<system version=\"1\"><cpu numaid=\"0\"><nic><net name=\"eth0\" dev=\"0\" "
            "speed=\"-1\"/></nic></cpu></system>");
        QCOMPARE(r.nodes.at(0).nicBytesPerSecond, 10e9 / 8);
    }

    void xmlOfAnotherShapeIsRefusedGently()
    {
        for (const char *text : { "<system><gpu pci=\"0000:01:00.0\" name=\"H100\"/></system>",
                 "<system version=\"1\"><cpu numaid=\"0\"><gpu dev=\"0\"/></cpu></system>" })
            QVERIFY(read("t.xml", text).sources[0].refused.find("not as NCCL writes it") != std::string::npos);
        QVERIFY(!read("t.xml", "<system version=\"1\"></system>").sources[0].refused.empty());
        QVERIFY(!read("t.xml", "<graphs></graphs>").sources[0].refused.empty());
        QVERIFY(!read("t.html", "<html><body>no</body></html>").sources[0].refused.empty());
    }

    void entitiesAreNeverExpanded()
    {
        const std::string bomb = "<?xml version=\"1.0\"?><!DOCTYPE system [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>"
                                 "<system version=\"1\"><cpu numaid=\"&b;\"/></system>";
        const Recording r = read("t.xml", bomb);
        QVERIFY(!r.sources[0].refused.empty());
        std::string deep = "<system version=\"1\">";
        for (int i = 0; i < 100000; ++i)
            deep += "<cpu numaid=\"0\">";
        QVERIFY(!read("t.xml", deep).sources[0].refused.empty());
    }

    void hwlocTellsTheHost()
    {
        const Recording r = read("h.xml",
            "<?xml version=\"1.0\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\"><topology version=\"2.0\"><object "
            "type=\"Machine\"><info name=\"HostName\" value=\"n1\"/><object type=\"NUMANode\" local_memory=\"1000\"/>"
            "<object type=\"NUMANode\" local_memory=\"500\"/><object type=\"PCIDev\" pci_type=\"0302 [10de:2330] "
            "[10de:16c1] a1\"><object type=\"OSDev\" subtype=\"NVML\"><info name=\"GPUModel\" value=\"NVIDIA H100\"/>"
            "</object></object><object type=\"PCIDev\" pci_type=\"0207 [15b3:1021]\"/></object></topology>");
        QVERIFY(r.nodes.at(0).names == std::vector<std::string> { "n1" });
        QVERIFY(r.nodes[0].gpus == 1 && r.nodes[0].nics == 1 && r.nodes[0].gpu == "NVIDIA H100");
        QCOMPARE(r.nodes[0].hostMemoryBytes, 1500.0);
    }

    void linksCarryTheirLanesTimesTheirSpeed()
    {
        QCOMPARE(linkSpeed("4xNDR"), 50e9); // 400 Gbit/s
        QCOMPARE(linkSpeed("4xHDR"), 25e9);
        QCOMPARE(linkSpeed("1xSDR"), 0.25e9); // 2.5 Gbit/s signalled, 8b/10b
        QCOMPARE(linkSpeed(" 4X        53.125 Gbps Active/  LinkUp"), 25e9);
        QCOMPARE(linkSpeed("4X 106.25 Gbps"), 50e9);
        QCOMPARE(linkSpeed("4X 14.0625 Gbps"), 4 * 13.64e9 / 8);
        QCOMPARE(linkSpeed("4X 7 Gbps"), 0.0);
        QCOMPARE(linkSpeed("fast"), 0.0);
    }

    void aFabricHasLeavesBelowSpines()
    {
        const std::string text = "# Topology file: generated on Mon\nswitchguid=0xa(a)\n"
                                 "Switch 4 \"S-a\" # \"leaf\" base port 0 lid 1 lmc 0\n"
                                 "[1] \"H-1\"[1](b) # \"n1 mlx5_0\" lid 2 4xNDR\n"
                                 "[2] \"H-2\"[1](c) # \"n1 mlx5_1\" lid 3 4xNDR\n"
                                 "[3] \"S-z\"[1] # \"spine\" lid 4 4xNDR\n"
                                 "[4] \"S-z\"[2] # \"spine\" lid 4 4xHDR\n"
                                 "Switch 4 \"S-b\" # \"leaf\" base port 0 lid 9 lmc 0\n"
                                 "[1] \"H-3\"[1](d) # \"n2 mlx5_0\" lid 5 4xNDR\n"
                                 "[3] \"S-z\"[3] # \"spine\" lid 4 4xNDR\n"
                                 "Ca 1 \"H-3\" # \"n2 mlx5_0\"\n"
                                 "[1](d) \"S-b\"[1] # lid 5 lmc 0 \"leaf\" lid 9 4xNDR\n";
        const Recording r = read("fabric", text);
        QCOMPARE(r.switches.size(), std::size_t(3));
        const auto named = [&](const char *name) {
            return *std::ranges::find(r.switches, std::string(name), &RecordedSwitch::name);
        };
        QCOMPARE(named("spine").below, (std::vector<std::string> { "leaf (S-a)", "leaf (S-b)" }));
        QCOMPARE(named("leaf (S-a)").below, (std::vector<std::string> { "n1" }));
        QCOMPARE(named("spine").linkBytesPerSecond, 50e9);
        QVERIFY(hasNote(r, "3 links to hosts, 3 between switches") && hasNote(r, "1 link of spine"));
        QCOMPARE(r.nodes.size(), std::size_t(2)); // n1 has two adapters, n2 one
        QVERIFY(r.nodes[0].nics == 2 && r.nodes[1].nics == 1 && r.nodes[1].nicBytesPerSecond == 50e9);
    }

    void capturedTopologiesAreCounted()
    {
        const Recording two = readOwn("smi/topo_two_h100.txt");
        QVERIFY(two.nodes.at(0).gpus == 2 && two.nodes[0].nics == 1 && two.nodes[0].isNvlinkSwitched);
        QCOMPARE(two.nodes[0].nvlinkBytesPerSecond, 450e9); // 18 links of 25 GB/s
        const Recording four = readOwn("smi/topo_four_h100_pasted.txt");
        QVERIFY(four.nodes.at(0).gpus == 4 && four.nodes[0].isNvlinkSwitched);
        QVERIFY(four.nodes[0].nvlinkBytesPerSecond == 450e9 && hasNote(four, "rows of 3 of its 4"));
        for (const auto &[file, pcie] :
            { std::pair("topo/nccl_gen5.xml", "48 GB/s"), std::pair("topo/nccl_gen4.xml", "24 GB/s") }) {
            const Recording r = readOwn(file);
            QVERIFY(r.nodes.at(0).count == 1 && r.nodes[0].gpus == 4 && r.nodes[0].nics == 4);
            QVERIFY(hasNote(r, pcie) && hasNote(r, "cloud images"));
        }
        const Recording rings = readOwn("topo/nccl_graph.xml");
        QVERIFY(rings.nodes.at(0).gpus == 3 && rings.sources[0].taken == 2);
        QVERIFY(hasNote(rings, "Graph 0: rings of 3 channels, of each 20 GB/s within a node by PHB"));
        const Recording machine = readOwn("topo/hwloc.xml");
        QVERIFY(machine.nodes.at(0).names == std::vector<std::string> { "lab-a" });
        QVERIFY(hasNote(machine, "4 hardware threads") && machine.nodes[0].hostMemoryBytes == 17179869184.0);
        if (!isThere("topo/nccl_topo_azure_ndv5.xml"))
            return;
        const Recording three = readShared("smi/topo_m_3xH100_raw_tabs_ansi.txt");
        QVERIFY(three.nodes.at(0).gpus == 3 && three.nodes[0].nics == 1 && three.nodes[0].isNvlinkSwitched);
        QCOMPARE(three.nodes[0].nvlinkBytesPerSecond, 450e9);
        const Recording eight = readShared("smi/topo_m_8xH100_pasted_spaces.txt");
        QVERIFY(eight.nodes.at(0).gpus == 8 && eight.nodes[0].nics == 8 && eight.nodes[0].isNvlinkSwitched);
        QVERIFY(eight.nodes[0].nvlinkBytesPerSecond == 450e9 && hasNote(eight, "rows of 5 of its 8"));
        for (const auto &[file, pcie] : { std::pair("topo/nccl_topo_azure_ndv5.xml", "48 GB/s"),
                 std::pair("topo/nccl_topo_azure_ndv4.xml", "24 GB/s") }) {
            const Recording r = readShared(file);
            QVERIFY(r.nodes.at(0).count == 1 && r.nodes[0].gpus == 8 && r.nodes[0].nics == 8);
            QVERIFY(hasNote(r, pcie) && hasNote(r, "cloud images"));
        }
        const Recording graph = readShared("topo/nccl_graph_azure_ncv4.xml");
        QVERIFY(graph.nodes.at(0).gpus == 4 && graph.sources[0].taken == 3);
        QVERIFY(hasNote(graph, "Graph 0: rings of 2 channels, of each 12 GB/s within a node by SYS"));
        const Recording host = readShared("topo/hwloc_lstopo_vm.xml");
        QVERIFY(host.nodes.at(0).names == std::vector<std::string> { "vm" } && hasNote(host, "2 hardware threads"));
        QCOMPARE(host.nodes[0].hostMemoryBytes, 19958812672.0);
    }

    void capturedFabricsAreCounted()
    {
        const Recording own = readOwn("topo/ibnetdiscover.txt");
        QCOMPARE(own.switches.size(), std::size_t(2));
        QVERIFY(hasNote(own, "3 links to hosts, 1 between switches"));
        int found = 0;
        for (const RecordedNodes &nodes : own.nodes)
            found += nodes.count;
        QCOMPARE(found, 3);
        QCOMPARE(own.switches[0].linkBytesPerSecond, 25e9); // 4xHDR: 200 Gbit/s
        const Recording leaf = readOwn("topo/iblinkinfo.txt");
        QCOMPARE(leaf.switches.size(), std::size_t(1));
        QCOMPARE(leaf.switches[0].below, (std::vector<std::string> { "gpu-2", "gpu-1" }));
        QVERIFY(leaf.nodes.at(0).count == 2 && leaf.nodes[0].nicBytesPerSecond == 25e9);
        QCOMPARE(droppedOf(leaf, "links to aggregation nodes within switches (SHARP)"), std::int64_t(1));
        if (!isThere("topo/ibnetdiscover_manpage_sample.txt"))
            return;
        const Recording net = readShared("topo/ibnetdiscover_manpage_sample.txt");
        QCOMPARE(net.switches.size(), std::size_t(2));
        QVERIFY(hasNote(net, "5 links to hosts, 2 between switches"));
        int hosts = 0;
        for (const RecordedNodes &nodes : net.nodes)
            hosts += nodes.count;
        QCOMPARE(hosts, 4);
        QCOMPARE(net.switches[0].linkBytesPerSecond, 1e9); // 4xSDR: 8 Gbit/s of data
        const Recording info = readShared("topo/iblinkinfo_sample.txt");
        QCOMPARE(info.switches.size(), std::size_t(1));
        QCOMPARE(info.switches[0].below, (std::vector<std::string> { "gpu-v100-3", "gpu-v100-0" }));
        QVERIFY(info.nodes.at(0).count == 2 && info.nodes[0].nicBytesPerSecond == 12.5e9);
        QCOMPARE(droppedOf(info, "links to aggregation nodes within switches (SHARP)"), std::int64_t(1));
    }
};

TRAINYARD_APPLESS_TEST(TestTopologies)
#include "tst_topologies.moc"
