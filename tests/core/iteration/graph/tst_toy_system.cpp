// SPDX-License-Identifier: GPL-3.0-or-later
// A system of a test's own: after each forward a stage writes a sample of what it made to a drive. One contributor
// brings its resource, its classes with bytes and memory, its row and what waits for what; nobody else knows of it.
#include "core/iteration/graph/class_tasks.h"
#include "core/iteration/memory/live_memory.h"
#include "tests/core/iteration/graph/pipelines.h"
#include "tests/support/rewritten_graph.h"
#include "tests/support/test_program.h"

using namespace pipelines;
using test::rewritten;

namespace {

constexpr double kSample = 7, kStaging = 3, kKept = 100; // bytes

class Samples : public Contributor {
public:
    Samples(ClassTasks &tasks, bool isWaitedFor)
        : m_(tasks)
        , m_isWaitedFor(isWaitedFor)
    {
    }

    void shape(Fingerprint &print) const override { print.add(m_isWaitedFor ? 2 : 1); }

    /// As long as the stage's forward. The sample is a copy on the GPU until it is written, through a buffer.
    void times(ClassTable &table) override
    {
        m_first = static_cast<std::uint32_t>(table.durations.size());
        for (int d = 0; d < m_.devices; ++d) {
            const std::uint32_t writes =
                table.add(WorkKind::DriveWrite, m_.pipeline.ops[m_.slot(d, 0)].forward, kSample);
            table.about[writes].memory = { { kSample, 0, 0 }, { -kSample, 0, 0 }, kStaging };
        }
    }

    void tasks(GraphBuilder &builder) override
    {
        for (int d = 0; d < m_.devices; ++d) {
            const auto drive = builder.resource({ .stream = Stream::Copy, .pipelineClass = m_.index, .stage = d });
            for (int i = 0; i < m_.microBatches; ++i)
                m_samples.push_back(builder.task(drive, m_first + static_cast<std::uint32_t>(d), { i, 0, false }));
        }
    }

    [[nodiscard]] Expected<void> order(GraphBuilder &builder) override
    {
        for (int d = 0; d < m_.devices; ++d) {
            for (int i = 0; i < m_.microBatches; ++i)
                builder.after(m_samples[m_.cell(d, i)], m_.result[0][m_.cell(d, i)]);
            if (m_isWaitedFor) // the last backward by the last sample
                builder.after(m_.lastOp[static_cast<std::size_t>(d)], m_samples[m_.cell(d, m_.microBatches - 1)]);
        }
        return {};
    }

private:
    ClassTasks &m_;
    bool m_isWaitedFor;
    std::uint32_t m_first = 0;
    std::vector<TaskId> m_samples;
};

constexpr PartOf kBeside[] = { [](ClassTasks &tasks) -> std::unique_ptr<Contributor> {
    return std::make_unique<Samples>(tasks, false);
} };
constexpr PartOf kWaitedFor[] = { [](ClassTasks &tasks) -> std::unique_ptr<Contributor> {
    return std::make_unique<Samples>(tasks, true);
} };

IterationCosts costsOf(int devices, int microBatches, Times times)
{
    IterationCosts costs = even(program(ScheduleKind::OneFOneB, devices, microBatches), times);
    ChunkMemory chunk;
    chunk.kept = chunk.whole = kKept;
    costs.classes.front().memory.assign(static_cast<std::size_t>(devices),
        std::make_shared<const OpMemory>(std::vector { chunk }, nullptr, OpMemory::Program {}));
    return costs;
}

Timeline runWith(const IterationCosts &costs, std::span<const PartOf> more)
{
    const auto graph = buildPipelineGraph(costs, more);
    if (!graph)
        qFatal("%s", toString(graph.error()).c_str());
    return run(*graph);
}

} // namespace

