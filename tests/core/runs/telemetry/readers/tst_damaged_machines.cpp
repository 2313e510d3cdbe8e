// SPDX-License-Identifier: GPL-3.0-or-later
// Descriptions of machines, cut at each percent, changed at random, empty, with other line ends: nothing crashes, each
// is read or refused, and what is read is within bounds.
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

struct Sample {
    const char *name, *text;
};
constexpr std::array<Sample, 9> kOwn { {
    { "a.conf", "SwitchName=s1 Nodes=n[1-3,07-12]\nSwitchName=s2 Nodes=r[1-2]n[1-2]\nSwitchName=t Switches=s[1-2]\n" },
    { "a.yaml",
        "---\n- topology: t\n  cluster_default: true\n  tree:\n    switches:\n      - switch: r\n        children: "
        "s[1-2]\n      - switch: s1\n        nodes: n[01-02]\n      - switch: s2\n        nodes: n[03-04]\n" },
    { "nodes",
        "NodeName=a Arch=x86_64 CPUTot=8 Gres=gpu:h100:8(S:0-1) RealMemory=1000 State=IDLE\nNodeName=b CPUTot=8 "
        "Gres=gpu:4 RealMemory=1000 CfgTRES=cpu=8,gres/gpu=4 State=DOWN\n" },
    { "topo", "\tGPU0\tGPU1\tNIC0\tCPU Affinity\nGPU0\t X \tNV18\tPIX\t0-3\nGPU1\tNV18\t X \tPXB\t0-3\n" },
    { "a.xml",
        "<system version=\"1\"><cpu numaid=\"0\" host_hash=\"0x1\"><pci busid=\"0\" class=\"0x030200\"><gpu "
        "dev=\"0\" sm=\"90\"><nvlink target=\"1\" count=\"18\" tclass=\"0x068000\"/></gpu></pci><pci "
        "busid=\"1\" class=\"0x020700\"><nic><net name=\"m\" dev=\"0\" speed=\"400000\"/></nic></pci></cpu></system>" },
    { "net",
        "Switch 4 \"S-a\" # \"leaf\" base port 0 lid 1 lmc 0\n[1] \"H-1\"[1](b) # \"n1 mlx5_0\" lid 2 4xNDR\n"
        "[3] \"S-z\"[1] # \"spine\" lid 4 4xNDR\nCa 1 \"H-1\" # \"n1 mlx5_0\"\n" },
    { "link",
        "Switch: 0x0c leaf:\n   3  1[  ] ==( 4X  53.125 Gbps Active/ LinkUp)==> 1  1[  ] \"n0 HCA-1\" ( )\n   3  "
        "2[  ] ==( Down/ Polling)==> [  ] \"\" ( )\n" },
    { "a.csv", "InstanceType,AcceleratorName,AcceleratorCount,Price,GpuInfo\np5,H100,8,98.3,\"{'Gpus': []}\"\n" },
    { "a.json", R"({"InstanceTypes": [{"InstanceType": "p5", "GpuInfo": {"Gpus": [{"Name": "H100", "Count": 8}]}}]})" },
} };

bool isAmount(double value)
{
    return value >= 0 && value < 1e30;
}

bool isWhole(const Recording &r)
{
    if (r.sources.size() != 1)
        return false;
    std::size_t names = 0;
    for (const RecordedNodes &one : r.nodes) {
        names += one.names.size();
        if (one.gpus < 0 || one.gpus > 100000 || one.nics < 0 || one.nics > 100000 || one.count < 0
            || !isAmount(one.nicBytesPerSecond) || !isAmount(one.nvlinkBytesPerSecond) || !isAmount(one.hostMemoryBytes)
            || (!one.names.empty() && std::size_t(one.count) != one.names.size()))
            return false;
    }
    for (const RecordedSwitch &one : r.switches) {
        names += one.below.size();
        if (one.name.empty() || one.below.empty() || !isAmount(one.linkBytesPerSecond))
            return false;
    }
    for (const RecordedPrice &one : r.prices)
        if (!(one.gpus > 0) || (!std::isnan(one.usdPerHour) && !(one.usdPerHour > 0)))
            return false;
    return names <= 3'000'000;
}

std::vector<std::pair<std::string, std::string>> samples()
{
    std::vector<std::pair<std::string, std::string>> all;
    for (const Sample &one : kOwn)
        all.emplace_back(one.name, one.text);
    for (const char *folder : { "topo", "cloud" })
        for (const auto &entry : std::filesystem::directory_iterator(ours(folder)))
            all.emplace_back(entry.path().filename().string(), bytesOf(entry.path().string()));
    for (const char *file : { "smi/topo_two_h100.txt", "smi/topo_four_h100_pasted.txt" })
        all.emplace_back(file, bytesOf(ours(file)));
    for (const char *file : { "topo/slurm_topology.conf", "topo/slurm_topology.yaml", "topo/slurm_topology_block.conf",
             "topo/hwloc_lstopo_vm.xml", "topo/iblinkinfo_sample.txt", "topo/ibnetdiscover_manpage_sample.txt",
             "topo/nccl_graph_azure_ncv4.xml", "topo/nccl_topo_azure_ndv4.xml", "topo/nccl_topo_azure_ndv5.xml",
             "smi/topo_m_3xH100_raw_tabs_ansi.txt", "smi/topo_m_8xH100_pasted_spaces.txt",
             "cloud/skypilot_catalog_rows.csv" })
        if (isThere(file))
            all.emplace_back(file, bytesOf(shared(file)));
    return all;
}

} // namespace

class TestDamagedMachines : public QObject {
    Q_OBJECT

private slots:
    void eachIsReadWhereItIsWhole()
    {
        for (const auto &[name, text] : samples()) {
            const Recording r = read(name, text);
            QVERIFY2(isWhole(r) && r.sources[0].refused.empty(), (name + ": " + r.sources[0].refused).c_str());
            QVERIFY2(!r.nodes.empty() || !r.switches.empty() || !r.prices.empty(), name.c_str());
        }
    }

    void filesCutAtEachPercentGiveWhatTheyHave()
    {
        for (const auto &[name, text] : samples()) {
            std::size_t before = 0;
            for (std::size_t percent = 0; percent <= 100; ++percent) {
                const Recording r = read(name, text.substr(0, text.size() * percent / 100));
                QVERIFY2(isWhole(r), name.c_str());
                // of a longer piece only the last row may be lost again
                if (name.ends_with(".csv"))
                    QVERIFY2(r.prices.size() + 1 >= before, name.c_str());
                before = r.prices.size();
            }
        }
    }

    void changedFilesAreReadOrRefused()
    {
        std::mt19937 random(20);
        for (const auto &[name, text] : samples())
            for (int i = 0; i < 300; ++i)
                QVERIFY2(isWhole(read(name, mutated(text, random))), name.c_str());
    }

    void otherLineEndsChangeNothing()
    {
        for (const auto &[name, text] : samples()) {
            std::string windows;
            for (const char byte : text)
                windows += byte == '\n' ? std::string("\r\n") : std::string(1, byte);
            const Recording a = read(name, text), b = read(name, windows);
            QCOMPARE(a.nodes, b.nodes);
            QCOMPARE(a.switches, b.switches);
            QCOMPARE(a.prices.size(), b.prices.size());
            QCOMPARE(a.sources[0].notes, b.sources[0].notes);
        }
    }
};

TRAINYARD_APPLESS_TEST(TestDamagedMachines)
#include "tst_damaged_machines.moc"
