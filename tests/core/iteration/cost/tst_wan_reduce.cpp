// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/wan/wan_reduce.h"
#include "tests/support/test_program.h"

#include "core/facts/workload/model_math.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/layouts/placements.h"

#include <QTest>

#include "tests/support/plans.h"
#include "tests/support/workloads.h"

#include <numeric>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// One pipeline of `pipeline` stages on each of `sites` datacenters with `nodes` nodes, chained a-b-c or closed to a
/// ring.
Plan replicasApart(int sites, int nodes, int pipeline, bool closed = true)
{
    Plan plan = oneSite(1, pipeline);
    plan.cluster.datacenters.clear();
    for (int d = 0; d < sites; ++d) {
        plan.cluster.datacenters.push_back(site(std::string(1, char('a' + d)), nodes));
        if (d > 0)
            plan.cluster.wanLinks.push_back(wanLink(std::string(1, char('a' + d - 1)), std::string(1, char('a' + d))));
    }
    if (closed && sites > 2)
        plan.cluster.wanLinks.push_back(wanLink(std::string(1, char('a' + sites - 1)), "a"));
    for (WanLink &link : plan.cluster.wanLinks)
        link.tcpWindowMb = 4; // 63 connections fill a pair of 50 Gbps
    plan.placement.mode = PlacementMode::DataAcross;
    return plan;
}

Workload placed(Plan plan)
{
    const PlacementMode mode = plan.placement.mode;
    return test::placedWorkload(std::move(plan), mode);
}

struct Exchanged {
    std::vector<SiteExchange> stages;
    std::vector<WanLinkUse> links;
    [[nodiscard]] double bytes() const
    {
        return std::accumulate(
            links.begin(), links.end(), 0.0, [](double sum, const WanLinkUse &use) { return sum + use.totalBytes(); });
    }
    [[nodiscard]] double slowest() const
    {
        double seconds = 0;
        for (const SiteExchange &s : stages)
            seconds = std::max(seconds, s.reduce.value);
        return seconds;
    }
};

Exchanged exchanged(const Workload &workload)
{
    Exchanged result;
    result.links.resize(workload.plan->cluster.wanLinks.size());
    result.stages = siteExchanges(workload, result.links);
    return result;
}

Exchanged exchanged(Plan plan)
{
    return exchanged(placed(std::move(plan)));
}

double gradients(const Workload &workload)
{
    double bytes = 0;
    for (int stage = 0; stage < workload.plan->parallelism.pipeline; ++stage)
        bytes += stageGradient(workload, stage).value;
    return bytes;
}

} // namespace

