// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/analysis.h"
#include "core/facts/workload/model_math.h"
#include "tests/support/most_replicas.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include "tests/support/plans.h"

#include <cmath>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

class TestEvaluate : public QObject {
    Q_OBJECT

private slots:
    void theBreakdownAddsUpToTheIteration();
    void referenceRowsOfTheAtlasSpecificationHold_data();
    void referenceRowsOfTheAtlasSpecificationHold();
    void bytesOnALinkAreTwiceTheActivationsOfEveryPipeline();
    void timeNeverRisesWithBandwidthConnectionsOrShorterRoundTrips();
    void recomputationTradesTimeForMemory();
    void moreMicroBatchesShrinkTheBubble();
    void waitingIsBlamedOnWhatCausesIt();
    void anOrderOfOurOwnIsSaid();
    void modelFlopsOverTimeIsTheReportedRate();
    void unevenMicroBatchesMakeTwoClassesAndKeepTheBatch();
    void aReusedWorkspaceGivesTheSameNumbers();
    void aSharedLinkSlowsItsPipelinesByItsCapacity();
    void whatChangesNothingIsSaid();
    void aPlanThatDoesNotFitSaysWhatWould();
    void aPlanWithoutPlacesSaysWhy();
    void aScheduleThatCannotBeBuiltIsSaidOnce();
    void moreWorkThanATimelineHoldsIsRefused();
    void unknownNamesAreErrorsWithTheNearestName();
    void aStopTokenEndsTheWork();
};

void TestEvaluate::theBreakdownAddsUpToTheIteration()
{
    for (const Plan &plan : { oneSite(8), threeSites(8), atlasRow(6, 16, 2, 3, ScheduleKind::GPipe) }) {
        const auto evaluation = evaluated(plan);
        const Metrics &m = evaluation->metrics;
        QVERIFY(m.iterationTime);
        QVERIFY(std::abs(m.breakdown->total() - *m.iterationTime) < 1e-3 * *m.iterationTime);
        for (double Breakdown::*part : kBreakdownParts)
            QVERIFY(m.breakdown.value().*part >= 0);
        QVERIFY(*m.gpuUtilization > 0 && *m.gpuUtilization < 1);
    }
}

void TestEvaluate::referenceRowsOfTheAtlasSpecificationHold_data()
{
    QTest::addColumn<int>("stages");
    QTest::addColumn<int>("microBatches");
    QTest::addColumn<int>("c");
    QTest::addColumn<int>("datacenters");
    QTest::addColumn<double>("gpipe");
    QTest::addColumn<double>("oneForwardOneBackward");
    QTest::addColumn<double>("varuna");
    // Two independent simulators agree on these seconds; Varuna's are of one.
    QTest::newRow("6, 4, 2, 3") << 6 << 4 << 2 << 3 << 47.47 << 47.85 << 46.44;
    QTest::newRow("6, 4, 4, 3") << 6 << 4 << 4 << 3 << 64.60 << 61.99 << 58.58;
    QTest::newRow("6, 16, 2, 3") << 6 << 16 << 2 << 3 << 108.42 << 123.25 << 103.31;
    QTest::newRow("6, 16, 4, 3") << 6 << 16 << 4 << 3 << 161.72 << 161.67 << 122.46;
    QTest::newRow("12, 60, 2, 3") << 12 << 60 << 2 << 3 << 356.27 << 419.60 << 316.41;
    QTest::newRow("12, 60, 4, 3") << 12 << 60 << 4 << 3 << 542.18 << 543.00 << 372.76;
    QTest::newRow("4, 4, 4, 2") << 4 << 4 << 4 << 2 << 47.99 << 45.38 << 41.97;
}

void TestEvaluate::referenceRowsOfTheAtlasSpecificationHold()
{
    QFETCH(int, stages);
    QFETCH(int, microBatches);
    QFETCH(int, c);
    QFETCH(int, datacenters);
    QFETCH(double, gpipe);
    QFETCH(double, oneForwardOneBackward);
    QFETCH(double, varuna);
    const auto seconds = [&](ScheduleKind schedule) {
        return *evaluated(atlasRow(stages, microBatches, c, datacenters, schedule))->metrics.iterationTime;
    };
    QVERIFY(std::abs(seconds(ScheduleKind::GPipe) - gpipe) < 1e-3 * gpipe);
    QVERIFY(std::abs(seconds(ScheduleKind::Varuna) - varuna) < 1e-3 * varuna);
    QVERIFY(std::abs(seconds(ScheduleKind::OneFOneB) - oneForwardOneBackward) < 1e-3 * oneForwardOneBackward);
}

