// SPDX-License-Identifier: GPL-3.0-or-later
// Times and sizes that no timeline holds: refused by the key that makes them so, never wrapped round into an answer.
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include "tests/support/plans.h"

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

ExpectedAll<EvaluationPtr> answerTo(Plan plan)
{
    EvaluationWorkspace workspace;
    return evaluate(std::make_shared<const Plan>(std::move(plan)), builtinCatalogue(), workspace);
}

/// The one key that the refusal names; empty where the plan was not refused.
std::string refusedKey(const Plan &plan)
{
    const auto answer = answerTo(plan);
    return answer || answer.error().front().code != ErrorCode::OutOfRange ? std::string()
                                                                          : answer.error().front().where;
}

} // namespace

class TestLongIterations : public QObject {
    Q_OBJECT

private slots:
    void measuredTimesBeyondATimelineAreRefusedByName_data();
    void measuredTimesBeyondATimelineAreRefusedByName();
    void anIterationOfYearsIsRight();
    void linksThatTakeLongerThanATimelineAreRefusedByName();
    void aBoundaryMillionsOfTimesLongerThanTheWorkIsScheduled();
    void theOtherPlacementIsTakenWhereOneTakesTooLong();
    void moreMemoryThanThereIsInTheWorldDoesNotFit();
    void roomForAThousandMillionMicroBatchesIsRoomForAll();
    void timesStopAtTheEndOfTheTicks();
};

void TestLongIterations::measuredTimesBeyondATimelineAreRefusedByName_data()
{
    QTest::addColumn<int>("schedule");
    for (int kind = 0; kind <= int(ScheduleKind::Atlas); ++kind)
        QTest::newRow(toString(static_cast<ScheduleKind>(kind))) << kind;
}

void TestLongIterations::measuredTimesBeyondATimelineAreRefusedByName()
{
    QFETCH(int, schedule);
    Plan plan = samplePlan("atlas-headline");
    plan.schedule = static_cast<ScheduleKind>(schedule);
    plan.parallelism.virtualPipeline = plan.schedule == ScheduleKind::Interleaved ? 2 : 1;
    plan.profile->weightGradMs = { 50 };
    const std::pair<const char *, PerStage MeasuredStageTimes::*> times[] = { { "profile.forward_ms",
                                                                                  &MeasuredStageTimes::forwardMs },
        { "profile.backward_ms", &MeasuredStageTimes::backwardMs },
        { "profile.recompute_ms", &MeasuredStageTimes::recomputeMs },
        { "profile.weight_grad_ms", &MeasuredStageTimes::weightGradMs } };
    for (const auto &[key, member] : times) {
        for (const double ms : { 1e12, 1e13, 9.3e14, 1e18, 1e30, 1e300, 1.7e308 }) {
            Plan longer = plan;
            (*longer.profile).*member = { ms };
            if (member == &MeasuredStageTimes::weightGradMs) // it is a part of the backward
                longer.profile->backwardMs = { ms };
            const std::string named = refusedKey(longer);
            QVERIFY2(named == key || (member == &MeasuredStageTimes::weightGradMs && named == "profile.backward_ms"),
                (std::string(key) + " of " + std::to_string(ms) + " ms names \"" + named + "\"").c_str());
        }
    }
}

void TestLongIterations::anIterationOfYearsIsRight()
{
    // One stage on one GPU: iteration = M (F + B).
    Plan plan = samplePlan("atlas-headline");
    plan.parallelism.pipeline = 1;
    plan.parallelism.data = 1;
    plan.placement = {};
    plan.workload.globalBatch = 4;
    plan.bubbleFill.requestsPerSecond = 1e-4;
    plan.schedule = ScheduleKind::OneFOneB;
    plan.memory.recompute = Recompute::None;
    plan.profile->forwardMs = { 2e10 };
    plan.profile->backwardMs = { 4e10 };
    const auto evaluation = evaluated(plan);
    QVERIFY(std::abs(*evaluation->metrics.iterationTime - 4 * 6e7) < 1);
    QVERIFY(std::abs(evaluation->metrics.breakdown->total() - 4 * 6e7) < 1);
    // Behind a pipeline, with prefill in bubbles of years, nothing turns negative either.
    Plan across = samplePlan("atlas-headline");
    across.profile->backwardMs = { 1e10 };
    across.bubbleFill.requestsPerSecond = 1e-4; // some thousands
    const auto filled = evaluated(across);
    for (double Breakdown::*part : kBreakdownParts)
        QVERIFY(filled->metrics.breakdown.value().*part >= 0);
    QVERIFY(*filled->metrics.iterationTime >= 4 * 1e7);
}