class TestToySystem : public QObject {
    Q_OBJECT
private slots:
    // start(sample) = max(end of its forward, end of the sample before); every other row is as without the system.
    void itsRowLiesBesideTheOthers()
    {
        const IterationCosts costs = costsOf(4, 6, { 10, 20, 3 });
        const Timeline timeline = runWith(costs, kBeside), without = run(costs);
        QCOMPARE(timeline.tracks.size(), without.tracks.size() + 4);
        int rows = 0;
        for (const Track &track : timeline.tracks) {
            if (track.stream != Stream::Copy) {
                for (std::uint32_t span = track.first; span < track.last; ++span)
                    QCOMPARE(timeline.end[span], without.end[span]);
                continue;
            }
            ++rows;
            QCOMPARE(track.last - track.first, 6u);
            for (std::uint32_t span = track.first; span < track.last; ++span) {
                const Track &compute = timeline.tracks[static_cast<std::size_t>(track.stage)];
                std::uint32_t forward = compute.first;
                while (timeline.kind[forward] != WorkKind::Forward
                    || timeline.microBatch[forward] != timeline.microBatch[span])
                    ++forward;
                const Nanoseconds before = span > track.first ? timeline.end[span - 1] : 0;
                QCOMPARE(timeline.start[span], std::max(timeline.end[forward], before));
                QCOMPARE(timeline.kind[span], WorkKind::DriveWrite);
                QCOMPARE(timeline.bytesMoved(span), kSample);
            }
        }
        QCOMPARE(rows, 4);
    }

    // Forward to 10, sample until 20, backward of 20 from there, not from 10: 40.
    void othersMayWaitForIt()
    {
        const IterationCosts costs = costsOf(1, 1, { 10, 20, 0 });
        QCOMPARE(runWith(costs, kBeside).duration, Nanoseconds { 30 });
        QCOMPARE(runWith(costs, kWaitedFor).duration, Nanoseconds { 40 });
    }

    // Activations of 100 from the start of the forward to 30, a sample of 7 and its buffer of 3 from 10 to 20.
    void itsMemoryIsPartOfItsStages()
    {
        const IterationCosts costs = costsOf(1, 1, { 10, 20, 0 });
        const Timeline timeline = runWith(costs, kBeside);
        const LiveOverTime live = liveOverTime(timeline, 0, 0, false, true);
        QCOMPARE(live.peak, kKept + kSample + kStaging);
        std::vector<std::pair<Nanoseconds, std::int64_t>> steps;
        for (const MemoryStep &step : live.gpu)
            steps.emplace_back(step.time, step.bytes);
        QCOMPARE(steps,
            (std::vector<std::pair<Nanoseconds, std::int64_t>> { { 0, 100 }, { 10, 110 }, { 20, 100 }, { 30, 0 } }));
        QCOMPARE(fullestMoment(live, timeline, 0, 0, *costs.classes.front().memory.front()).total(), live.peak);
    }

    // Stage i of 1F1B keeps min(m, p - i) micro-batches; a sample takes as long as a forward, so one is under way at
    // the peak.
    void onEveryStageThePeakIsHigherByOneSample()
    {
        const int p = 4, m = 6;
        const IterationCosts costs = costsOf(p, m, { 10, 20, 0 });
        const Timeline timeline = runWith(costs, kBeside);
        for (int stage = 0; stage < p; ++stage) {
            const LiveOverTime live = liveOverTime(timeline, 0, stage, false, true);
            QCOMPARE(live.peak, std::min(m, p - stage) * kKept + kSample + kStaging);
            QCOMPARE(live.gpu.back().bytes, std::int64_t { 0 });
        }
    }

    void newTimesGoThroughTheSameContributor()
    {
        const IterationCosts slower = costsOf(3, 4, { 13, 29, 2 });
        const auto updated = rewritten(*buildPipelineGraph(costsOf(3, 4, { 10, 20, 1 }), kBeside), slower, kBeside);
        QVERIFY(updated);
        const TaskGraph built = *buildPipelineGraph(slower, kBeside);
        QCOMPARE(updated->table.durations, built.table.durations);
        QCOMPARE(run(*updated).end, run(built).end);
    }

    void anotherListIsAnotherTopology()
    {
        const IterationCosts costs = costsOf(3, 4, { 10, 20, 1 });
        const TaskGraph with = *buildPipelineGraph(costs, kBeside), without = *buildPipelineGraph(costs);
        QVERIFY(!rewritten(with, costs));
        QVERIFY(!rewritten(with, costs, kWaitedFor));
        QVERIFY(!rewritten(without, costs, kBeside));
        QVERIFY(rewritten(with, costs, kBeside) && rewritten(without, costs));
    }
};

TRAINYARD_APPLESS_TEST(TestToySystem)
#include "tst_toy_system.moc"