void TestEvaluate::bytesOnALinkAreTwiceTheActivationsOfEveryPipeline()
{
    // bytes = 2 M A pipelines, A = 2 b s h: forward activations one way, gradients the other
    const auto evaluation = evaluated(threeSites(8));
    const Plan &plan = *evaluation->plan;
    const double activation = 2.0 * plan.workload.microBatch * plan.workload.sequenceLength * evaluation->model.hidden;
    for (const WanLinkUse &use : evaluation->metrics.wanLinks) {
        if (use.totalBytes() == 0)
            continue;
        QCOMPARE(use.totalBytes(), 2.0 * plan.workload.globalBatch * activation);
        QCOMPARE(use.bytes[0], use.bytes[1]);
    }
    QCOMPARE(
        evaluation->metrics.wanBytesPerIteration, 2 * 2.0 * plan.workload.globalBatch * activation); // two boundaries
}

void TestEvaluate::timeNeverRisesWithBandwidthConnectionsOrShorterRoundTrips()
{
    std::mt19937 random(7);
    std::uniform_real_distribution<double> factor(1.01, 3);
    for (int trial = 0; trial < 60; ++trial) {
        Plan slow = threeSites(8);
        slow.wan.tcpConnections = 1 + int(random() % 40);
        for (WanLink &wan : slow.cluster.wanLinks) {
            wan.rttMs = 5 + double(random() % 100);
            wan.nodePairGbps = 1 + double(random() % 50);
            wan.capacityGbps = 2 + double(random() % 400);
        }
        slow = withMostReplicas(slow);
        Plan fast = slow;
        switch (trial % 4) {
        case 0:
            for (WanLink &wan : fast.cluster.wanLinks)
                wan.nodePairGbps *= factor(random);
            break;
        case 1:
            for (WanLink &wan : fast.cluster.wanLinks)
                wan.rttMs /= factor(random);
            break;
        case 2:
            *fast.wan.tcpConnections += 1 + int(random() % 10);
            break;
        case 3:
            for (WanLink &wan : fast.cluster.wanLinks)
                wan.capacityGbps *= factor(random);
            break;
        }
        const double before = *evaluated(slow)->metrics.iterationTime, after = *evaluated(fast)->metrics.iterationTime;
        QVERIFY2(
            after <= before * (1 + 1e-9), qPrintable(QStringLiteral("%1: %2 -> %3").arg(trial).arg(before).arg(after)));
    }
}

void TestEvaluate::recomputationTradesTimeForMemory()
{
    Plan none = oneSite(8), full = none;
    full.memory.recompute = Recompute::Full;
    const auto kept = evaluated(none), again = evaluated(full);
    QVERIFY(*again->metrics.iterationTime > *kept->metrics.iterationTime * 1.15);
    QVERIFY(again->metrics.memory->perStage[0].activations < kept->metrics.memory->perStage[0].activations / 3);
    QVERIFY(*again->metrics.hfu > *again->metrics.mfu * 1.3);
    QCOMPARE(*kept->metrics.hfu, *kept->metrics.mfu);
}

void TestEvaluate::moreMicroBatchesShrinkTheBubble()
{
    // Balanced stages without communication: bubble = (p - 1) / (m + p - 1), exactly.
    for (int batch : { 8, 16, 32, 64, 128 }) {
        Plan plan = atlasRow(4, batch, 1, 1, ScheduleKind::OneFOneB);
        plan.memory.recompute = Recompute::None;
        QVERIFY(std::abs(*evaluated(plan)->metrics.bubbleFraction - 3.0 / (batch + 3)) < 1e-9);
    }
    double before = 1;
    for (int batch : { 8, 16, 32, 64, 128 }) { // and shrinking still with real layers and an unequal last stage
        Plan plan = oneSite(4);
        plan.parallelism.data = 1;
        plan.workload.globalBatch = batch;
        const double bubble = *evaluated(plan)->metrics.bubbleFraction;
        QVERIFY(bubble < before);
        before = bubble;
    }
}

