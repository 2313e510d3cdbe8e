// SPDX-License-Identifier: GPL-3.0-or-later
// 1F1B and interleaving with forwards and backwards in pairs: every operation is there once, pairs are of different
// micro-batches, the order runs on any shape, and a device holds at most one micro-batch more.
#include "tests/core/engine/schedule/split_backward.h"
#include "tests/support/test_program.h"

#include <map>

using namespace split_backward;

namespace {

const ScheduleTraits &paired(ScheduleKind kind)
{
    Plan plan;
    plan.schedule = kind;
    plan.moe.expertOverlap = ExpertOverlap::OneFOneB;
    return traitsOf(plan);
}

/// A pair takes as long as both.
Timeline run(Program program, Split t)
{
    const ScheduleTimes times = timesOf(program.virtualStages(), t);
    IterationCosts costs = costsOf(std::move(program), times);
    PipelineCosts &pipeline = costs.classes.front();
    const std::size_t places = pipeline.ops.size(), chunks = std::size_t(pipeline.program.shape.chunks);
    pipeline.pairs.clear();
    for (std::size_t slot = 0; slot < places; ++slot)
        for (std::size_t chunk = 0; chunk < chunks; ++chunk)
            pipeline.pairs.push_back(
                pipeline.ops[slot].forward + pipeline.ops[slot / chunks * chunks + chunk].backward);
    return pipelines::run(costs);
}

class TestPaired : public QObject {
    Q_OBJECT

private slots:
    void everyOperationComesOnceAndPairsAreOfTwoMicroBatches()
    {
        for (int stages = 1; stages <= 6; ++stages)
            for (int chunks = 1; chunks <= 4; ++chunks)
                for (int rounds = 1; rounds <= 5; ++rounds) {
                    const auto kind = chunks == 1 ? ScheduleKind::OneFOneB : ScheduleKind::Interleaved;
                    auto program = makeProgram(paired(kind), { stages, stages * rounds, chunks, {} });
                    QVERIFY(program);
                    int pairs = 0;
                    for (const std::vector<Op> &order : program->order) {
                        std::map<std::tuple<bool, int, int>, int> seen;
                        for (std::size_t i = 0; i < order.size(); ++i) {
                            ++seen[{ isForward(order[i].kind), order[i].chunk, order[i].microBatch }];
                            if (order[i].kind != OpKind::PairedForward)
                                continue;
                            ++pairs;
                            QCOMPARE(order[i + 1].kind, OpKind::Backward);
                            QVERIFY(std::pair(order[i].chunk, order[i].microBatch)
                                != std::pair(order[i + 1].chunk, order[i + 1].microBatch));
                        }
                        QCOMPARE(seen.size(), std::size_t(2 * chunks * stages * rounds));
                        QVERIFY(std::ranges::all_of(seen, [](const auto &one) { return one.second == 1; }));
                    }
                    QVERIFY2(pairs > 0 || rounds * stages < 2 || rounds < 2, qPrintable(QString::number(stages)));
                }
    }

    void anyShapeRunsToItsEnd()
    {
        for (int stages = 1; stages <= 5; ++stages)
            for (int chunks = 1; chunks <= 3; ++chunks)
                for (int rounds = 1; rounds <= 4; ++rounds) {
                    const auto kind = chunks == 1 ? ScheduleKind::OneFOneB : ScheduleKind::Interleaved;
                    auto program = makeProgram(paired(kind), { stages, stages * rounds, chunks, {} });
                    QVERIFY(program);
                    const Timeline timeline = run(*program, { 1, 1, 1, 0.25 });
                    // All work of a device lies in the iteration: m v (f + b + w) <= duration.
                    QVERIFY(timeline.duration >= ticks(3.0 * stages * rounds * chunks));
                }
    }

    void oneStageTakesAsLongAsItsWork()
    {
        auto program = makeProgram(paired(ScheduleKind::OneFOneB), { 1, 8, 1, {} });
        QVERIFY(program);
        QCOMPARE(run(*program, {}).duration, ticks(8 * 3.0)); // m (f + b + w)
    }

    void aDeviceHoldsOneMicroBatchMore()
    {
        const ScheduleShape shape { 4, 16, 1, {} };
        const auto plain = peakInFlight(make(ScheduleKind::OneFOneB, shape));
        auto program = makeProgram(paired(ScheduleKind::OneFOneB), shape);
        QVERIFY(program);
        const auto pairs = peakInFlight(*program);
        for (std::size_t device = 0; device < plain.size(); ++device)
            QCOMPARE(pairs[device], plain[device] + 1);
    }

    void aLimitOnMicroBatchesIsKept()
    {
        for (int limit = 1; limit <= 5; ++limit) {
            auto program = makeProgram(paired(ScheduleKind::OneFOneB), { 4, 12, 1, { limit, limit, limit, limit } });
            QVERIFY(program);
            for (const double held : peakInFlight(*program))
                QVERIFY(held <= limit);
            QVERIFY(run(*program, {}).duration > 0);
        }
    }

    void fullRecomputationRunsUnpaired()
    {
        Plan plan;
        plan.moe.expertOverlap = ExpertOverlap::OneFOneB;
        plan.memory.recompute = Recompute::Full;
        QVERIFY(!traitsOf(plan).pairs);
        plan.memory.recompute = Recompute::None;
        QVERIFY(traitsOf(plan).pairs);
        plan.schedule = ScheduleKind::GPipe;
        QVERIFY(!traitsOf(plan).pairs);
    }
};

} // namespace

TRAINYARD_GUILESS_TEST(TestPaired)
#include "tst_paired.moc"
