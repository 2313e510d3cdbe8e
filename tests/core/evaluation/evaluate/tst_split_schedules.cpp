// SPDX-License-Identifier: GPL-3.0-or-later
// Zero-bubble schedules through the whole engine: what a user sees who switches the schedule of a plan.
#include <QtTest>

#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr ScheduleKind kSplit[] = { ScheduleKind::ZbH1, ScheduleKind::ZbH2, ScheduleKind::ZbAuto, ScheduleKind::ZbV,
    ScheduleKind::VHalf, ScheduleKind::VMin };

EvaluationPtr with(Plan plan, ScheduleKind schedule)
{
    plan.schedule = schedule;
    return evaluated(std::move(plan));
}

double seconds(const Plan &plan, ScheduleKind schedule)
{
    return *with(plan, schedule)->metrics.iterationTime;
}

} // namespace

class TestSplitSchedules : public QObject {
    Q_OBJECT

private slots:
    void splittingTheBackwardShrinksTheBubble();
    void memoryFollowsTheMicroBatchesInFlight();
    void automaticTakesTheMemoryThatThereIs();
    void measuredTimesGiveTheClosedForms();
    void everyShapeIsEvaluated_data();
    void everyShapeIsEvaluated();
    void chunksThatTurnBackEndOnTheFirstStage();
    void aWrongNumberOfChunksIsSaid();
};

void TestSplitSchedules::splittingTheBackwardShrinksTheBubble()
{
    const Plan plan = oneSite(8, 8);
    const double oneFOneB = seconds(plan, ScheduleKind::OneFOneB);
    QVERIFY(seconds(plan, ScheduleKind::ZbH1) < oneFOneB);
    QVERIFY(seconds(plan, ScheduleKind::ZbAuto) <= seconds(plan, ScheduleKind::ZbH1));
    QVERIFY(seconds(plan, ScheduleKind::ZbH2) < oneFOneB);
    QVERIFY(
        seconds(plan, ScheduleKind::ZbV) < oneFOneB); // its first stage has embedding and head, so ZB-H1 may be shorter
    QVERIFY(seconds(plan, ScheduleKind::VHalf) < oneFOneB);
}

void TestSplitSchedules::memoryFollowsTheMicroBatchesInFlight()
{
    // Of a stage without embedding and head, which a pipeline that turns back has both on its first stage.
    const auto activations = [plan = oneSite(8, 8)](ScheduleKind kind, std::size_t stage) {
        return with(plan, kind)->metrics.memory->perStage[stage].activations;
    };
    QVERIFY(activations(ScheduleKind::ZbH2, 1) > activations(ScheduleKind::ZbH1, 1));
    QVERIFY(activations(ScheduleKind::VHalf, 1) < activations(ScheduleKind::OneFOneB, 1));
    QVERIFY(activations(ScheduleKind::VMin, 1) < activations(ScheduleKind::VHalf, 1));
    // 1F1B's later stages hold fewer micro-batches; under ZB-H1 they hold what is kept for weight gradients.
    QVERIFY(activations(ScheduleKind::ZbH1, 5) > activations(ScheduleKind::OneFOneB, 5));
}

void TestSplitSchedules::automaticTakesTheMemoryThatThereIs()
{
    Plan plan = oneSite(8, 8);
    QVERIFY(with(plan, ScheduleKind::ZbH2)->metrics.memory->fits);
    QVERIFY(seconds(plan, ScheduleKind::ZbAuto) <= seconds(plan, ScheduleKind::ZbH2));
    // Where there is less room it takes less: it fits wherever ZB-H1 does, and is never slower.
    int tight = 0;
    for (const int microBatch : { 2, 4, 6, 8, 10, 12, 14, 16 }) {
        plan.workload.microBatch = microBatch;
        plan.workload.globalBatch = 24 * microBatch;
        if (!with(plan, ScheduleKind::ZbH1)->metrics.memory->fits)
            break;
        tight += !with(plan, ScheduleKind::ZbH2)->metrics.memory->fits;
        QVERIFY(with(plan, ScheduleKind::ZbAuto)->metrics.memory->fits);
        QVERIFY(seconds(plan, ScheduleKind::ZbAuto) <= seconds(plan, ScheduleKind::ZbH1));
    }
    QVERIFY(tight > 0);
}

