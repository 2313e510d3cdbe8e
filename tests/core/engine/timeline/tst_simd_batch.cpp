// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/schedule/traits.h"
#include "core/engine/timeline/simd_batch.h"
#include "tests/core/iteration/graph/pipelines.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;

namespace {

/// Another duration for every class, and for lags that are above 0.
void drawTimes(ClassTable &table, std::mt19937 &random, Nanoseconds most)
{
    for (Nanoseconds &duration : table.durations)
        duration = static_cast<Nanoseconds>(random() % static_cast<unsigned>(most));
    for (std::size_t i = 1; i < table.lags.size(); ++i)
        table.lags[i] = static_cast<Nanoseconds>(random() % static_cast<unsigned>(most));
}

/// What simulate() says of each of the graphs, which have one topology, and what the lanes say.
void compareEnds(const std::vector<TaskGraph> &graphs)
{
    const std::optional<LaneSteps> steps = laneSteps(graphs.front());
    QVERIFY(steps);
    LaneTable table(*steps);
    for (std::size_t lane = 0; lane < graphs.size(); ++lane)
        table.set(lane, *steps, graphs[lane].table);
    LaneWorkspace workspace;
    const LaneValues ends = endsOfLanes(*steps, table, workspace);
    for (std::size_t lane = 0; lane < graphs.size(); ++lane)
        QCOMPARE(ends.of[lane], tasks::run(graphs[lane]).duration);
    QCOMPARE(endsOfLanes(*steps, table, workspace).of, ends.of); // slots of the last pass do no harm
}

/// `isEven`: all stages of a lane take equally long, and nothing is sent.
IterationCosts pipeline(const Program &program, std::mt19937 &random, bool isEven)
{
    const auto pick = [&](int least, int below) {
        return least + static_cast<Nanoseconds>(random() % static_cast<unsigned>(below));
    };
    const Nanoseconds forward = pick(1'000'000, 100'000);
    IterationCosts costs = pipelines::even(program, { forward, 2 * forward, isEven ? 0 : pick(1, 50'000) });
    PipelineCosts &made = costs.classes.front();
    for (OpTimes &op : made.ops) {
        op.recompute = forward;
        op.inputGrad += forward + (isEven ? 0 : pick(0, 90'000));
        op.weightGrad += isEven ? 0 : pick(0, 90'000);
        op.backward = op.inputGrad + op.weightGrad;
    }
    for (SyncAndStepTimes &end : made.syncAndStep)
        end = { .reduce = 5'000'000 + pick(0, 1000),
            .reduceEarly = 900'000,
            .optimizer = 800'000 + pick(0, 1000),
            .gather = 70'000 };
    costs.optimizerBarrier = true;
    costs.overhead = 1'000'000;
    return costs;
}

} // namespace

class LanesTest : public QObject {
    Q_OBJECT
private slots:
    void eachLaneEndsWhereItsGraphAloneDoes()
    {
        std::mt19937 random(22);
        for (int i = 0; i < 150; ++i) {
            const int resources = 1 + i % 7, each = 1 + i % 40;
            std::vector<TaskGraph> graphs(kLanes, tasks::randomGraph(random, resources, each, i % 2 == 1));
            for (TaskGraph &graph : graphs)
                drawTimes(graph.table, random, 1 + i * 10);
            compareEnds(graphs);
        }
    }

    void everyScheduleOfFixedOrderEndsAlike_data()
    {
        QTest::addColumn<int>("kind");
        for (const ScheduleTraits *schedule : allSchedules())
            if (!schedule->decidesAtRunTime())
                QTest::newRow(schedule->label) << static_cast<int>(schedule->kind);
    }

    void everyScheduleOfFixedOrderEndsAlike()
    {
        QFETCH(int, kind);
        std::mt19937 random(kind);
        const ScheduleTraits &schedule = traitsOf(static_cast<ScheduleKind>(kind));
        int built = 0;
        for (const int devices : { 1, 2, 4, 8 })
            for (const int microBatches : { 1, 2, 3, 8, 16, 96 })
                for (const int chunks : { 1, 2, 3 }) {
                    const int each = schedule.chunksPerStage(chunks);
                    const auto program = makeProgram(schedule, { devices, microBatches, each, {} });
                    if (!schedule.chunks.accepts(chunks) || !program || devices * each == 1)
                        continue;
                    ++built;
                    for (const bool isEven : { false, true }) {
                        std::vector<TaskGraph> graphs;
                        for (std::size_t lane = 0; lane < kLanes; ++lane)
                            graphs.push_back(pipelines::graph(pipeline(*program, random, isEven)));
                        compareEnds(graphs);
                    }
                }
        QVERIFY2(built > 3, "shapes that the schedule takes");
    }

    /// Of p stages that take f + b each and send nothing, m micro-batches end at (m + p - 1)(f + b).
    void whatRepeatsIsKeptOnceAndNotAllOfItRun()
    {
        constexpr int kStages = 8, kMicroBatches = 4096;
        const TaskGraph graph = pipelines::graph(pipelines::even(
            pipelines::program(ScheduleKind::OneFOneB, kStages, kMicroBatches), { .forward = 1000, .backward = 2000 }));
        const LaneSteps steps = laneSteps(graph).value();
        QVERIFY(steps.steps.size() < graph.taskCount() / 10);
        QVERIFY(steps.stepCount() <= static_cast<std::int64_t>(graph.taskCount())); // some are joined
        QVERIFY(steps.stepCount() > static_cast<std::int64_t>(graph.taskCount()) / 2);
        LaneTable table(steps);
        table.set(3, steps, graph.table);
        LaneWorkspace workspace;
        const LaneValues ends = endsOfLanes(steps, table, workspace);
        QCOMPARE(ends.of[3], Nanoseconds((kMicroBatches + kStages - 1) * 3000));
        QCOMPARE(ends.of[0], 0); // nothing was set there
        QVERIFY(workspace.stepsRun < steps.stepCount() / 10);
    }

    /// Lanes whose states come round after different numbers of repetitions: what is left out is a multiple of all.
    void lanesThatRepeatDifferentlyAreEachExact()
    {
        std::mt19937 random(7);
        const Program program = pipelines::program(ScheduleKind::OneFOneB, 6, 500);
        std::vector<TaskGraph> graphs;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            IterationCosts costs = pipeline(program, random, true);
            costs.classes.front().ops[lane % 6].forward += static_cast<Nanoseconds>(lane) * 40'000; // the slowest stage
            for (BoundaryTimes &boundary : costs.classes.front().boundaries)
                boundary.serialization[0] = boundary.serialization[1] = static_cast<Nanoseconds>(lane % 3) * 31'000;
            graphs.push_back(pipelines::graph(costs));
        }
        compareEnds(graphs);
    }

    void aGraphWithoutATopologicalOrderHasNone()
    {
        std::mt19937 random(1);
        TaskGraph graph = tasks::randomGraph(random, 2, 3);
        graph.steps.clear();
        QVERIFY(!laneSteps(graph));
    }
};

TRAINYARD_APPLESS_TEST(LanesTest)
#include "tst_simd_batch.moc"
