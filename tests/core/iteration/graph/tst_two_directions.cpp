// SPDX-License-Identifier: GPL-3.0-or-later
// Schedules in two directions, in waves, in slices and with opportunistic forwards: their orders as sets, what they
// hold, what they take.
#include "tests/core/iteration/graph/pipelines.h"
#include "tests/support/test_program.h"

#include <cmath>
#include <map>

using namespace pipelines;

namespace {

struct Case {
    ScheduleKind kind;
    int p, m, v;
};

/// Shapes that each kind accepts.
std::vector<Case> cases()
{
    std::vector<Case> list;
    for (const int p : { 2, 4, 8 }) {
        for (const int m : { 2 * p, 2 * p + 2, 5 * p }) {
            list.push_back({ ScheduleKind::DualPipe, p, m, 2 });
            list.push_back({ ScheduleKind::DualPipeV, p, m, 2 });
        }
        for (const int m : { 2, p, 3 * p })
            list.push_back({ ScheduleKind::Chimera, p, m, 2 });
        for (const int v : { 2, 4 })
            for (const int m : { 1, p, 2 * p + 1 })
                list.push_back({ ScheduleKind::Hanayo, p, m, v });
        for (const int m : { 1, p, 3 * p + 1 }) {
            list.push_back({ ScheduleKind::Varuna, p, m, 1 });
            list.push_back({ ScheduleKind::TeraPipe, p, m, 3 });
        }
    }
    return list;
}

Error fault(ScheduleKind kind, const ScheduleShape &shape)
{
    const auto made = makeProgram(kind, shape);
    return made ? Error { ErrorCode::Internal, "", "no fault", "" } : made.error();
}

Nanoseconds work(const IterationCosts &costs, int device)
{
    const PipelineCosts &pipeline = costs.classes.front();
    const int chunks = pipeline.program.shape.chunks;
    Nanoseconds sum = 0;
    const Op *paired = nullptr;
    for (const Op &op : pipeline.program.order[static_cast<std::size_t>(device)]) {
        const int slot = device * chunks + op.chunk;
        const OpTimes &times = pipeline.ops[static_cast<std::size_t>(slot)];
        switch (op.kind) {
        case OpKind::Forward:
            sum += times.forward;
            break;
        case OpKind::Backward:
            sum += paired
                ? pipeline.pairs[static_cast<std::size_t>((device * chunks + paired->chunk) * chunks + op.chunk)]
                : times.backward;
            break;
        case OpKind::InputGrad:
            sum += times.inputGrad;
            break;
        case OpKind::WeightGrad:
            sum += times.weightGrad;
            break;
        case OpKind::Recompute:
            sum += times.recompute;
            break;
        case OpKind::PairedForward:
            break;
        }
        paired = op.kind == OpKind::PairedForward ? &op : nullptr;
    }
    return sum;
}

/// Chimera of times f and b a virtual stage with room for `room` micro-batches on each device.
Program chimeraWithRoom(int p, int m, Nanoseconds f, Nanoseconds b, int room)
{
    ScheduleTimes times;
    times.stages.assign(static_cast<std::size_t>(2 * p), { f, b - b / 2, b / 2, 0 });
    times.boundaries.assign(static_cast<std::size_t>(2 * p - 1), 0);
    times.endsTogether = true;
    auto made = makeProgram(ScheduleKind::Chimera, { p, m, 2, { room } }, times);
    if (!made)
        qFatal("%s", toString(made.error()).c_str());
    return std::move(*made);
}

} // namespace

class TwoDirections : public QObject {
    Q_OBJECT
private slots:
    void everyMicroBatchPassesEachStageOfItsChainOnce();
    void nothingRunsBeforeWhatItNeeds();
    void everyDeviceWorksAsLongAsItsOperationsTake();
    void aFixedOrderIsNeverFasterWhereAnOperationIsSlower();
    void brokenShapesSayWhatWouldDo();
    void dualPipeHoldsOneChunkMoreThanItHasStages();
    void dualPipeOfEqualTimesHasTheBubbleOfItsFormula();
    void chimeraHoldsBetweenHalfAndAllOfItsStages();
    void chimeraOfOneRoundWaitsForBackwardsOnly();
    void chimeraWaitsBetweenRoundsForWhatBackwardsTakeLonger();
    void doubledForwardsLeaveChimeraTheBubbleOfOneRound();
    void chimeraDoublesItsForwardsOnlyWhereTheyFitAndPay();
    void hanayoDividesItsBubbleByTheWaves();
    void hanayoWaitsBetweenRoundsForWhatBackwardsTakeLonger();
    void slicesFillThePipelineLikeSmallMicroBatches();
    void recomputationAheadOfTheGradientLeavesTheCriticalPath();
    void aWaitingBackwardLetsTheNextForwardGo();
    void channelsCarryBothDirections();
};