void TestSplitSchedules::measuredTimesGiveTheClosedForms()
{
    // m(t_f + t_B) + (p - 1)(t_f + t_b - t_w), t_b = t_B - t_w; without weight_grad_ms half of the backward is t_w.
    Plan plan = atlasRow(4, 8, 1, 1, ScheduleKind::ZbH1);
    plan.memory.recompute = Recompute::None;
    plan.profile->activationMb = 0;
    plan.profile->forwardMs = { 1000 };
    plan.profile->backwardMs = { 2000 };
    QVERIFY(std::abs(seconds(plan, ScheduleKind::ZbH1) - (8 * 3 + 3 * 1.0)) < 1e-6);
    plan.profile->weightGradMs = { 800 };
    QVERIFY(std::abs(seconds(plan, ScheduleKind::ZbH1) - (8 * 3 + 3 * 1.4)) < 1e-6);
    QVERIFY(std::abs(seconds(plan, ScheduleKind::OneFOneB) - (8 * 3 + 3 * 3.0)) < 1e-6);
    plan.profile->inFlight = { 4 };
    QVERIFY(seconds(plan, ScheduleKind::ZbAuto) <= 8 * 3 + 3 * 1.4 + 1e-6);
}

void TestSplitSchedules::everyShapeIsEvaluated_data()
{
    QTest::addColumn<int>("stages");
    QTest::addColumn<int>("batch");
    QTest::addColumn<Recompute>("recompute");
    QTest::newRow("even") << 4 << 64 << Recompute::None;
    QTest::newRow("32 layers on 7 stages") << 7 << 30 << Recompute::None;
    QTest::newRow("fewer micro-batches than stages") << 8 << 3 << Recompute::None;
    QTest::newRow("one stage") << 1 << 64 << Recompute::None;
    QTest::newRow("full recomputation") << 8 << 32 << Recompute::Full;
}

void TestSplitSchedules::everyShapeIsEvaluated()
{
    QFETCH(int, stages);
    QFETCH(int, batch);
    QFETCH(Recompute, recompute);
    Plan plan = oneSite(8, stages);
    plan.workload.globalBatch = batch;
    plan.memory.recompute = recompute;
    const auto computed = [](const EvaluationPtr &e) { // the same work in any order
        const Breakdown &b = *e->metrics.breakdown;
        return b.compute + b.tensorParallel;
    };
    const EvaluationPtr plain = with(plan, ScheduleKind::OneFOneB);
    for (const ScheduleKind kind : kSplit) {
        const EvaluationPtr split = with(plan, kind);
        QVERIFY(split->metrics.iterationTime);
        QVERIFY(std::abs(split->metrics.breakdown->total() - *split->metrics.iterationTime)
            < 1e-3 * *split->metrics.iterationTime);
        // The last stage may be spared recomputations in one order and not in another.
        QVERIFY(std::abs(computed(split) - computed(plain))
            < (recompute == Recompute::Full ? 0.1 : 1e-3) * computed(plain));
    }
}

void TestSplitSchedules::chunksThatTurnBackEndOnTheFirstStage()
{
    const EvaluationPtr evaluation = with(oneSite(8, 4), ScheduleKind::ZbV);
    const auto &stages = evaluation->layout.chunks;
    QCOMPARE(stages.size(), std::size_t(4));
    QVERIFY(stages[0][0].hasEmbedding && stages[0][1].hasHead);
    QCOMPARE(stages[3][0].firstLayer + stages[3][0].layers, stages[3][1].firstLayer);
}

void TestSplitSchedules::aWrongNumberOfChunksIsSaid()
{
    Plan plan = oneSite(8, 4);
    plan.parallelism.virtualPipeline = 3;
    for (const ScheduleKind kind : { ScheduleKind::ZbV, ScheduleKind::ZbH1 }) {
        const auto evaluation = with(plan, kind);
        QVERIFY(!evaluation->metrics.iterationTime);
        QCOMPARE(evaluation->problems.front().severity, Severity::Blocking);
        QVERIFY(evaluation->problems.front().text.contains("virtual_pipeline is 3"));
    }
}

TRAINYARD_APPLESS_TEST(TestSplitSchedules)
#include "tst_split_schedules.moc"
