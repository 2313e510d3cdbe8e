// SPDX-License-Identifier: GPL-3.0-or-later
// What `auto` leaves to the engine: how many replicas there are (`parallelism.data`) and how many pipelines make a cell
// (`wan.cell`). Each number that a plan may state is an independent reference: auto is as fast as the best of them.
#include "tests/support/plans.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include <QtTest>

#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

EvaluationPtr scored(const Plan &plan)
{
    EvaluationWorkspace workspace;
    const auto answer = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, Depth::Score);
    return answer ? *answer : nullptr;
}

/// Of a plan that can run.
Metric secondsOf(const Plan &plan)
{
    const EvaluationPtr answer = scored(plan);
    return answer && answer->feasible() ? answer->metrics.iterationTime : Metric {};
}

/// One or two datacenters of equal GPUs whose fabric and links are slow enough for fewer replicas to pay at times.
Plan openReplicas(unsigned seed)
{
    std::mt19937 random(seed);
    const auto whole = [&](int low, int high) { return low + int(random() % unsigned(high - low + 1)); };
    Plan plan = oneSite(whole(1, 4), 1 << whole(0, 2));
    plan.workload.model = "llama-3.2-3b";
    plan.workload.sequenceLength = 1024 << whole(0, 2);
    plan.workload.globalBatch = whole(2, 16);
    plan.parallelism.tensor = 1 << whole(0, 2);
    plan.parallelism.zeroStage = whole(0, 2);
    plan.schedule = whole(0, 1) == 0 ? ScheduleKind::OneFOneB : ScheduleKind::GPipe;
    plan.cluster.datacenters[0].fabricGbpsPerGpu = whole(1, 100);
    if (whole(0, 1) == 1) {
        plan.cluster.datacenters.push_back(site("b", whole(1, 4)));
        plan.cluster.wanLinks = { wanLink("a", "b", whole(5, 60), whole(1, 50)) };
        plan.placement.mode = PlacementMode(whole(0, 2));
    }
    plan.parallelism.data.reset();
    return plan;
}

Plan headline(double nodePairGbps, ScheduleKind schedule)
{
    Plan plan = atlasRow(4, 4, 16, 2, schedule);
    plan.wan.sharing = WanSharing::Temporal;
    plan.cluster.wanLinks[0].nodePairGbps = nodePairGbps;
    return plan;
}

} // namespace

class TestBestPlacement : public QObject {
    Q_OBJECT

private slots:
    void autoIsAsFastAsTheBestNumberOfReplicas();
    void autoTakesFewerReplicasWhereMoreAreSlower();
    void moreNodesNeverMakeAutoSlower();
    void expertsGetReplicasThatTheyDivide();
    void autoCellsAreAsFastAsTheBestSize();
    void aFasterLinkNeverSlowsAutoCells();
    void neitherModeTakesAllThatMayBeSimulated();
};

void TestBestPlacement::autoIsAsFastAsTheBestNumberOfReplicas()
{
    int fewer = 0, compared = 0;
    for (int seed = 0; seed < trials(40); ++seed) {
        Plan plan = openReplicas(unsigned(seed));
        const Metric open = secondsOf(plan);
        if (!open)
            continue;
        double best = std::numeric_limits<double>::infinity(), ofMost = 0;
        for (int data = 1; data <= plan.workload.globalBatch; ++data) {
            plan.parallelism.data = data;
            if (const Metric stated = secondsOf(plan)) {
                best = std::min(best, *stated);
                ofMost = *stated;
            }
        }
        ++compared;
        fewer += best < 0.98 * ofMost;
        QVERIFY2(*open <= best * (1 + 1e-9),
            qPrintable(QStringLiteral("plan %1: auto %2, stated %3").arg(seed).arg(*open).arg(best)));
    }
    QVERIFY2(compared > trials(25) && fewer > trials(3), qPrintable(QStringLiteral("%1 %2").arg(compared).arg(fewer)));
}