void TwoDirections::everyMicroBatchPassesEachStageOfItsChainOnce()
{
    for (const Case &c : cases()) {
        const Program order = program(c.kind, c.p, c.m, c.v);
        const bool isTwoWay = order.placement == ChunkPlacement::Bidirectional;
        for (int d = 0; d < c.p; ++d) {
            std::map<std::pair<int, int>, std::array<int, 2>> seen;
            int owed = 0;
            for (const Op &op : order.order[static_cast<std::size_t>(d)]) {
                auto &[forwards, backwards] = seen[{ op.chunk, op.microBatch }];
                forwards += isForward(op.kind);
                backwards += makesGradient(op.kind);
                owed += (op.kind == OpKind::InputGrad) - (op.kind == OpKind::WeightGrad);
                QVERIFY(forwards >= backwards && owed >= 0);
                if (isTwoWay)
                    QCOMPARE(op.microBatch < c.m / 2, op.chunk == 0);
            }
            QCOMPARE(owed, 0);
            QCOMPARE(static_cast<int>(seen.size()), isTwoWay ? c.m : c.m * c.v);
            for (const auto &[cell, count] : seen)
                QCOMPARE(count, (std::array { 1, 1 }));
        }
    }
}

void TwoDirections::nothingRunsBeforeWhatItNeeds()
{
    for (const Case &c : cases()) {
        const Program order = program(c.kind, c.p, c.m, c.v);
        const Timeline t = run(even(order, { 100, 230, 7 }));
        // [direction][virtual stage, micro-batch] -> when it started and ended
        std::map<std::pair<int, int>, std::pair<Nanoseconds, Nanoseconds>> times[2];
        for (const Track &track : t.tracks)
            for (std::uint32_t span = track.first; span < track.last; ++span) {
                const WorkKind kind = t.kind[span];
                const int q = order.virtualStage(track.stage, t.chunk[span]);
                const std::pair when { t.start[span], t.end[span] };
                if (kind == WorkKind::Forward || kind == WorkKind::ForwardBackward)
                    times[0][{ q, t.microBatch[span] }] = when;
                if (kind == WorkKind::Backward || kind == WorkKind::InputGrad)
                    times[1][{ q, t.microBatch[span] }] = when;
                if (kind == WorkKind::ForwardBackward)
                    times[1][{ order.virtualStage(track.stage, t.pairedChunk[span]), t.pairedMicroBatch[span] }] = when;
            }
        for (const auto &[at, when] : times[0]) {
            const auto [q, k] = at;
            if (!order.beginsChain(q))
                QVERIFY(when.first
                    >= times[0].at({ q - 1, k }).second + (order.deviceOf(q) == order.deviceOf(q - 1) ? 0 : 7));
            QVERIFY(times[1].at(at).first >= when.second);
            if (!order.endsChain(q))
                QVERIFY(times[1].at(at).first
                    >= times[1].at({ q + 1, k }).second + (order.deviceOf(q) == order.deviceOf(q + 1) ? 0 : 7));
        }
        QCOMPARE(times[0].size(), times[1].size());
    }
}

void TwoDirections::everyDeviceWorksAsLongAsItsOperationsTake()
{
    std::mt19937 random(3);
    for (const Case &c : cases()) {
        IterationCosts costs = even(program(c.kind, c.p, c.m, c.v), { 100, 230, 7 });
        for (OpTimes &times : costs.classes.front().ops)
            times.forward += static_cast<Nanoseconds>(random() % 50);
        for (Nanoseconds &pair : costs.classes.front().pairs)
            pair -= static_cast<Nanoseconds>(random() % 80);
        const Timeline t = run(costs);
        for (const Track &track : t.tracks)
            if (track.stream == Stream::Compute)
                QCOMPARE(busy(t, track), work(costs, track.stage));
    }
}