void TestEvaluate::waitingIsBlamedOnWhatCausesIt()
{
    const auto sentence = [](const Plan &plan) {
        const auto evaluation = evaluated(plan);
        for (const Problem &problem : evaluation->problems) {
            if (problem.text.starts_with("GPUs wait"))
                return problem.text;
        }
        return std::string();
    };
    // 3 / (4 + 3) = 43 % with equal stages
    Plan plan = atlasRow(4, 4, 1, 1, ScheduleKind::OneFOneB);
    plan.memory.recompute = Recompute::None;
    QCOMPARE(QString::fromStdString(sentence(plan)),
        QStringLiteral("GPUs wait 43 % of the time: 4 micro-batches for 4 stages"));
    // 3 / (64 + 3) = 4 %; with one stage ten times as long the other three wait nine tenths
    plan = atlasRow(4, 64, 1, 1, ScheduleKind::OneFOneB);
    plan.memory.recompute = Recompute::None;
    QVERIFY(sentence(plan).empty());
    plan.profile->forwardMs = { 10, 10, 10, 100 };
    plan.profile->backwardMs = { 20, 20, 20, 200 };
    QVERIFY2(sentence(plan).find("slowest stage") != std::string::npos, sentence(plan).c_str());
    QVERIFY(sentence(plan).find("micro-batches") == std::string::npos);
}

void TestEvaluate::anOrderOfOurOwnIsSaid()
{
    const auto isSaid = [](ScheduleKind kind, int microBatches) {
        Plan plan = atlasRow(4, microBatches, 1, 1, kind);
        plan.parallelism.virtualPipeline = kind == ScheduleKind::Hanayo ? 2 : 1;
        const auto evaluation = evaluated(plan);
        return std::ranges::any_of(evaluation->problems,
            [](const Problem &p) { return p.severity == Severity::Note && p.where == "schedule"; });
    };
    for (const ScheduleKind kind : { ScheduleKind::Hanayo, ScheduleKind::Chimera }) {
        QVERIFY(isSaid(kind, 16));
        QVERIFY(!isSaid(kind, 4));
    }
    QVERIFY(!isSaid(ScheduleKind::OneFOneB, 16));
}

void TestEvaluate::modelFlopsOverTimeIsTheReportedRate()
{
    const auto evaluation = evaluated(oneSite(8));
    const Metrics &m = evaluation->metrics;
    const double flops = modelFlopsPerSequence(evaluation->model, 8192) * 64;
    QCOMPARE(*m.modelTflopsPerGpu * 1e12 * m.gpusUsed * *m.iterationTime, flops);
    QCOMPARE(*m.tokensPerSecond * *m.iterationTime, 64.0 * 8192);
    QVERIFY(*m.mfu > 0.2 && *m.mfu < 0.75);
}

void TestEvaluate::unevenMicroBatchesMakeTwoClassesAndKeepTheBatch()
{
    Plan plan = oneSite(12);
    plan.parallelism.data = 3; // 64 micro-batches: 22, 21, 21
    const auto evaluation = evaluated(plan);
    QCOMPARE(evaluation->layout.classes.size(), std::size_t(2));
    int total = 0;
    for (const PipelineClass &c : evaluation->layout.classes)
        total += c.pipelines * c.microBatches;
    QCOMPARE(total, 64);
}

void TestEvaluate::aReusedWorkspaceGivesTheSameNumbers()
{
    EvaluationWorkspace workspace;
    for (int nodes : { 8, 6, 8, 9, 8 }) {
        auto plan = std::make_shared<const Plan>(threeSites(nodes));
        const auto reused = evaluate(plan, builtinCatalogue(), workspace);
        QVERIFY(reused);
        QCOMPARE(*(*reused)->metrics.iterationTime, *evaluated(*plan)->metrics.iterationTime);
        QCOMPARE((*reused)->timeline.start, evaluated(*plan)->timeline.start);
    }
}

