// SPDX-License-Identifier: GPL-3.0-or-later
// Experts over datacenters: what one rank has of node pairs and links, and bytes on links against a sum over all ranks.
#include "core/iteration/cost/wan/expert_wan.h"
#include "tests/support/test_program.h"

#include "core/iteration/layouts/placements.h"
#include "core/iteration/placement/ranks.h"
#include "core/iteration/placement/stage_ranks.h"
#include "tests/support/plans.h"
#include "tests/support/workloads.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

bool isNear(double a, double b)
{
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

/// 128 experts over two datacenters of nodes of 8 H100, NICs of 400 Gbps each, one rank a replica. Node pairs reach 50
/// Gbps and windows fill them.
Plan acrossPlan(int nodesEach, int expert, int pipeline = 1)
{
    Plan plan;
    plan.cluster.datacenters = { site("a", nodesEach * pipeline), site("b", nodesEach * pipeline) };
    plan.cluster.wanLinks = { wanLink("a", "b", 40, 50, 4000) };
    plan.cluster.wanLinks[0].tcpWindowMb = 1e4;
    plan.workload.model = "qwen3-30b-a3b";
    plan.workload.sequenceLength = 4096;
    plan.workload.globalBatch = 1024;
    plan.parallelism.pipeline = pipeline;
    plan.parallelism.expert = expert;
    plan.placement.mode = PlacementMode::DataAcross;
    return plan;
}

Workload placed(const Plan &plan)
{
    return test::placedWorkload(plan, PlacementMode::DataAcross);
}

ExpertWan wanOf(const Workload &workload, std::size_t pipelineClass = 0)
{
    const PipelineClass &pipelines = workload.layout.classes[pipelineClass];
    return expertWan(workload, 0, expertSpread(workload, pipelines, 0), {});
}

} // namespace

class TestExpertWan : public QObject {
    Q_OBJECT

private slots:
    /// Eight and eight: all GPUs of a node send over its one pair. B = 50 Gbps / 8.
    void aRankHasItsShareOfTheNodePair()
    {
        const Workload workload = placed(acrossPlan(1, 16));
        const ExpertSpread spread = expertSpread(workload, workload.layout.classes[0], 0);
        QCOMPARE(spread.perSite, (std::vector<int> { 8, 8 }));
        for (std::size_t c = 0; c < workload.layout.classes.size(); ++c) {
            const ExpertWan wan = wanOf(workload, c);
            QVERIFY(isNear(wan.way.bandwidth.value, 50e9 / 8 / 8));
            QVERIFY(isNear(wan.way.latency.value, 0.020));
            QCOMPARE(wan.limit.limit, WanLimit::NodePair);
        }
    }

    /// A node sends to both nodes elsewhere at once, half of its bytes over either pair: B = 2 x 50 Gbps / 8.
    void aNodeSendsOverAllItsPairs()
    {
        QVERIFY(isNear(wanOf(placed(acrossPlan(2, 32))).way.bandwidth.value, 2 * 50e9 / 8 / 8));
    }

    /// A window of 5 MB and 40 ms: W / RTT = 125 MB/s a connection. Two of them: 250 MB/s a pair.
    void windowsAndRoundTripsBindIt()
    {
        Plan plan = acrossPlan(1, 16);
        plan.cluster.wanLinks[0].tcpWindowMb = 5;
        plan.wan.tcpConnections = 2;
        const ExpertWan wan = wanOf(placed(plan));
        QVERIFY(isNear(wan.way.bandwidth.value, 250e6 / 8));
        QCOMPARE(wan.limit.limit, WanLimit::TcpWindow);
        plan.cluster.wanLinks[0].rttMs = 80;
        QVERIFY(isNear(wanOf(placed(plan)).way.bandwidth.value, 125e6 / 8));
    }

    /// Sixteen ranks of each stage send in either direction: B = C / (16 stages).
    void allRanksOfAllStagesShareTheLink()
    {
        for (const int stages : { 1, 2 }) {
            Plan plan = acrossPlan(2, 32, stages);
            plan.cluster.wanLinks[0].capacityGbps = 40;
            const ExpertWan wan = wanOf(placed(plan));
            QVERIFY(isNear(wan.way.bandwidth.value, 40e9 / 8 / (16 * stages)));
            QCOMPARE(wan.limit.limit, WanLimit::LinkCapacity);
        }
    }

    /// Three GPUs here, one there, four ranks. The one sends 3 parts over the node pair P, the three one part each over
    /// the same pair: 3 / P for both. The rate of the one: 3 parts in 3 / P.
    void theSmallerSideSendsMoreInTheSameTime()
    {
        Plan plan = acrossPlan(1, 4);
        plan.cluster.datacenters[0].pools[0].gpusPerNode = 3;
        plan.cluster.datacenters[1].pools[0].gpusPerNode = 1;
        const Workload workload = placed(plan);
        QCOMPARE(workload.layout.classes.size(), 2u);
        for (std::size_t c = 0; c < 2; ++c)
            QVERIFY(isNear(wanOf(workload, c).way.bandwidth.value, 50e9 / 8));
    }

    /// No faster than its own NIC, whatever the links.
    void theOwnNicBindsIt()
    {
        Plan plan = acrossPlan(1, 16);
        plan.cluster.wanLinks[0].nodePairGbps = plan.cluster.wanLinks[0].capacityGbps = 1e6;
        plan.cluster.wanLinks[0].tcpWindowMb = 1e6;
        for (Datacenter &datacenter : plan.cluster.datacenters)
            datacenter.fabricGbpsPerGpu = 100;
        const ExpertWan wan = wanOf(placed(plan));
        QVERIFY(isNear(wan.way.bandwidth.value, 100e9 / 8));
        QCOMPARE(wan.limit.limit, WanLimit::NodeNics);
    }