void TwoDirections::aFixedOrderIsNeverFasterWhereAnOperationIsSlower()
{
    std::mt19937 random(5);
    for (const Case &c : cases()) {
        if (c.kind == ScheduleKind::Varuna)
            continue; // who decides while it runs can be luckier with slower links
        IterationCosts costs = even(program(c.kind, c.p, c.m, c.v), { 100, 230, 7 });
        Nanoseconds before = run(costs).duration;
        for (int trial = 0; trial < 4; ++trial) {
            auto &ops = costs.classes.front().ops;
            ops[random() % ops.size()].forward += 31;
            if (auto &pairs = costs.classes.front().pairs; !pairs.empty())
                pairs[random() % pairs.size()] += 17;
            const Nanoseconds after = run(costs).duration;
            QVERIFY(after >= before);
            before = after;
        }
    }
}

void TwoDirections::brokenShapesSayWhatWouldDo()
{
    const auto right = [](ScheduleKind kind, int p, int m, int v) {
        return QString::fromStdString(fault(kind, { p, m, v, {} }).right);
    };
    QCOMPARE(right(ScheduleKind::DualPipe, 4, 6, 2), QString("8 micro-batches"));
    QCOMPARE(right(ScheduleKind::DualPipe, 4, 9, 2), QString("10 micro-batches"));
    QCOMPARE(right(ScheduleKind::DualPipe, 5, 20, 2), QString("4 or 6"));
    QCOMPARE(right(ScheduleKind::DualPipe, 4, 8, 3), QString("1, the default, or 2"));
    QCOMPARE(right(ScheduleKind::DualPipeV, 4, 7, 2), QString("8 micro-batches"));
    QCOMPARE(right(ScheduleKind::Chimera, 4, 7, 2), QString("8 micro-batches"));
    QCOMPARE(right(ScheduleKind::Chimera, 3, 6, 2), QString("2 or 4"));
    QCOMPARE(right(ScheduleKind::Hanayo, 4, 4, 3), QString("2 or 4"));
    QCOMPARE(QString::fromStdString(fault(ScheduleKind::Varuna, { 4, 4, 2, {} }).where),
        QString("parallelism.virtual_pipeline"));
    QVERIFY(fault(ScheduleKind::DualPipe, { 8, 20, 2, { 4 } }).what.find("in flight") != std::string::npos);
    QVERIFY(makeProgram(ScheduleKind::DualPipe, { 8, 20, 2, { 5 } }).has_value());
}

void TwoDirections::dualPipeHoldsOneChunkMoreThanItHasStages()
{
    // of virtual stages, which are twice the devices where the model is folded; what weight gradients keep is apart
    for (const int p : { 4, 8, 16 }) {
        for (const double peak : peakInFlight(program(ScheduleKind::DualPipe, p, 4 * p, 2), 0))
            QCOMPARE(2 * peak, p + 1.0);
        for (const double peak : peakInFlight(program(ScheduleKind::DualPipeV, p, 4 * p, 2), 0))
            QCOMPARE(2 * peak, 2 * p + 1.0);
    }
}

void TwoDirections::dualPipeOfEqualTimesHasTheBubbleOfItsFormula()
{
    // T = m (f + b + w) + (p/2 - 1)(FB + B - 3w), FB = f + b + w, B = b + w; DualPipe-V with 2p for p and times of half
    // the layers
    const Nanoseconds f = 120;
    for (const int p : { 4, 6, 8 })
        for (const int m : { 2 * p, 4 * p }) {
            const Nanoseconds bubble = (p / 2 - 1) * (3 * f + 2 * f - 3 * f);
            QCOMPARE(run(even(program(ScheduleKind::DualPipe, p, m, 2), { f, 2 * f, 0 })).duration, m * 3 * f + bubble);
            QCOMPARE(run(even(program(ScheduleKind::DualPipeV, p / 2, m, 2), { f, 2 * f, 0 })).duration,
                2 * m * 3 * f + bubble);
        }
}

void TwoDirections::chimeraHoldsBetweenHalfAndAllOfItsStages()
{
    for (const int p : { 4, 8, 16 })
        for (const int m : { p, 2 * p, 4 * p }) {
            const std::vector<double> peaks = peakInFlight(program(ScheduleKind::Chimera, p, m, 2));
            QCOMPARE(2 * *std::ranges::max_element(peaks), static_cast<double>(p));
            QCOMPARE(2 * *std::ranges::min_element(peaks), p / 2 + 1.0);
        }
}

void TwoDirections::chimeraOfOneRoundWaitsForBackwardsOnly()
{
    // T = m (f + b) + (p - 2) b where m = p and b >= f
    for (const int p : { 4, 8, 16 })
        for (const Nanoseconds b : { 100, 150, 200, 300 })
            QCOMPARE(run(even(program(ScheduleKind::Chimera, p, p, 2), { 100, b, 0 })).duration,
                p * (100 + b) + (p - 2) * b);
}

