// SPDX-License-Identifier: GPL-3.0-or-later
// The formulas of an iteration against the simulator, against rows of other simulators, and against measured
// collectives.
#include "core/engine/schedule/closed_forms.h"
#include "tests/support/test_program.h"

#include "core/facts/workload/model_math.h"

#include <QtTest>

#include "tests/support/gpt_forms.h"
#include "tests/support/plans.h"

#include <cmath>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr double kForward = 1, kBackward = 2.0371, kRecompute = 1.0193, kLatency = 0.20346;

/// The family of atlasRow() as the forms see it.
FormPipeline row(int stages, int microBatches, int c, int datacenters, double recompute)
{
    FormPipeline p;
    p.stages.assign(std::size_t(stages), { kForward, kBackward, recompute });
    p.boundaries.resize(std::size_t(stages - 1));
    for (int d = 1; d < datacenters; ++d)
        p.boundaries[std::size_t(stages * d / datacenters - 1)] = { 1.0117 * c, kLatency, 0, true };
    p.microBatches = microBatches;
    return p;
}

struct Row {
    int stages, microBatches, c, datacenters;
    double gpipe, atlas;
};
// Iterations of two independent event simulators, seconds: GPipe with spatial, Atlas with temporal sharing.
constexpr Row kRows[] = { { 6, 4, 2, 3, 47.47, 37.30 }, { 6, 4, 4, 3, 64.60, 43.36 }, { 6, 16, 2, 3, 108.42, 86.09 },
    { 6, 16, 4, 3, 161.72, 100.60 }, { 12, 60, 2, 3, 356.27, 283.20 }, { 12, 60, 4, 3, 542.18, 317.30 },
    { 4, 4, 4, 2, 47.99, 34.86 } };

double simulated(Plan plan)
{
    return *evaluated(std::move(plan))->metrics.iterationTime;
}

} // namespace

class TestClosedForms : public QObject {
    Q_OBJECT

private slots:
    void gpipeIsExactOnRowsOfOtherSimulators();
    void gpipeIsExactAgainstTheSimulatorForAnyTimes();
    void withoutWanAndRecomputeTheBubbleIsStagesLessOneOverAll();
    void oneForwardOneBackwardIsExactWithoutWan();
    void aLongWayBackNeedsMoreMicroBatchesInFlightThanStages();
    void cellsOfTwoAreWithinThreePercentAndOfFourOptimistic();
    void turnsShortenTheWayAndLeaveTheLinkAsBusy();
    void theBindingTermIsNamed();
    void aGptStageHasTheFlopsOfItsMatrixProducts();
    void theRatioOfWanToForwardFollowsFromBoth();
    void ringsAreAsMeasuredOverADelayedNetwork();
    void wanBytesCountBothDirections();
};

void TestClosedForms::gpipeIsExactOnRowsOfOtherSimulators()
{
    // P tf + Σ(s+λ) + (M−1) max(tf,s) + P(tr+tb) + Σ(s+λ) + (M−1) max(tr+tb,s) − tr
    for (const Row &r : kRows) {
        const double t = gpipeTime(row(r.stages, r.microBatches, r.c, r.datacenters, kRecompute)).seconds;
        QVERIFY2(std::abs(t - r.gpipe) < 0.006, qPrintable(QString::number(t, 'f', 4)));
    }
}

void TestClosedForms::gpipeIsExactAgainstTheSimulatorForAnyTimes()
{
    std::mt19937 random(7);
    std::uniform_real_distribution<double> any(0.2, 3);
    for (int trial = 0; trial < 40; ++trial) {
        const int datacenters = 1 + trial % 3, stages = 6, microBatches = 1 + trial;
        const bool recomputes = trial % 2 == 1;
        Plan plan = atlasRow(stages, microBatches, 1, datacenters, ScheduleKind::GPipe);
        FormPipeline p = row(stages, microBatches, 1, datacenters, 0);
        const double f = any(random), b = any(random), r = any(random), s = any(random);
        plan.profile->forwardMs = { 1e3 * f };
        plan.profile->backwardMs = { 1e3 * b };
        plan.profile->recomputeMs = { 1e3 * r };
        plan.profile->activationMb = s * 5e9 / 8 / 1e6;
        plan.memory.recompute = recomputes ? Recompute::Full : Recompute::None;
        for (FormStage &stage : p.stages)
            stage = { f, b, recomputes ? r : 0 };
        for (FormBoundary &boundary : p.boundaries)
            boundary.serialization = boundary.isWan ? s : 0;
        const double exact = simulated(plan);
        QVERIFY2(std::abs(gpipeTime(p).seconds / exact - 1) < 1e-6,
            qPrintable(QStringLiteral("%1: %2 against %3").arg(trial).arg(gpipeTime(p).seconds).arg(exact)));
    }
}