void TestEvaluate::aSharedLinkSlowsItsPipelinesByItsCapacity()
{
    // One slow link carries every pipeline: no less than bytes of its busier direction over its capacity.
    Plan plan = threeSites(8);
    for (WanLink &wan : plan.cluster.wanLinks)
        wan.capacityGbps = 4;
    plan = withMostReplicas(plan);
    const auto evaluation = evaluated(plan);
    for (const WanLinkUse &use : evaluation->metrics.wanLinks)
        QVERIFY(use.utilization <= 1 + 1e-6);
    const double least = 64 * 2.0 * 8192 * evaluation->model.hidden / (4e9 / 8);
    QVERIFY(*evaluation->metrics.iterationTime > least);
    QVERIFY(evaluation->metrics.breakdown->wan > 0.3 * *evaluation->metrics.iterationTime);
}

void TestEvaluate::whatChangesNothingIsSaid()
{
    Plan plan = oneSite(8);
    plan.moe.dispatch = MoeDispatch::TensorSliced;
    const auto evaluation = evaluated(plan);
    QVERIFY(std::any_of(evaluation->problems.begin(), evaluation->problems.end(),
        [](const Problem &p) { return p.where == "moe"; })); // of a model without experts
    QVERIFY(evaluation->feasible());
}

void TestEvaluate::aPlanThatDoesNotFitSaysWhatWould()
{
    Plan plan = oneSite(4, 1);
    plan.workload.model = "llama-3-70b";
    plan.workload.microBatch = 4;
    plan.parallelism.data.reset();
    const auto evaluation = evaluated(plan);
    QVERIFY(!evaluation->feasible());
    QVERIFY(evaluation->metrics.iterationTime); // given even when memory does not fit
    const Problem &problem = evaluation->problems.front();
    QCOMPARE(problem.where, std::string("memory"));
    QVERIFY(!problem.fixes.empty());
    for (const Fix &fix : problem.fixes)
        QVERIFY2(evaluated(*fix.plan)->metrics.memory->fits, fix.label.c_str());
}

void TestEvaluate::aPlanWithoutPlacesSaysWhy()
{
    Plan plan = oneSite(2, 4);
    const auto evaluation = evaluated(plan);
    QVERIFY(!evaluation->feasible());
    QVERIFY(!evaluation->metrics.iterationTime);
    QVERIFY(evaluation->timeline.isEmpty());
    QVERIFY(!evaluation->problems.front().fixes.empty());
    QVERIFY(evaluated(*evaluation->problems.front().fixes.front().plan)->metrics.iterationTime);
}

void TestEvaluate::aScheduleThatCannotBeBuiltIsSaidOnce()
{
    Plan plan = threeSites(14);
    plan.placement.mode = PlacementMode::Auto;
    plan.schedule = ScheduleKind::Interleaved; // with one chunk a stage
    const auto evaluation = evaluated(plan);
    QVERIFY(!evaluation->feasible());
    QCOMPARE(evaluation->problems.size(), std::size_t(1));
    QVERIFY(!evaluation->problems.front().fixes.empty());
}

void TestEvaluate::moreWorkThanATimelineHoldsIsRefused()
{
    Plan plan = oneSite(32, 32);
    plan.workload.globalBatch = 1'000'000'000;
    plan.parallelism.data = 1;
    const auto evaluation = evaluated(plan);
    QVERIFY(!evaluation->feasible());
    QVERIFY(evaluation->problems.front().text.find("too many to simulate") != std::string::npos);
}

void TestEvaluate::unknownNamesAreErrorsWithTheNearestName()
{
    Plan plan = oneSite(8);
    plan.cluster.datacenters[0].pools[0].gpu = "h100-sxm-80g";
    plan.workload.model = "lama-3-8b";
    EvaluationWorkspace workspace;
    const auto result = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
    QVERIFY(!result);
    QCOMPARE(result.error().size(), std::size_t(2));
    QVERIFY(result.error()[0].right.find("h100-sxm-80gb") != std::string::npos);
    QVERIFY(result.error()[1].right.find("llama-3-8b") != std::string::npos);
}

void TestEvaluate::aStopTokenEndsTheWork()
{
    std::stop_source stop;
    stop.request_stop();
    EvaluationWorkspace workspace;
    const auto result =
        evaluate(std::make_shared<const Plan>(oneSite(8)), builtinCatalogue(), workspace, stop.get_token());
    QVERIFY(!result);
    QCOMPARE(result.error().front().code, ErrorCode::Cancelled);
}

TRAINYARD_APPLESS_TEST(TestEvaluate)
#include "tst_evaluate.moc"