void TwoDirections::chimeraWaitsBetweenRoundsForWhatBackwardsTakeLonger()
{
    // Direct concatenation of K = m / p rounds: T = m (f + b) + (p - 2) b + (K - 1)(p - 2)(b - f) where b >= f. With b
    // = f the bubble is p - 2 slots for any m, (D - 2) / (2N + D - 2) of the iteration as in the paper's table 2.
    for (const int p : { 4, 8, 16 })
        for (const int rounds : { 1, 2, 3, 6, 12 })
            for (const Nanoseconds b : { 100, 150, 200, 300 }) {
                const int m = rounds * p;
                QCOMPARE(run(even(program(ScheduleKind::Chimera, p, m, 2), { 100, b, 0 })).duration,
                    m * (100 + b) + (p - 2) * b + (rounds - 1) * (p - 2) * (b - 100));
            }
}

void TwoDirections::doubledForwardsLeaveChimeraTheBubbleOfOneRound()
{
    // Two forwards a slot against one backward, b = 2f: no bubbles between rounds. What is left of T - m (f + b) does
    // not grow with m and is less than that of 1F1B, (p - 1)(f + b); the paper's ratio, (D - 2) / (3N/2 + D - 2), makes
    // it (p - 2) b.
    const Nanoseconds f = 100, b = 200;
    for (const int p : { 4, 8, 16 }) {
        const auto bubble = [&](int m) {
            return run(even(chimeraWithRoom(p, m, f, b, p), { f, b, 0 })).duration - m * (f + b);
        };
        for (const int m : { 4 * p, 96, 24 * p }) {
            QVERIFY(bubble(m) < (p - 1) * (f + b));
            QVERIFY(bubble(m) <= (p - 2) * b * 4 / 3);
            QVERIFY(bubble(m) >= (p - 2) * b * 3 / 4);
            for (const double peak : peakInFlight(chimeraWithRoom(p, m, f, b, p)))
                QVERIFY(peak <= p);
        }
    }
}

void TwoDirections::chimeraDoublesItsForwardsOnlyWhereTheyFitAndPay()
{
    const Program direct = program(ScheduleKind::Chimera, 8, 96, 2);
    QVERIFY(chimeraWithRoom(8, 96, 100, 200, 8).order != direct.order);
    QCOMPARE(chimeraWithRoom(8, 96, 100, 200, 7).order, direct.order); // the middle stages would hold 16 chunks
    QCOMPARE(chimeraWithRoom(8, 96, 100, 100, 8).order, direct.order); // there is no bubble between rounds to take away
    QCOMPARE(chimeraWithRoom(8, 8, 100, 200, 8).order, program(ScheduleKind::Chimera, 8, 8, 2).order);
}

void TwoDirections::hanayoWaitsBetweenRoundsForWhatBackwardsTakeLonger()
{
    // T = m (f + b) + (p - 1)/W (b + (K - 1)(b - f)) for K = m / p rounds, b >= f of a whole device
    for (const int p : { 4, 8, 16 })
        for (const int waves : { 1, 2, 4 })
            for (const int rounds : { 1, 2, 3, 6 })
                for (const Nanoseconds b : { 960, 1440, 1920, 2880 }) {
                    const Nanoseconds f = 960;
                    const int m = rounds * p;
                    QCOMPARE(run(even(program(ScheduleKind::Hanayo, p, m, 2 * waves),
                                     { f / (2 * waves), b / (2 * waves), 0 }))
                                 .duration,
                        m * (f + b) + (p - 1) * (b + (rounds - 1) * (b - f)) / waves);
                }
}

void TwoDirections::hanayoDividesItsBubbleByTheWaves()
{
    // T = m (f + b) + (p - 1) b / W where m = p and b = 2f, f and b of a whole device; chunks take 1/2W of that
    const Nanoseconds f = 960;
    for (const int p : { 4, 8, 16 })
        for (const int waves : { 1, 2, 4 }) {
            const Program order = program(ScheduleKind::Hanayo, p, p, 2 * waves);
            QCOMPARE(run(even(order, { f / (2 * waves), f / waves, 0 })).duration, p * 3 * f + (p - 1) * 2 * f / waves);
            for (const double peak : peakInFlight(order))
                QVERIFY(peak <= p);
        }
}