void TestClosedForms::withoutWanAndRecomputeTheBubbleIsStagesLessOneOverAll()
{
    // bubble = (P − 1)/(M + P − 1)
    for (const int microBatches : { 1, 8, 32 }) {
        const double t = gpipeTime(row(4, microBatches, 1, 1, 0)).seconds;
        QVERIFY(std::abs(1 - microBatches * (kForward + kBackward) / t - 3.0 / (microBatches + 3)) < 1e-12);
    }
}

void TestClosedForms::oneForwardOneBackwardIsExactWithoutWan()
{
    // K_i = P − i: (M + P − 1)(tf + tb), M ≥ P
    for (const int microBatches : { 4, 9, 32 }) {
        FormPipeline p = row(4, microBatches, 1, 1, 0);
        p.inFlight = { 4, 3, 2, 1 };
        QVERIFY(std::abs(inFlightLimitedTime(p).seconds - (microBatches + 3) * (kForward + kBackward)) < 1e-9);
        Plan plan = atlasRow(4, microBatches, 1, 1, ScheduleKind::OneFOneB);
        plan.memory.recompute = Recompute::None;
        QVERIFY(std::abs(inFlightLimitedTime(p).seconds / simulated(plan) - 1) < 1e-9);
    }
}

void TestClosedForms::aLongWayBackNeedsMoreMicroBatchesInFlightThanStages()
{
    // Loop_0/(tf + tb) micro-batches keep stage 0 at work, and K_0 = P are fewer across a WAN
    FormPipeline p = row(4, 64, 1, 2, 0);
    p.inFlight = { 4, 3, 2, 1 };
    const double loop = 4 * (kForward + kBackward) + 2 * (1.0117 + kLatency);
    QVERIFY(std::abs(loopTimes(p).front() - loop) < 1e-12);
    QCOMPARE(inFlightLimitedTime(p).bound, Bound::InFlight);
    for (double &k : p.inFlight)
        k += 2;
    QCOMPARE(inFlightLimitedTime(p).bound, Bound::Compute);
    QVERIFY(std::abs(inFlightLimitedTime(p).seconds - (loop + 63 * (kForward + kBackward))) < 1e-9);
}

void TestClosedForms::cellsOfTwoAreWithinThreePercentAndOfFourOptimistic()
{
    for (const Row &r : kRows) {
        FormPipeline p = row(r.stages, r.microBatches, r.c, r.datacenters, kRecompute);
        p.cell = r.c;
        const double error = cellTime(p).seconds / r.atlas - 1;
        const auto text = QStringLiteral("(%1, %2, %3): %4").arg(r.stages).arg(r.microBatches).arg(r.c).arg(error);
        QVERIFY2(r.c == 2 ? error > -0.03 && error < 0.01 : error > -0.16 && error < -0.04, qPrintable(text));
    }
}

void TestClosedForms::turnsShortenTheWayAndLeaveTheLinkAsBusy()
{
    // A hop of s/Dc instead of s; the pace of a full link, s, stays
    FormPipeline p = row(6, 16, 4, 3, 0);
    for (FormBoundary &boundary : p.boundaries)
        boundary.serialization *= 2;
    FormPipeline inTurns = p;
    inTurns.cell = 4;
    const double s = 1.0117 * 8;
    QCOMPARE(cellTime(inTurns).bound, Bound::Link);
    QVERIFY(std::abs(cellTime(p).seconds - cellTime(inTurns).seconds - (4 * s * 0.75 - 0.75 * s)) < 1e-9);
    for (FormBoundary &boundary : inTurns.boundaries)
        boundary.scatter = boundary.isWan ? 0.01 : 0; // dealing out and gathering, on each of two cuts there and back
    FormPipeline costly = inTurns;
    for (FormBoundary &boundary : costly.boundaries)
        boundary.scatter *= 2;
    QVERIFY(std::abs(cellTime(costly).seconds - cellTime(inTurns).seconds - 0.04) < 1e-9);
}

