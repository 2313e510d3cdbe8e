// SPDX-License-Identifier: GPL-3.0-or-later
// Lists of names as Slurm writes them, its topologies and its nodes: own fixtures, and the captured files with numbers
// counted by hand.
#include "core/runs/telemetry/readers/hostlist.h"
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;
using trainyard::readers::expandHosts;

namespace {

std::string expanded(std::string_view list)
{
    std::vector<std::string> hosts;
    if (!expandHosts(list, hosts))
        return "no list";
    std::string text;
    for (const std::string &host : hosts)
        text.append(text.empty() ? "" : " ").append(host);
    return text;
}

const char *const kNode = "NodeName=n01 Arch=x86_64 CoresPerSocket=56\n"
                          "   CPUAlloc=0 CPUEfctv=224 CPUTot=224 CPULoad=0.01\n"
                          "   AvailableFeatures=(null)\n"
                          "   Gres=gpu:h100:8(S:0-1,3),nic:2\n"
                          "   NodeAddr=10.0.0.1 NodeHostName=n01 Version=23.11.4\n"
                          "   OS=Linux 5.15.0-1 #1 SMP Wed Jan 1 \n"
                          "   RealMemory=2048 AllocMem=0 FreeMem=1 Sockets=2 Boards=1\n"
                          "   State=IDLE+DRAIN ThreadsPerCore=2 TmpDisk=0 Weight=1\n"
                          "   CfgTRES=cpu=224,mem=2048M,billing=224,gres/gpu=8,gres/gpu:h100=8\n"
                          "   Reason=RealMemory=7 is low [root@2026-01-01]\n";

std::string oneLine(std::string text)
{
    std::string line;
    for (const char byte : text)
        line += byte == '\n' ? ' ' : byte;
    return line + "\n";
}

} // namespace

class TestSlurmMachines : public QObject {
    Q_OBJECT

private slots:
    void bracketsAreNumbersAndRangesPaddedAsWritten()
    {
        QCOMPARE(expanded("n[1-3]"), std::string("n1 n2 n3"));
        QCOMPARE(expanded("n[008-011,13]"), std::string("n008 n009 n010 n011 n13"));
        QCOMPARE(expanded("r[1-2]n[01-02]-ib,login"), std::string("r1n01-ib r1n02-ib r2n01-ib r2n02-ib login"));
        QCOMPARE(expanded("a, b"), std::string("a b"));
        QCOMPARE(expanded(""), std::string());
    }

    void whatIsNoListOrBeyondAMillionIsRefused()
    {
        for (const char *wrong : { "n[1-3", "n1-3]", "n[3-1]", "n[]", "n[a]", "n[1-]", "n[[1]]", "n[-1]",
                 "n[1-1000001]", "n[1-1001]m[1-1001]", "n[1-99999999999999999999]", "n[1-9223372036854775807]",
                 "n[1-1000]a[1-1000]b[1-2]" })
            QCOMPARE(expanded(wrong), std::string("no list"));
        std::vector<std::string> hosts { "kept" };
        QVERIFY(!expandHosts("a,b,n[1-1000000]", hosts));
        QCOMPARE(hosts.size(), std::size_t(1));
        hosts.clear();
        QVERIFY(expandHosts("n[1-1000]m[1-1000]", hosts));
        QCOMPARE(hosts.size(), std::size_t(1000000));
    }

    void aTreeHasItsSwitchesAndNodes()
    {
        const Recording r = read("topology.conf",
            "# our fabric\nSwitchName=leaf1 Nodes=n[1-2] LinkSpeed=100\nswitchname=leaf2 nodes=n3,\\\nn4 # two\n"
            "SwitchName=spine Switches=leaf[1-2]\nSwitchName=torn Nodes=n[5-");
        QCOMPARE(r.switches.size(), std::size_t(3));
        QCOMPARE(r.switches[1].below, (std::vector<std::string> { "n3", "n4" }));
        QCOMPARE(r.switches[2].below, (std::vector<std::string> { "leaf1", "leaf2" }));
        QCOMPARE(r.nodes.at(0).names, (std::vector<std::string> { "n1", "n2", "n3", "n4" }));
        QVERIFY(r.sources[0].isTruncated && hasNote(r, "LinkSpeed"));
        QCOMPARE(r.switches[0].linkBytesPerSecond, 0.0);
    }

    void topologiesOfEachPluginAreRead()
    {
        const std::string start = "# made by topograph\n---\n- topology: t\n  cluster_default: true\n";
        const Recording ring =
            read("topology.yaml", start + "  ring:\n    rings:\n    - nodes: \"n[1-4]\"\n      ring: a\n");
        QCOMPARE(ring.switches.at(0).name, std::string("a"));
        QVERIFY(ring.nodes.at(0).count == 4 && hasNote(ring, "rings"));
        const Recording torus = read("topology.yaml",
            start
                + "  torus3d:\n    toruses:\n      - name: pod\n        dims:\n          x: 2\n          y: 3\n"
                  "          z: 4\n        nodes: n[1-24]\n        placements:\n          - dims:\n"
                  "              x: 1\n              y: 1\n              z: 1\n");
        QVERIFY(torus.switches.size() == 1 && torus.nodes.at(0).count == 24);
        QVERIFY(hasNote(torus, "2 x 3 x 4"));
        const Recording block = read("topology.yaml",
            start
                + "  block:\n    block_sizes:\n      - 2\n      - 4\n    blocks:\n      - block: b1\n"
                  "        nodes: n[1-2]\n      - block: b2\n        nodes: n[3-4]\n");
        QVERIFY(block.switches.size() == 2 && block.switches[1].isBlock && hasNote(block, "2,4"));
        const Recording flat = read("topology.yaml", start + "  flat: true\n");
        QVERIFY(flat.sources[0].refused.empty() && hasNote(flat, "flat"));
    }

