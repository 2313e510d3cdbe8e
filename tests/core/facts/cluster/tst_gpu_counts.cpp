// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/edits.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace trainyard;

namespace {

/// Two datacenters: 2 x 8 and 1 x 4 GPUs, then 3 x 2.
Cluster three()
{
    const auto pool = [](const char *id, const char *gpu, int nodes, int gpusPerNode) {
        Pool made;
        made.id = id;
        made.gpu = gpu;
        made.nodes = nodes;
        made.gpusPerNode = gpusPerNode;
        return made;
    };
    Cluster cluster;
    cluster.datacenters.resize(2);
    cluster.datacenters[0].id = "a";
    cluster.datacenters[0].pools = { pool("p", "v100-sxm-16gb", 2, 8), pool("q", "a100-sxm-80gb", 1, 4) };
    cluster.datacenters[1].id = "b";
    cluster.datacenters[1].pools = { pool("r", "v100-sxm-16gb", 3, 2) };
    cluster.wanLinks.push_back({ .between = { "a", "b" } });
    return cluster;
}

/// Each GPU as its type and how many share its node: what stays the same for those that stay.
std::vector<std::string> gpus(const Cluster &cluster)
{
    std::vector<std::string> all;
    for (const Datacenter &datacenter : cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            all.insert(all.end(), std::size_t(pool.gpus()), datacenter.id + pool.gpu);
    return all;
}

bool idsAreUnique(const Cluster &cluster)
{
    std::set<std::string> ids;
    std::size_t count = 0;
    for (const Datacenter &datacenter : cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            count += ids.insert(pool.id).second ? 1 : 100;
    return count == ids.size();
}

} // namespace

class TestGpuCounts : public QObject {
    Q_OBJECT
private slots:
    void theFirstGpusAreThoseOfTheClusterAsFarAsTheyGo()
    {
        const Cluster cluster = three();
        const std::vector<std::string> all = gpus(cluster);
        for (int count = 0; count <= int(all.size()); ++count) {
            const Cluster cut = withFirstGpus(cluster, count);
            QVERIFY(gpus(cut) == std::vector<std::string>(all.begin(), all.begin() + count));
            QVERIFY(idsAreUnique(cut));
            QCOMPARE(cut.datacenters.size(), std::size_t(2)); // names elsewhere in the plan stay right
        }
        QVERIFY(withFirstGpus(cluster, int(all.size())) == cluster);
        QVERIFY(withFirstGpus(cluster, 1000) == cluster);
        QVERIFY(gpus(withFirstGpus(cluster, -1)).empty());
    }

    void aNodeIsCutWhereTheCountSaysSo()
    {
        const Cluster cut = withFirstGpus(three(), 11); // 8 + 3
        QCOMPARE(cut.datacenters[0].pools.size(), std::size_t(2));
        QVERIFY(cut.datacenters[0].pools[0].nodes == 1 && cut.datacenters[0].pools[0].gpusPerNode == 8);
        QVERIFY(cut.datacenters[0].pools[1].nodes == 1 && cut.datacenters[0].pools[1].gpusPerNode == 3);
        QCOMPARE(cut.datacenters[0].pools[0].id, std::string("p"));
        QCOMPARE(withFirstGpus(three(), 3).datacenters[0].pools[0].id, std::string("p"));
    }

    void oneMoreComesToTheLastNodeOfItsPool()
    {
        const Cluster cluster = three();
        const Cluster of = *withOneGpuMore(cluster, 0, 1); // 1 x 4 becomes 1 x 5
        QCOMPARE(of.datacenters[0].pools[1].gpusPerNode, 5);
        QCOMPARE(of.gpus(), cluster.gpus() + 1);
        const Cluster split = *withOneGpuMore(cluster, 1, 0); // 3 x 2 becomes 2 x 2 and 1 x 3
        QCOMPARE(split.datacenters[1].pools.size(), std::size_t(2));
        QVERIFY(split.datacenters[1].pools[0].nodes == 2 && split.datacenters[1].pools[0].gpusPerNode == 2);
        QVERIFY(split.datacenters[1].pools[1].nodes == 1 && split.datacenters[1].pools[1].gpusPerNode == 3);
        QVERIFY(idsAreUnique(split));
        QCOMPARE(split.gpus(), cluster.gpus() + 1);
    }

    void aPoolThatIsNotThereIsRefused()
    {
        QCOMPARE(withOneGpuMore(three(), 7, 0).error().code, ErrorCode::BadValue);
        QCOMPARE(withOneGpuMore(three(), 0, 2).error().code, ErrorCode::BadValue);
        QCOMPARE(withOneGpuMore(three(), 0, -1).error().code, ErrorCode::BadValue);
    }
};

TRAINYARD_APPLESS_TEST(TestGpuCounts)
#include "tst_gpu_counts.moc"