void TwoDirections::slicesFillThePipelineLikeSmallMicroBatches()
{
    // T = sum of all slices + (p - 1) longest slice, forward and backward
    const std::array<Nanoseconds, 4> forward { 100, 130, 170, 210 };
    for (const int p : { 1, 2, 5, 8 })
        for (const int m : { 1, 3 }) {
            IterationCosts costs = even(program(ScheduleKind::TeraPipe, p, m, 4), { 1, 1, 0 });
            Nanoseconds sum = 0;
            for (std::size_t slot = 0; slot < costs.classes.front().ops.size(); ++slot) {
                costs.classes.front().ops[slot].forward = forward[slot % 4];
                costs.classes.front().ops[slot].backward = 2 * forward[slot % 4];
            }
            for (const Nanoseconds time : forward)
                sum += 3 * time;
            QCOMPARE(run(costs).duration, m * sum + (p - 1) * 3 * 210);
        }
}

void TwoDirections::recomputationAheadOfTheGradientLeavesTheCriticalPath()
{
    // 1F1B with a recomputation of its own before each backward, none on the last stage:
    // T = m (f + r + B) + (p - 1)(f + B) - 2r where r = f, B = 2f
    const Nanoseconds f = 100;
    for (const int p : { 3, 4, 8 })
        for (const int m : { 2 * p, 4 * p }) {
            Program order = program(ScheduleKind::OneFOneB, p, m);
            for (int d = 0; d < p; ++d) {
                std::vector<Op> ops;
                for (Op op : order.order[static_cast<std::size_t>(d)]) {
                    if (op.kind == OpKind::Backward && d + 1 < p)
                        ops.push_back({ OpKind::Recompute, false, 0, op.microBatch });
                    op.recomputes = false;
                    ops.push_back(op);
                }
                order.order[static_cast<std::size_t>(d)] = ops;
            }
            IterationCosts costs = even(order, { f, 3 * f, 0 });
            for (OpTimes &times : costs.classes.front().ops)
                times.recompute = f;
            QCOMPARE(run(costs).duration, m * 4 * f + (p - 1) * 3 * f - 2 * f);
        }
}

void TwoDirections::aWaitingBackwardLetsTheNextForwardGo()
{
    // Two stages, the order F0 B0 F1 B1 on the first: its second forward goes while the gradient is under way.
    Program order { { 2, 2, 1, {} }, ChunkPlacement::Loop, {}, OrderRule::Strict };
    order.order = { { { OpKind::Forward, false, 0, 0 }, { OpKind::Backward, false, 0, 0 },
                        { OpKind::Forward, false, 0, 1 }, { OpKind::Backward, false, 0, 1 } },
        { { OpKind::Forward, false, 0, 0 }, { OpKind::Backward, false, 0, 0 }, { OpKind::Forward, false, 0, 1 },
            { OpKind::Backward, false, 0, 1 } } };
    QCOMPARE(run(even(order, { 100, 200, 50 })).duration, 2 * (100 + 50 + 300 + 50 + 200));
    order.rule = OrderRule::OpportunisticForward;
    const Timeline t = run(even(order, { 100, 200, 50 }));
    // F0 F1 . . B0 . B1: the last backward of stage 1 ends at 750, of stage 0 at 1000
    QCOMPARE(t.duration, 1000);
    QCOMPARE(t.start[1], 100);
    QCOMPARE(t.kind[1], WorkKind::Forward);
    QCOMPARE(t.microBatch[1], 1);
}

void TwoDirections::channelsCarryBothDirections()
{
    // Activations of one copy and gradients of the other leave device 1 for device 2 on the same channel.
    const Program order = program(ScheduleKind::DualPipe, 4, 8, 2);
    IterationCosts costs = even(order, { 100, 200, 0 });
    wan(costs.classes.front(), 1, 50, 10);
    wan(costs.classes.front(), 5, 50, 10);
    const Timeline t = run(costs);
    int channels = 0;
    for (const Track &track : t.tracks) {
        if (track.stream != Stream::Wan)
            continue;
        ++channels;
        QCOMPARE(track.last - track.first, 8u); // each micro-batch crosses once each way
        for (std::uint32_t span = track.first; span + 1 < track.last; ++span)
            QVERIFY(t.start[span + 1] >= t.end[span]);
    }
    QCOMPARE(channels, 2);
}

TRAINYARD_APPLESS_TEST(TwoDirections)
#include "tst_two_directions.moc"