void TestClosedForms::theBindingTermIsNamed()
{
    FormPipeline p = row(6, 16, 1, 3, kRecompute);
    QCOMPARE(toString(cellTime(p).bound), "compute");
    p.inFlight = { 2, 2, 2, 2, 2, 2 };
    QCOMPARE(toString(cellTime(p).bound), "pipeline depth");
    p = row(6, 16, 8, 3, kRecompute);
    QCOMPARE(toString(cellTime(p).bound), "link");
    QCOMPARE(toString(gpipeTime(p).bound), "link");
}

void TestClosedForms::aGptStageHasTheFlopsOfItsMatrixProducts()
{
    // 24 b L H² + 4 b L² H a layer: the counting of model_math.h, the head apart
    const ModelSpec &gpt = *builtinCatalogue().model("gpt-3-6.7b");
    const double flops = 1e14;
    const GptStage stage { double(gpt.layers), 2, 2048, double(gpt.hidden), 4, flops };
    const double counted = gpt.layers * layerForwardFlops(gpt, false, 2048) * 2 / (4 * flops);
    QVERIFY2(std::abs(gptStageTimes(stage, true).forward / counted - 1) < 0.005,
        qPrintable(QString::number(gptStageTimes(stage, true).forward / counted)));
    QCOMPARE(gptStageTimes(stage, true).backward, 2 * gptStageTimes(stage, true).forward);
    QCOMPARE(gptStageTimes(stage, true).recompute, gptStageTimes(stage, false).forward);
    QCOMPARE(gptStageTimes(stage, false).recompute, 0.0);
}

void TestClosedForms::theRatioOfWanToForwardFollowsFromBoth()
{
    // C = s/tf, s = 8A/BW; H = L = 4096, one layer, 140 TFLOP/s, 5 Gbit/s: 3.9, with two layers 1.95
    GptStage stage { 1, 1, 4096, 4096, 1, 140e12 };
    const double s = 8 * gptBoundaryBytes(stage) / 5e9;
    QVERIFY(std::abs(gptWanToForwardRatio(stage, 5e9) - s / gptStageTimes(stage, false).forward) < 1e-9);
    QVERIFY(std::abs(gptWanToForwardRatio(stage, 5e9) - 3.9) < 0.05);
    stage.layers = 2;
    QVERIFY(std::abs(gptWanToForwardRatio(stage, 5e9) - 1.95) < 0.025);
}

void TestClosedForms::ringsAreAsMeasuredOverADelayedNetwork()
{
    // 128 MiB over 2 Gbit/s and 5 ms a step (NCCL): exact for four ranks; latency is partly hidden for more
    const struct {
        int ranks;
        double measured;
    } rows[] = { { 4, 0.835 }, { 8, 0.970 }, { 16, 1.038 } };
    for (const auto &r : rows) {
        const double t = ringAllReduceSeconds(r.ranks, 128 * 1024.0 * 1024, 2e9 / 8, 5e-3);
        QVERIFY2(t >= r.measured * 0.999 && t < r.measured * 1.12, qPrintable(QString::number(t)));
    }
    QVERIFY(std::abs(ringAllReduceSeconds(4, 128 * 1024.0 * 1024, 2e9 / 8, 5e-3) - 0.835) < 0.001);
    QCOMPARE(ringAllReduceSeconds(1, 1e9, 1e9, 1), 0.0);
}

void TestClosedForms::wanBytesCountBothDirections()
{
    // 2·M·A·|X|·D
    const EvaluationPtr evaluation = evaluated(atlasRow(6, 4, 2, 3, ScheduleKind::GPipe));
    const double boundary = evaluation->plan->profile->activationMb * 1e6;
    QVERIFY(std::abs(wanBytesPerIteration(4, boundary, 2, 2) / evaluation->metrics.wanBytesPerIteration - 1) < 1e-9);
}

TRAINYARD_APPLESS_TEST(TestClosedForms)
#include "tst_closed_forms.moc"