void TestLongIterations::linksThatTakeLongerThanATimelineAreRefusedByName()
{
    for (const double gbps : { 1e-8, 1e-30, 1e-300 }) {
        Plan plan = samplePlan("atlas-headline");
        plan.cluster.wanLinks[0].capacityGbps = gbps;
        QCOMPARE(refusedKey(plan), std::string("cluster.wan_links[0].capacity_gbps"));
        plan = samplePlan("atlas-headline");
        plan.cluster.wanLinks[0].nodePairGbps = gbps;
        QCOMPARE(refusedKey(plan), std::string("cluster.wan_links[0].node_pair_gbps"));
        plan = samplePlan("atlas-headline");
        plan.cluster.wanLinks[0].tcpWindowMb = gbps;
        plan.wan.tcpConnections = 1;
        QCOMPARE(refusedKey(plan), std::string("cluster.wan_links[0].tcp_window_mb"));
    }
    for (const double mb : { 1e17, 1e100, 1.7e308 }) {
        Plan plan = samplePlan("atlas-headline");
        plan.profile->activationMb = mb;
        QCOMPARE(refusedKey(plan), std::string("profile.activation_mb"));
        plan = samplePlan("atlas-headline");
        plan.profile->gradientMb = mb;
        QCOMPARE(refusedKey(plan), std::string("profile.gradient_mb"));
        plan = samplePlan("atlas-headline");
        plan.profile->parametersMb = mb;
        QCOMPARE(refusedKey(plan), std::string("profile.parameters_mb"));
    }
    // Slow, but within a timeline: as long as what crosses at the capacity, and not shorter.
    Plan plan = samplePlan("atlas-headline");
    plan.cluster.wanLinks[0].capacityGbps = 1e-5;
    plan.bubbleFill.enabled = false;
    const auto evaluation = evaluated(plan);
    const double bytes = 268.75e6 * plan.workload.globalBatch; // each way
    QVERIFY(*evaluation->metrics.iterationTime >= bytes / (1e-5 * 1e9 / 8));
}

void TestLongIterations::aBoundaryMillionsOfTimesLongerThanTheWorkIsScheduled()
{
    for (const ScheduleKind kind :
        { ScheduleKind::ZbV, ScheduleKind::ZbAuto, ScheduleKind::VHalf, ScheduleKind::VMin, ScheduleKind::Chimera }) {
        Plan plan = samplePlan("atlas-headline");
        plan.schedule = kind;
        plan.bubbleFill.enabled = false;
        plan.profile->forwardMs = plan.profile->backwardMs = plan.profile->weightGradMs = { 1e-6 };
        plan.profile->recomputeMs.clear();
        plan.profile->activationMb = 1e9; // some 500 hours on a node pair: 10^18 operations' time
        const auto answer = answerTo(plan);
        QVERIFY2(answer, toString(kind));
        if ((*answer)->metrics.iterationTime)
            QVERIFY(*(*answer)->metrics.iterationTime > 1e6);
    }
}

void TestLongIterations::theOtherPlacementIsTakenWhereOneTakesTooLong()
{
    // A pipeline over a link of 10 bit/s would take centuries; one in each datacenter exchanges nothing under this
    // profile.
    Plan plan = samplePlan("atlas-headline");
    plan.placement = {};
    plan.cluster.wanLinks[0].capacityGbps = 1e-9;
    plan.parallelism.pipeline = 4;
    plan.parallelism.data = 32;
    const auto answer = answerTo(plan);
    QVERIFY(answer);
    QVERIFY((*answer)->layout.mode == PlacementMode::DataAcross);
}

void TestLongIterations::moreMemoryThanThereIsInTheWorldDoesNotFit()
{
    Plan plan = oneSite(4, 4);
    plan.workload.sequenceLength = 100'000'000;
    plan.workload.microBatch = 1'000'000;
    plan.workload.globalBatch = 1'000'000;
    plan.parallelism.data = 1;
    plan.workload.precision = Precision::Fp32;
    const auto answer = answerTo(plan);
    if (answer) {
        QVERIFY(!(*answer)->feasible());
        for (const StageMemory &stage :
            (*answer)->metrics.memory ? (*answer)->metrics.memory->perStage : std::vector<StageMemory> {})
            QVERIFY(stage.peak > stage.capacity && stage.activations >= 0);
    }
}

void TestLongIterations::roomForAThousandMillionMicroBatchesIsRoomForAll()
{
    for (int kind = 0; kind <= int(ScheduleKind::Atlas); ++kind) {
        Plan plan = samplePlan("atlas-headline");
        plan.schedule = static_cast<ScheduleKind>(kind);
        plan.bubbleFill.enabled = false;
        plan.profile->inFlight = { 4096 }; // far more than the four micro-batches
        const auto some = answerTo(plan);
        for (const int limit : { 3'000'000, 1'000'000'000 }) { // in thousandths both are beyond 2^31
            plan.profile->inFlight = { limit };
            const auto all = answerTo(plan);
            QVERIFY2(some && all, toString(plan.schedule));
            QVERIFY2((*some)->metrics.iterationTime == (*all)->metrics.iterationTime, toString(plan.schedule));
        }
    }
}

void TestLongIterations::timesStopAtTheEndOfTheTicks()
{
    QCOMPARE(toNanoseconds(Seconds { 1e300 }), kLongestTime);
    QCOMPARE(toNanoseconds(Seconds { -1e300 }), -kLongestTime);
    QCOMPARE(toNanoseconds(Seconds { std::nan("") }), kLongestTime);
    QCOMPARE(toNanoseconds(Seconds { 1.5e-9 }), Nanoseconds(2));
    QVERIFY(kLongestTime < std::numeric_limits<Nanoseconds>::max() / 9);
    QCOMPARE(wholeBytes(1e300), std::int64_t(1e17));
    QCOMPARE(wholeBytes(2.4), std::int64_t(2));
}

TRAINYARD_APPLESS_TEST(TestLongIterations)
#include "tst_long_iterations.moc"
