// SPDX-License-Identifier: GPL-3.0-or-later
// The zero-bubble family against the equations of its papers. A program is made by rounded times and judged by
// the engine with the times themselves.
#include "tests/core/engine/schedule/split_backward.h"
#include "tests/support/test_program.h"

#include <cmath>
#include <map>

using namespace split_backward;

namespace {

ScheduleTimes randomTimes(std::mt19937 &random, int virtualStages)
{
    const auto pick = [&](int from, int to) {
        return from + static_cast<std::int64_t>(random() % static_cast<unsigned>(to - from));
    };
    ScheduleTimes times;
    for (int q = 0; q < virtualStages; ++q)
        times.stages.push_back(
            { pick(100'000, 900'000), pick(100'000, 900'000), pick(random() % 4 == 0 ? 0 : 100'000, 900'000), 0 });
    if (random() % 3 == 0)
        for (ScheduleTimes::Stage &stage : times.stages)
            stage.recompute = pick(1, 99'000);
    for (int q = 0; q + 1 < virtualStages; ++q)
        times.boundaries.push_back(random() % 2 == 0 ? 0 : pick(0, 2'000'000));
    times.keptForWeightGrad = static_cast<double>(pick(0, 1001)) / 1000;
    times.endsTogether = random() % 2 == 0;
    return times;
}

bool isV(ScheduleKind kind)
{
    return traitsOf(kind).placement == ChunkPlacement::V;
}

} // namespace

class ZeroBubble : public QObject {
    Q_OBJECT
private slots:
    void theBubbleFollowsItsClosedForm_data();
    void theBubbleFollowsItsClosedForm();
    void fewMicroBatchesSpareTheLastWeightGradient();
    void memoryFollowsItsFormula();
    void zbVHasNoBubbleWhereTimesAreEqual();
    void vHalfAndVMinKeepWhatTheyPromise();
    void automaticIsNeverWorseThanByHand();
    void everyOperationRunsOnceWithinTheLimit_data();
    void everyOperationRunsOnceWithinTheLimit();
    void tooLittleRoomIsSaid();
    void aSmallChangeOfTimesKeepsTheOrder();
    void aCommonEndCountsTheMakespan();
    void recomputationBelongsToTheInputGradient();
    void twoChunksComeByThemselves();
};

void ZeroBubble::theBubbleFollowsItsClosedForm_data()
{
    QTest::addColumn<int>("p");
    QTest::addColumn<int>("m");
    for (const int p : { 2, 4, 8, 13 })
        for (const int m : { 2 * p - 1, 2 * p, 5 * p })
            QTest::addRow("p=%d m=%d", p, m) << p << m;
}

void ZeroBubble::theBubbleFollowsItsClosedForm()
{
    QFETCH(int, p);
    QFETCH(int, m);
    for (const Split t : { Split { 1, 1, 1 }, Split { 1, 1.2, 0.7 }, Split { 1, 1.1, 0.9 } }) {
        const auto bubble = [&](ScheduleKind kind) {
            const ScheduleTimes times = timesOf(p, t);
            return static_cast<double>(outcome(make(kind, { p, m, 1, {} }), times).longestSpan) / kUnit
                - m * (t.forward + t.inputGrad + t.weightGrad);
        };
        // ZB-H1: (p-1)(t_f + t_b - t_w);  ZB-H2: (p-1)(t_f + t_b - 2 t_w), from 2p - 1 micro-batches on.
        const double h1 = (p - 1) * (t.forward + t.inputGrad - t.weightGrad);
        const double h2 = (p - 1) * (t.forward + t.inputGrad - 2 * t.weightGrad);
        QVERIFY2(
            std::abs(bubble(ScheduleKind::ZbH1) - h1) < 1e-6, qPrintable(QString::number(bubble(ScheduleKind::ZbH1))));
        QVERIFY2(
            std::abs(bubble(ScheduleKind::ZbH2) - h2) < 1e-6, qPrintable(QString::number(bubble(ScheduleKind::ZbH2))));
    }
}

void ZeroBubble::fewMicroBatchesSpareTheLastWeightGradient()
{
    // m <= p: (m+p-1)(t_f+t_b) + t_w where 1F1B takes (m+p-1)(t_f+t_b+t_w), as long as t_w is the shortest.
    const Split t { 1, 1.2, 0.7 };
    for (const int p : { 2, 4, 8 })
        for (const int m : { 1, 2, p / 2 + 1 }) {
            const auto made = make(ScheduleKind::ZbH1, { p, m, 1, {} });
            const Outcome result = outcome(made, timesOf(p, t));
            QVERIFY(result.makespan >= ticks((m + p - 1) * (t.forward + t.inputGrad) + t.weightGrad));
            QVERIFY(result.makespan <= ticks((m + p - 1) * (t.forward + t.inputGrad + t.weightGrad)));
            if (m == 1)
                QCOMPARE(result.makespan, ticks(p * (t.forward + t.inputGrad) + t.weightGrad));
        }
}

void ZeroBubble::memoryFollowsItsFormula()
{
    // ZB-H1: (p-i) M_B + i M_W;  ZB-H2: (2(p-i)-1) M_B + 2i M_W, stages from 0.
    constexpr double kept = 32.0 / 34;
    for (const int p : { 1, 4, 8 }) {
        const auto h1 = peakInFlight(make(ScheduleKind::ZbH1, { p, 4 * p, 1, {} }), kept);
        const auto h2 = peakInFlight(make(ScheduleKind::ZbH2, { p, 4 * p, 1, {} }), kept);
        for (int i = 0; i < p; ++i) {
            QCOMPARE(h1[static_cast<std::size_t>(i)], p - i + i * kept);
            QCOMPARE(h2[static_cast<std::size_t>(i)], 2 * (p - i) - 1 + 2 * i * kept);
        }
    }
}

void ZeroBubble::zbVHasNoBubbleWhereTimesAreEqual()
{
    for (const int p : { 2, 4, 8, 16 })
        for (const int m : { 2 * p, 3 * p }) {
            const ScheduleTimes times = timesOf(2 * p, {});
            for (const Program &program :
                { make(ScheduleKind::ZbV, { p, m, 2, {} }), make(ScheduleKind::ZbV, { p, m, 2, {} }, times) }) {
                const Outcome result = outcome(program, times);
                QCOMPARE(result.longestSpan, 6 * m * kUnit); // three operations of two chunks, nothing between them
                QCOMPARE(result.peak, p);
            }
        }
}

void ZeroBubble::vHalfAndVMinKeepWhatTheyPromise()
{
    for (const int p : { 1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 24 }) {
        const int m = 3 * p + 1;
        const ScheduleTimes times = timesOf(2 * p, {});
        const Outcome half = outcome(make(ScheduleKind::VHalf, { p, m, 2, {} }, times), times);
        const Outcome min = outcome(make(ScheduleKind::VMin, { p, m, 2, {} }, times), times);
        QCOMPARE(half.peak, (p + 2) / 2); // floor((p+2)/2) and floor((p+4)/3) micro-batches
        QCOMPARE(min.peak, (p + 4) / 3);
        // Half and two thirds of 1F1B's bubble (p-1)(t_f+t_B) of a device's two chunks, or less, at equal times.
        const auto oneFOneB = static_cast<double>(6 * (p - 1) * kUnit);
        QVERIFY(static_cast<double>(half.makespan - 6 * m * kUnit) <= 0.5 * oneFOneB);
        QVERIFY(static_cast<double>(min.makespan - 6 * m * kUnit) <= 2.0 / 3 * oneFOneB);
    }
    // Where t_w + 2t_b >= 2t_f and t_w + 2t_f >= 2t_b, V-Half's steady state has no bubble: more micro-batches add
    // none.
    for (const Split t : { Split { 1, 1.1, 0.8 }, Split { 1, 0.9, 0.9 } }) {
        const ScheduleTimes times = timesOf(16, t);
        const auto bubble = [&](int m) {
            return static_cast<double>(outcome(make(ScheduleKind::VHalf, { 8, m, 2, {} }, times), times).makespan)
                / kUnit
                - 2 * m * (t.forward + t.inputGrad + t.weightGrad);
        };
        QVERIFY2(
            std::abs(bubble(96) - bubble(48)) < 1e-6, qPrintable(QString("%1 %2").arg(bubble(48)).arg(bubble(96))));
    }
}

void ZeroBubble::automaticIsNeverWorseThanByHand()
{
    std::mt19937 random(20241121);
    for (int n = 0; n < 60; ++n) {
        const int p = 2 + static_cast<int>(random() % 8), m = 1 + static_cast<int>(random() % 40);
        ScheduleTimes times = randomTimes(random, p);
        const auto counts = [&](const Program &program) {
            const Outcome result = outcome(program, times);
            return times.endsTogether ? result.makespan : result.longestSpan;
        };
        QVERIFY(counts(make(ScheduleKind::ZbAuto, { p, m, 1, { p } }, times))
            <= counts(make(ScheduleKind::ZbH1, { p, m, 1, {} })));
        QVERIFY(counts(make(ScheduleKind::ZbAuto, { p, m, 1, { 2 * p } }, times))
            <= counts(make(ScheduleKind::ZbH2, { p, m, 1, {} })));
    }
}

void ZeroBubble::everyOperationRunsOnceWithinTheLimit_data()
{
    QTest::addColumn<ScheduleKind>("kind");
    for (const ScheduleKind kind : { ScheduleKind::ZbH1, ScheduleKind::ZbH2, ScheduleKind::ZbAuto, ScheduleKind::ZbV,
             ScheduleKind::VHalf, ScheduleKind::VMin })
        QTest::addRow("kind %d", static_cast<int>(kind)) << kind;
}

void ZeroBubble::everyOperationRunsOnceWithinTheLimit()
{
    QFETCH(ScheduleKind, kind);
    std::mt19937 random(7);
    for (int n = 0; n < 150; ++n) {
        const int p = 1 + static_cast<int>(random() % 9), m = 1 + static_cast<int>(random() % 30),
                  chunks = isV(kind) ? 2 : 1;
        const ScheduleTimes times = randomTimes(random, p * chunks);
        ScheduleShape shape { p, m, chunks, {} };
        double limit = kind == ScheduleKind::ZbH2 ? 2 * p - 1
            : kind == ScheduleKind::VHalf         ? (p + 2) / 2
            : kind == ScheduleKind::VMin          ? (p + 4) / 3
                                                  : p;
        if (kind == ScheduleKind::ZbAuto && n % 3 > 0) {
            for (int i = 0; i < p; ++i)
                shape.inFlightLimit.push_back(1 + static_cast<int>(random() % static_cast<unsigned>(2 * p)));
            limit = 2 * p;
        }
        const Program program = make(kind, shape, times);
        for (const std::vector<Op> &order : program.order) {
            std::map<std::tuple<OpKind, int, int>, int> seen;
            for (const Op &op : order)
                QVERIFY((++seen[{ op.kind, op.chunk, op.microBatch }] == 1));
            QCOMPARE(order.size(), static_cast<std::size_t>(3 * m * chunks));
        }
        QVERIFY(
            outcome(program, times).makespan > 0); // the engine finds every input before the operation that needs it
        const std::vector<double> peaks = peakInFlight(program, times.keptForWeightGrad);
        for (std::size_t i = 0; i < peaks.size(); ++i)
            QVERIFY(peaks[i] <= (shape.inFlightLimit.empty() ? limit : shape.inFlightLimit[i]) + 1e-3 * p);
    }
}

void ZeroBubble::tooLittleRoomIsSaid()
{
    const auto fault = [](ScheduleKind kind, const ScheduleShape &shape) {
        const auto made = makeProgram(kind, shape);
        return made ? std::string() : made.error().what;
    };
    QVERIFY(fault(ScheduleKind::ZbH1, { 4, 8, 1, { 3 } }).contains("zb-h1 keeps 4 micro-batches in flight on stage 1"));
    QVERIFY(fault(ScheduleKind::ZbH2, { 4, 8, 1, { 6 } }).contains("7 micro-batches"));
    QVERIFY(fault(ScheduleKind::ZbV, { 4, 8, 2, { 3 } }).contains("4 micro-batches"));
    QVERIFY(fault(ScheduleKind::VHalf, { 8, 16, 2, { 4 } }).contains("5 micro-batches"));
    QCOMPARE(fault(ScheduleKind::VMin, { 8, 16, 2, { 4 } }), "");
    QCOMPARE(fault(ScheduleKind::ZbAuto, { 4, 8, 1, { 1 } }), ""); // waits where room is short
    QVERIFY(fault(ScheduleKind::ZbV, { 4, 8, 3, {} }).contains("two chunks per stage"));
    QVERIFY(fault(ScheduleKind::ZbAuto, { 4, 8, 2, {} }).contains("one chunk per stage"));
}

void ZeroBubble::aSmallChangeOfTimesKeepsTheOrder()
{
    for (const ScheduleKind kind :
        { ScheduleKind::ZbAuto, ScheduleKind::ZbV, ScheduleKind::VHalf, ScheduleKind::VMin }) {
        const int chunks = isV(kind) ? 2 : 1;
        const ScheduleTimes times = timesOf(8 * chunks, { 0.9, 1, 0.65, 0.03 }),
                            close = timesOf(8 * chunks, { 0.9, 1.00001, 0.65, 0.03 });
        QCOMPARE(make(kind, { 8, 24, chunks, {} }, times), make(kind, { 8, 24, chunks, {} }, close));
    }
}

void ZeroBubble::aCommonEndCountsTheMakespan()
{
    // ZB-H2's stages all work 3m, shifted by a forward each: without a common end an iteration takes 3m, with one 3m +
    // p - 1, no less than ZB-H1 (p = 4, m = 8: 24 and 27).
    const ScheduleTimes times = timesOf(4, {});
    IterationCosts costs = costsOf(make(ScheduleKind::ZbH2, { 4, 8, 1, {} }), times);
    QCOMPARE(outcome(costs.classes.front().program, times).longestSpan, 24 * kUnit);
    for (SyncAndStepTimes &syncAndStep : costs.classes.front().syncAndStep) {
        syncAndStep.reduce = kUnit / 2;
        syncAndStep.optimizer = kUnit;
    }
    const auto optimizerStart = [&](int stage) {
        const Timeline timeline = run(costs);
        const Track &track = timeline.tracks[static_cast<std::size_t>(stage)];
        return timeline.start[track.last - 1];
    };
    QCOMPARE(optimizerStart(0), 24 * kUnit + kUnit / 2);
    QCOMPARE(optimizerStart(3), 27 * kUnit + kUnit / 2);
    costs.optimizerBarrier = true;
    for (const int stage : { 0, 3 })
        QCOMPARE(optimizerStart(stage), 27 * kUnit + kUnit / 2);

    ScheduleTimes together = timesOf(8, { 1, 1.2, 0.7, 0.02 }), apart = together;
    together.endsTogether = true;
    const auto best = [&](const ScheduleTimes &t) {
        return outcome(make(ScheduleKind::ZbAuto, { 8, 24, 1, { 16 } }, t), t);
    };
    QVERIFY(best(together).makespan <= best(apart).makespan);
    QVERIFY(best(apart).longestSpan <= best(together).longestSpan);
}

void ZeroBubble::recomputationBelongsToTheInputGradient()
{
    for (const ScheduleKind kind : { ScheduleKind::ZbH1, ScheduleKind::ZbV, ScheduleKind::VMin }) {
        const int chunks = isV(kind) ? 2 : 1;
        const Program program = make(kind, { 4, 8, chunks, {} });
        for (const std::vector<Op> &order : program.order)
            for (const Op &op : order)
                QVERIFY(!op.recomputes || op.kind == OpKind::InputGrad);
        IterationCosts costs = costsOf(program, timesOf(4 * chunks, {}));
        for (OpTimes &op : costs.classes.front().ops) {
            op.recompute = kUnit;
            op.inputGrad += kUnit;
            op.backward += kUnit;
        }
        const Timeline timeline = run(costs);
        const Track &track = timeline.tracks[1];
        int recomputed = 0;
        for (std::uint32_t span = track.first; span + 1 < track.last; ++span) {
            if (timeline.kind[span] != WorkKind::Recompute)
                continue;
            ++recomputed;
            QCOMPARE(timeline.kind[span + 1], WorkKind::InputGrad);
            QCOMPARE(timeline.microBatch[span + 1], timeline.microBatch[span]);
        }
        QCOMPARE(recomputed, 8 * chunks);
    }
}

void ZeroBubble::twoChunksComeByThemselves()
{
    QCOMPARE(traitsOf(ScheduleKind::ZbV).chunksPerStage(1), 2);
    QCOMPARE(traitsOf(ScheduleKind::ZbV).chunksPerStage(3), 3); // asked for, so refused by name
    QCOMPARE(traitsOf(ScheduleKind::ZbH1).chunksPerStage(1), 1);
    QCOMPARE(traitsOf(ScheduleKind::Interleaved).chunksPerStage(1), 1);
    QCOMPARE(make(ScheduleKind::VHalf, { 4, 8, 2, {} }).placement, traitsOf(ScheduleKind::VHalf).placement);
}

TRAINYARD_APPLESS_TEST(ZeroBubble)
#include "tst_zero_bubble.moc"
