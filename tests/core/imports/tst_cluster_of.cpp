// SPDX-License-Identifier: GPL-3.0-or-later
// Machines of several files as one cluster: what each tells, and what nobody told.
#include "core/catalogue/catalogue.h"
#include "core/imports/catalogue_gpu.h"
#include "core/imports/cluster_of.h"

#include <QTest>

#include <algorithm>
#include <limits>

using namespace trainyard;

namespace {

const Catalogue &catalogue()
{
    return builtinCatalogue();
}

Cluster baseCluster()
{
    Datacenter datacenter { .id = "dc" };
    datacenter.pools.push_back({ .id = "pool", .gpu = "a100-sxm-40gb", .nodes = 4, .gpusPerNode = 8 });
    Cluster cluster;
    cluster.datacenters.push_back(datacenter);
    return cluster;
}

std::string idOf(const char *name)
{
    const GpuSpec *gpu = catalogueGpu(catalogue(), name);
    return gpu ? gpu->id : "";
}

} // namespace

class TestClusterOf : public QObject {
    Q_OBJECT

private slots:
    void gpusAreFoundByTheNamesThatToolsWrite()
    {
        QCOMPARE(idOf("NVIDIA H100 80GB HBM3"), std::string("h100-sxm-80gb"));
        QCOMPARE(idOf("h100"), std::string("h100-sxm-80gb"));
        QCOMPARE(idOf("NVIDIA H100 PCIe"), std::string("h100-pcie-80gb"));
        QCOMPARE(idOf("NVIDIA A100-SXM4-40GB"), std::string("a100-sxm-40gb"));
        QCOMPARE(idOf("A100-80GB"), std::string("a100-sxm-80gb"));
        QCOMPARE(idOf("Tesla V100-SXM2-32GB"), std::string("v100-sxm-32gb"));
        QCOMPARE(idOf("RTX4090"), std::string("rtx-4090-24gb"));
        QCOMPARE(idOf("NVIDIA GB200"), std::string("gb200-186gb"));
        QCOMPARE(idOf("gpu0"), std::string());
        QCOMPARE(idOf(""), std::string());
    }

    void filesCompleteOneAnother()
    {
        Recording r;
        r.nodes.push_back({ .names = { "n1", "n2", "login" }, .count = 3 }); // topology.conf
        r.nodes.push_back(
            { .names = { "n1.x", "n2.x" }, .count = 2, .gpu = "h100", .gpus = 8, .hostMemoryBytes = 0x1p41 });
        r.nodes.push_back({ .names = { "login" }, .count = 1, .hostMemoryBytes = 0x1p36 });
        r.nodes.push_back({ .count = 1, .gpus = 8, .nics = 8, .nicBytesPerSecond = 50e9 }); // NCCL's XML
        r.prices.push_back({ .instance = "p", .gpu = "H100", .gpus = 8, .usdPerHour = 24 });
        r.prices.push_back({ .instance = "q", .gpu = "H100", .gpus = 1, .usdPerHour = 1 });
        r.prices.push_back({ .instance = "s", .gpu = "H100", .gpus = 8, .usdPerHour = 16 });
        r.prices.push_back(
            { .instance = "t", .gpu = "H100", .gpus = 8, .usdPerHour = std::numeric_limits<double>::quiet_NaN() });
        std::vector<std::string> taken, assumed;
        const auto cluster = clusterOf(r, catalogue(), baseCluster(), taken, assumed);
        QVERIFY(cluster && cluster->datacenters.size() == 1 && cluster->datacenters[0].pools.size() == 1);
        const Pool &pool = cluster->datacenters[0].pools[0];
        QCOMPARE(pool.gpu, std::string("h100-sxm-80gb"));
        QVERIFY(pool.nodes == 2 && pool.gpusPerNode == 8);
        // 8 NICs of 50 GB/s for 8 GPUs: 400 Gbit/s each
        QCOMPARE(cluster->datacenters[0].fabricGbpsPerGpu.value_or(0), 400.0);
        QVERIFY(pool.host && pool.host->memoryGib == 2048);
        QCOMPARE(pool.usdPerGpuHour.value_or(0), 2.0); // of an instance of 8, the cheaper one
        QVERIFY(std::ranges::any_of(assumed, [](const std::string &one) { return one.starts_with("1 node without"); }));
    }

    void oneNodesTopologyTakesItsNumberFromTheRun()
    {
        Recording r;
        r.nodes.push_back({ .count = 1, .gpus = 8 });
        std::vector<std::string> taken, assumed;
        QCOMPARE(clusterOf(r, catalogue(), baseCluster(), taken, assumed)->datacenters[0].pools[0].nodes, 4);
        r.ranks.push_back({ .rank = 0, .worldSize = 128, .gpu = "NVIDIA H100 80GB HBM3" });
        const auto cluster = clusterOf(r, catalogue(), baseCluster(), taken, assumed);
        QCOMPARE(cluster->datacenters[0].pools[0].nodes, 16);
        QCOMPARE(cluster->datacenters[0].pools[0].gpu, std::string("h100-sxm-80gb"));
    }

    void blocksOfOneNvlinkDomainAreNodes()
    {
        Recording r;
        RecordedNodes nodes { .count = 36, .gpu = "gb200", .gpus = 4 };
        for (int block = 0; block < 2; ++block) {
            RecordedSwitch one { .name = "b" + std::to_string(block), .isBlock = true };
            for (int i = 0; i < 18; ++i)
                one.below.push_back("n" + std::to_string(block * 18 + i));
            nodes.names.insert(nodes.names.end(), one.below.begin(), one.below.end());
            r.switches.push_back(one);
        }
        r.nodes.push_back(nodes);
        std::vector<std::string> taken, assumed;
        const auto cluster = clusterOf(r, catalogue(), baseCluster(), taken, assumed);
        const Pool &pool = cluster->datacenters[0].pools[0];
        QVERIFY(pool.nodes == 2 && pool.gpusPerNode == 72);
    }

    void whatTellsNothingOfMachinesIsNone()
    {
        std::vector<std::string> taken, assumed;
        Recording r;
        r.ranks.push_back({ .rank = 0, .worldSize = 8 });
        QVERIFY(!clusterOf(r, catalogue(), baseCluster(), taken, assumed) && taken.empty());
    }
};

QTEST_APPLESS_MAIN(TestClusterOf)
#include "tst_cluster_of.moc"