/// Gradients over a fabric of 1 Gbps cost more than a second replica saves.
void TestBestPlacement::autoTakesFewerReplicasWhereMoreAreSlower()
{
    Plan plan = oneSite(4, 1);
    plan.workload.globalBatch = 4;
    plan.workload.sequenceLength = 1024;
    plan.cluster.datacenters[0].fabricGbpsPerGpu = 1;
    const EvaluationPtr open = scored(plan);
    QCOMPARE(open->layout.data, 1);
    QCOMPARE(open->layout.gpusUsed, 8);
    QVERIFY(open->layout.idle.front().reason.find("no better") != std::string::npos);
    plan.parallelism.data = 4;
    QVERIFY(*secondsOf(plan) > *open->metrics.iterationTime);
}

void TestBestPlacement::moreNodesNeverMakeAutoSlower()
{
    int compared = 0;
    for (int seed = 0; seed < trials(40); ++seed) {
        Plan plan = openReplicas(unsigned(seed));
        const Metric before = secondsOf(plan);
        for (Datacenter &datacenter : plan.cluster.datacenters)
            datacenter.pools[0].nodes *= 2;
        const Metric after = secondsOf(plan);
        if (!before)
            continue;
        ++compared;
        QVERIFY(after);
        QVERIFY2(*after <= *before * (1 + 1e-6),
            qPrintable(QStringLiteral("plan %1: %2 -> %3").arg(seed).arg(*before).arg(*after)));
    }
    QVERIFY(compared > trials(25));
}

/// Seven replicas have room; experts of groups of four find whole groups in four of them only.
void TestBestPlacement::expertsGetReplicasThatTheyDivide()
{
    Plan plan = oneSite(7, 1);
    plan.workload.model = "mixtral-8x7b";
    plan.workload.globalBatch = 28;
    plan.workload.sequenceLength = 1024;
    plan.parallelism.expert = 8;
    plan.parallelism.expertTensor = 4;
    const EvaluationPtr open = scored(plan);
    QVERIFY(open && open->feasible());
    QCOMPARE(open->layout.data, 4);
}

void TestBestPlacement::autoCellsAreAsFastAsTheBestSize()
{
    for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::Atlas })
        for (const double rate : { 2.0, 5.0, 10.0, 20.0, 40.0 }) {
            Plan plan = headline(rate, schedule);
            const double open = *secondsOf(plan);
            for (const int cell : { 1, 2, 4, 8, 16 }) {
                plan.wan.cell = cell;
                QVERIFY2(open <= *secondsOf(plan) * (1 + 1e-9),
                    qPrintable(QStringLiteral("%1 Gbps, cells of %2: %3 against %4")
                                   .arg(rate)
                                   .arg(cell)
                                   .arg(open)
                                   .arg(*secondsOf(plan))));
            }
        }
}

/// Where C falls below one, cells of one pipeline were taken, and a hop took longer than before.
void TestBestPlacement::aFasterLinkNeverSlowsAutoCells()
{
    for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::GPipe }) {
        double before = std::numeric_limits<double>::infinity();
        for (double rate = 1; rate < 200; rate *= 1.3) {
            const double now = *secondsOf(headline(rate, schedule));
            QVERIFY2(now <= before * (1 + 1e-6),
                qPrintable(QStringLiteral("%1 Gbps: %2 -> %3").arg(rate).arg(before).arg(now)));
            before = now;
        }
    }
}

/// What moves activations is simulated by events, so that few placements may be: they were all of one mode.
void TestBestPlacement::neitherModeTakesAllThatMayBeSimulated()
{
    for (const int batch : { 256, 512 }) {
        Plan plan = samplePlan("llama-3-70b-three-regions");
        plan.memory.activationOffload = ActivationOffload::Host;
        plan.workload.globalBatch = batch;
        const double open = *secondsOf(plan);
        for (const PlacementMode mode : { PlacementMode::PipelineAcross, PlacementMode::DataAcross }) {
            plan.placement.mode = mode;
            const Metric alone = secondsOf(plan);
            QVERIFY2(!alone || open <= *alone * (1 + 1e-9),
                qPrintable(QStringLiteral("%1 against %2").arg(open).arg(alone.value_or(0))));
        }
    }
}

TRAINYARD_APPLESS_TEST(TestBestPlacement)
#include "tst_best_placement.moc"