    /// Brute force over every rank, expert rank and datacenter of small clusters. All-to-all: V / EP to each rank of
    /// the group elsewhere. All-gather: each rank's tokens once to each other datacenter of the group, sums back.
    /// Dedup: once to each that a token visits, with one of two experts chosen: a datacenter's share of the ranks.
    void bytesOnLinksAreTheSumOverAllRanks()
    {
        std::mt19937 random(9);
        constexpr double kTokens = 3e9; // bytes of a rank's tokens, one copy
        ExpertTokens tokens;
        tokens.choices = 1;
        tokens.experts = 1 << 10;
        int across = 0;
        for (int trial = 0; trial < 600; ++trial) {
            Plan plan = acrossPlan(1, 2 << (random() % 5), 1 + int(random() % 2));
            plan.cluster.datacenters.push_back(site("c", 1));
            plan.cluster.wanLinks = { wanLink("a", "b"), wanLink("c", "b"), wanLink("a", "c") };
            for (Datacenter &datacenter : plan.cluster.datacenters) {
                datacenter.pools[0].nodes = 1 + int(random() % 4);
                datacenter.pools[0].gpusPerNode = 4 + 2 * int(random() % 3);
            }
            plan.parallelism.tensor = 1 << (random() % 2);
            plan.parallelism.sequenceParallel = random() % 2 == 0;
            const MoeDispatch dispatch =
                std::array { MoeDispatch::Flat, MoeDispatch::AllGather, MoeDispatch::Dedup }[random() % 3];
            const Workload workload = placed(plan);
            const Degrees &d = workload.degrees;
            if (workload.layout.data == 0 || d.gpusOfStage() * workload.layout.data % d.expertRanks() != 0)
                continue;
            std::vector<WanLinkUse> links(3), expected(3);
            for (int stage = 0; stage < d.pipeline; ++stage) {
                for (const PipelineClass &pipelines : workload.layout.classes) {
                    const ExpertSpread spread = expertSpread(workload, pipelines, stage);
                    if (!spread.isAcross())
                        continue;
                    // What a leg counts for a rank of the smallest datacenter (leg_chain.cpp).
                    const double few = std::ranges::min(spread.perSite), all = spread.ranks;
                    const double leg =
                        dispatch == MoeDispatch::AllGather ? kTokens * (all - few) / few : kTokens * (all - few) / all;
                    addExpertBytes(workload, pipelines, stage, tokens, dispatch, { leg, leg }, links);
                }
                const StageRanks ranks(workload.layout, stage);
                const ExpertGrid grid = expertGrid(d, ranks.count());
                for (int rank = 0; rank < ranks.count(); ++rank) {
                    const int from = ranks.place(rank).at.datacenter;
                    std::map<int, int> there; // ranks of the group by datacenter
                    for (int part = 0; part < d.expert; ++part)
                        ++there[ranks.place(grid.rankOf(grid.blockOf(rank), grid.laneOf(rank), part)).at.datacenter];
                    for (const auto &[to, count] : there) {
                        if (to == from)
                            continue;
                        const auto link = std::size_t(workload.links.between(from, to));
                        const bool isForth =
                            plan.cluster.wanLinks[link].between[0] == plan.cluster.datacenters[std::size_t(from)].id;
                        const double copies =
                            dispatch == MoeDispatch::AllGather ? 1 : double(count) / d.expert; // one choice: its share
                        expected[link].bytes[isForth ? 0 : 1] += kTokens * copies; // dispatched
                        expected[link].bytes[isForth ? 1 : 0] += kTokens * copies; // and what comes back
                    }
                }
            }
            for (std::size_t link = 0; link < 3; ++link) {
                across += expected[link].totalBytes() > 0;
                for (const int way : { 0, 1 }) {
                    QVERIFY2(isNear(links[link].bytes[way], expected[link].bytes[way]),
                        qPrintable(QStringLiteral("trial %1, link %2: %3 for %4, dispatch %5")
                                       .arg(trial)
                                       .arg(link)
                                       .arg(links[link].bytes[way])
                                       .arg(expected[link].bytes[way])
                                       .arg(int(dispatch))));
                    QCOMPARE(links[link].expertSeconds[way] > 0, expected[link].bytes[way] > 0);
                }
            }
        }
        QVERIFY2(across > 100, qPrintable(QString::number(across)));
    }

    /// Twelve ranks here, four there: twelve copies go to the four, whichever rank looks, and as many sums come back.
    void theLargerSideOfAnUnevenGroupBindsAnAllGather()
    {
        Plan plan = acrossPlan(1, 16);
        plan.cluster.datacenters[0].pools[0].gpusPerNode = 12;
        plan.cluster.datacenters[1].pools[0].gpusPerNode = 4;
        plan.cluster.wanLinks[0].capacityGbps = 5;
        const Workload workload = placed(plan);
        const ExpertWan wan = wanOf(workload);
        const double once = 1e9, leg = once * 12 / 4; // a rank of the four brings its part of the twelve's
        QVERIFY(isNear(leg / wan.way.bandwidthOf(WanCopies::EachSite).value, 12 * once * 8 / 5e9));
    }

    void aGroupInsideOneDatacenterSendsNothing()
    {
        const Workload workload = placed(acrossPlan(1, 8));
        std::vector<WanLinkUse> links(1);
        addExpertBytes(workload, workload.layout.classes[0], 0, {}, MoeDispatch::Flat, { 1e9, 1e9 }, links);
        QCOMPARE(links[0].totalBytes(), 0.0);
        QCOMPARE(links[0].expertSeconds[0], 0.0);
    }
};

TRAINYARD_APPLESS_TEST(TestExpertWan)
#include "tst_expert_wan.moc"