class TstWanReduce : public QObject {
    Q_OBJECT

private slots:
    // 2(n-1)(8S/(nB) + a), a at 0.3 from n = 8. NCCL, S = 128 MiB, 2 Gbps, 5 ms (tc_cluster_setting).
    void aFlatRingTakesWhatNcclTook_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<double>("milliseconds");
        QTest::newRow("4") << 4 << 835.0;
        QTest::newRow("8") << 8 << 970.0;
        QTest::newRow("16") << 16 << 1038.0;
    }

    void aFlatRingTakesWhatNcclTook()
    {
        QFETCH(int, ranks);
        QFETCH(double, milliseconds);
        const Seconds t =
            flatRingTime(Bytes { 128.0 * 1024 * 1024 }, ranks, gbitsPerSecond(2), trainyard::milliseconds(5.0 * ranks));
        QVERIFY2(std::abs(t.value * 1e3 / milliseconds - 1) < 0.015, std::to_string(t.value).c_str());
    }

    // Two sites: 2(n-1)/n S = S, over all node pairs, and 2 (n-1)/n of two hops of RTT/2.
    void twoSitesExchangeEachStageOnce()
    {
        const Workload work = placed(replicasApart(2, 4, 2));
        QCOMPARE(work.layout.data, 4);
        const Exchanged result = exchanged(work);
        const double nodePairs = 2; // two replicas of a stage in each datacenter, one a node
        const double stage = stageGradient(work, 0).value;
        QVERIFY(std::abs(result.stages[0].reduce.value / (stage / (nodePairs * 50e9 / 8) + 0.04) - 1) < 1e-9);
        QVERIFY(std::abs(result.links[0].bytes[0] / gradients(work) - 1) < 1e-12);
        QVERIFY(std::abs(result.links[0].bytes[1] / gradients(work) - 1) < 1e-12);
    }

    void aRingCarriesTwoNMinusOneTimesTheGradients()
    {
        // n hops, each 2(n-1)/n S
        for (const int sites : { 3, 4 }) {
            const Workload work = placed(replicasApart(sites, 2, 2));
            QVERIFY(std::abs(exchanged(work).bytes() / (2 * (sites - 1) * gradients(work)) - 1) < 1e-12);
        }
        // a chain of three: each of the two links the whole gradient each way
        const Workload chain = placed(replicasApart(3, 2, 2, false));
        QVERIFY(std::abs(exchanged(chain).bytes() / (4 * gradients(chain)) - 1) < 1e-12);
    }

    void aFlatRingIsNeverFasterThanTheHierarchicalOne()
    {
        for (const int sites : { 2, 3 }) {
            for (const int nodes : { 2, 4, 8 }) {
                for (const int zero : { 0, 1 }) {
                    for (const double rtt : { 1.0, 40.0, 200.0 }) {
                        Plan plan = replicasApart(sites, nodes, 2);
                        plan.parallelism.zeroStage = zero;
                        for (WanLink &link : plan.cluster.wanLinks)
                            link.rttMs = rtt;
                        const double hierarchical = evaluated(plan)->metrics.iterationTime.value();
                        plan.wan.allReduce = WanAllReduce::Flat;
                        const double flat = evaluated(plan)->metrics.iterationTime.value();
                        // what one ring per site saves inside the datacenter is micro-seconds of start-up
                        QVERIFY2(flat >= hierarchical * 0.995, std::to_string(flat / hierarchical).c_str());
                    }
                }
            }
        }
    }

    // 2(n-1)(S/(nB)+a) over one node pair, n GPUs of a stage's tensor slice.
    void aFlatRingCrossesOnOneNodePair()
    {
        Plan plan = replicasApart(2, 8, 2);
        plan.parallelism.zeroStage = 0;
        plan.wan.allReduce = WanAllReduce::Flat;
        for (WanLink &link : plan.cluster.wanLinks)
            link.rttMs = 0;
        const Workload work = placed(plan);
        const double n = work.layout.data, stage = stageGradient(work, 0).value;
        const SiteExchange exchange = exchanged(work).stages[0];
        QVERIFY(exchange.replacesLocal);
        const double expected = 2 * (n - 1) / n * stage / (50e9 / 8);
        QVERIFY2(std::abs(exchange.reduce.value / expected - 1) < 1e-3,
            std::to_string(exchange.reduce.value / expected).c_str());
    }

    void layersThatScatterTheirGradientsLeaveNothingToAFlatRing()
    {
        Plan plan = replicasApart(2, 4, 1);
        plan.parallelism.zeroStage = 3;
        plan.stack.name = "fsdp";
        const double before = exchanged(plan).slowest();
        plan.wan.allReduce = WanAllReduce::Flat;
        QCOMPARE(exchanged(plan).slowest(), before);
    }

    void stagesShareALinkMaxMinFair()
    {
        // Each of p stages gets capacity / p where the link is the limit, its node pairs where they are.
        for (const double capacity : { 10.0, 100.0, 1e5 }) {
            Plan plan = replicasApart(2, 4, 4);
            plan.cluster.wanLinks[0].capacityGbps = capacity;
            plan.cluster.wanLinks[0].rttMs = 0;
            const Workload work = placed(plan);
            const double rate = std::min(capacity / 4, 50.0) * 1e9 / 8;
            for (int stage = 0; stage < 4; ++stage)
                QVERIFY(std::abs(exchanged(work).stages[std::size_t(stage)].reduce.value * rate
                                / stageGradient(work, stage).value
                            - 1)
                    < 1e-9);
        }
    }

    void copiesOnOtherLinksTakeNothingFromEachOther()
    {
        // Bidirectional stages over four datacenters: 0 and 3 meet on the link a-d, 1 and 2 on b-c. Each has it to
        // itself.
        Plan plan = replicasApart(4, 1, 4);
        plan.schedule = ScheduleKind::Chimera;
        plan.placement.mode = PlacementMode::PipelineAcross;
        for (WanLink &link : plan.cluster.wanLinks) {
            link.capacityGbps = 10;
            link.rttMs = 0;
        }
        const Workload work = placed(plan);
        QVERIFY(work.layout.data > 0);
        const Exchanged result = exchanged(work);
        for (int stage = 0; stage < 4; ++stage)
            QVERIFY(
                std::abs(
                    result.stages[std::size_t(stage)].reduce.value * 10e9 / 8 / stageGradient(work, stage).value - 1)
                < 1e-9);
    }

    void moreBandwidthOrLessRoundTripNeverCosts()
    {
        for (const bool closed : { true, false }) {
            for (const WanAllReduce kind : { WanAllReduce::Hierarchical, WanAllReduce::Flat }) {
                const auto at = [&](double pair, double capacity, double rtt) {
                    Plan plan = replicasApart(3, 2, 2, closed);
                    plan.wan.allReduce = kind;
                    for (WanLink &link : plan.cluster.wanLinks) {
                        link.nodePairGbps = pair;
                        link.capacityGbps = capacity;
                        link.rttMs = rtt;
                    }
                    return exchanged(plan).slowest();
                };
                for (const double gbps : { 1.0, 5.0, 50.0 }) {
                    QVERIFY(at(gbps * 1.5, 100, 40) <= at(gbps, 100, 40));
                    QVERIFY(at(20, gbps * 1.5, 40) <= at(20, gbps, 40));
                    QVERIFY(at(20, 100, gbps) <= at(20, 100, gbps * 1.5));
                }
            }
        }
    }

    void fewerGradientBitsCrossAndPackingIsPaidFor()
    {
        Plan plan = replicasApart(2, 2, 2);
        const Exchanged whole = exchanged(plan);
        const double own = 8 * placed(plan).stack.gradientBytes;
        plan.wan.gradientBits = 8;
        const Exchanged packed = exchanged(plan);
        QVERIFY(std::abs(packed.bytes() / whole.bytes() - 8 / own) < 1e-12);
        QVERIFY(packed.stages[0].recode.value > 0);
        QVERIFY(packed.slowest() < whole.slowest());
        plan.wan.gradientBits = 32;
        QCOMPARE(exchanged(plan).bytes(), whole.bytes());
    }

    void whereNobodyIsApartNothingCrosses()
    {
        Plan plan = threeSites(4);
        for (const LocalSgd local : { LocalSgd::None, LocalSgd::Diloco }) {
            plan.wan.localSgd = local;
            QCOMPARE(exchanged(plan).bytes(), 0.0);
            QCOMPARE(exchanged(plan).slowest(), 0.0);
        }
    }
};

TRAINYARD_APPLESS_TEST(TstWanReduce)
#include "tst_wan_reduce.moc"