    void nodesOfScontrolAreTheSameInAllItsForms()
    {
        std::string second = kNode;
        second.replace(second.find("n01"), 3, "n02");
        const std::string json =
            "{\"meta\":{},\"nodes\":[{\"name\":\"n01\",\"gres\":\"gpu:h100:8(S:0-1,3)\",\"real_memory\":2048,"
            "\"state\":[\"IDLE\",\"DRAIN\"]},{\"name\":\"n02\",\"gres\":\"\",\"tres\":\"cpu=2,gres/gpu=8,"
            "gres/gpu:h100=8\",\"real_memory\":2048,\"state\":[\"IDLE\"]}]}";
        for (const std::string &text : { kNode + std::string("\n") + second, oneLine(kNode) + oneLine(second), json }) {
            const Recording r = read("nodes", text);
            QCOMPARE(r.sources[0].kind, SourceKind::SlurmNodes);
            QCOMPARE(r.nodes.size(), std::size_t(1));
            QCOMPARE(r.nodes[0].names, (std::vector<std::string> { "n01", "n02" }));
            QVERIFY(r.nodes[0].gpu == "h100" && r.nodes[0].gpus == 8);
            QCOMPARE(r.nodes[0].hostMemoryBytes, 2048.0 * 1024 * 1024);
            QVERIFY(hasNote(r, "drained"));
        }
    }

    void nodesThatDifferStandApart()
    {
        const auto node = [](const char *name, const char *gres) {
            return std::string("NodeName=") + name + " Arch=x86_64 CPUTot=8 Gres=" + gres
                + " RealMemory=1000 State=IDLE\n";
        };
        const Recording r = read("nodes",
            node("a", "gpu:4") + node("b", "(null)") + node("c", "gpu:a100:2(S:0),gpu:a100:2(S:1)")
                + node("d", "gpu:a100:4,gpu:v100:1"));
        QCOMPARE(r.nodes.size(), std::size_t(3));
        QVERIFY(r.nodes[0].gpus == 4 && r.nodes[0].gpu.empty());
        QCOMPARE(r.nodes[1].gpus, 0);
        QCOMPARE(r.nodes[2].names, (std::vector<std::string> { "c", "d" }));
        QVERIFY(r.nodes[2].gpus == 4 && hasNote(r, "several types"));
    }

    void theManualsTopologiesAreCounted()
    {
        const Recording own = readOwn("topo/tree.conf");
        QCOMPARE(own.switches.size(), std::size_t(4));
        QCOMPARE(own.nodes.at(0).count, 10);
        QCOMPARE(own.switches[3].below, (std::vector<std::string> { "leaf0", "leaf1", "leaf2" }));
        const Recording racks = readOwn("topo/blocks.conf");
        QVERIFY(racks.switches.size() == 2 && racks.switches[0].isBlock && racks.switches[0].below.size() == 18);
        QVERIFY(racks.nodes.at(0).count == 36 && hasNote(racks, "18,36"));
        const Recording several = readOwn("topo/topologies.yaml");
        QCOMPARE(several.switches.size(), std::size_t(3));
        QCOMPARE(several.switches[0].below, (std::vector<std::string> { "leaf1", "leaf2" }));
        QCOMPARE(several.nodes.at(0).names, (std::vector<std::string> { "gpu01", "gpu02", "gpu03", "gpu04", "gpu05" }));
        QCOMPARE(droppedOf(several, "topologies that are not the cluster's default"), std::int64_t(2));
        if (!isThere("topo/slurm_topology.conf"))
            return;
        const Recording tree = readShared("topo/slurm_topology.conf");
        QCOMPARE(tree.switches.size(), std::size_t(4));
        QCOMPARE(tree.nodes.at(0).count, 18);
        QCOMPARE(tree.switches[3].below, (std::vector<std::string> { "s0", "s1", "s2" }));
        const Recording block = readShared("topo/slurm_topology_block.conf");
        QVERIFY(block.switches.size() == 2 && block.switches[0].isBlock && block.switches[0].below.size() == 32);
        QVERIFY(block.nodes.at(0).count == 64 && hasNote(block, "30,120"));
        const Recording yaml = readShared("topo/slurm_topology.yaml");
        QCOMPARE(yaml.switches.size(), std::size_t(3));
        QCOMPARE(yaml.switches[0].below, (std::vector<std::string> { "s1", "s2" }));
        QCOMPARE(yaml.nodes.at(0).names, (std::vector<std::string> { "node01", "node02", "node03", "node04" }));
        QCOMPARE(droppedOf(yaml, "topologies that are not the cluster's default"), std::int64_t(5));
    }
};

TRAINYARD_APPLESS_TEST(TestSlurmMachines)
#include "tst_slurm_machines.moc"
