// SPDX-License-Identifier: GPL-3.0-or-later
// What a stage plays by itself against the engine, span by span, on random stages.
#include "core/iteration/offload/rehearsal.h"
#include "tests/core/iteration/offload/pipeline_case.h"
#include "tests/support/test_program.h"

using namespace offload;

namespace {

constexpr ScheduleKind kSchedules[] = { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::ZbH1,
    ScheduleKind::Interleaved };

PipelineCase oneStage(std::mt19937 &random, ScheduleKind schedule)
{
    PipelineCase c = randomPipeline(random, schedule);
    c.devices = 1;
    c.wanAfter = -1;
    c.chunks = schedule == ScheduleKind::Interleaved ? 2 : 1;
    return c;
}

StageScript scriptOf(PipelineCase c)
{
    c.offloads = false;
    const PipelineRun keeping = offload::run(c);
    return stageScripts(keeping.costs, keeping.timeline).front().front();
}

std::vector<std::pair<Nanoseconds, Nanoseconds>> spansOf(const Timeline &timeline, Stream stream)
{
    std::vector<std::pair<Nanoseconds, Nanoseconds>> spans;
    for (const Track &track : timeline.tracks)
        for (std::uint32_t span = track.first; track.stream == stream && span < track.last; ++span)
            if (timeline.end[span] > timeline.start[span])
                spans.emplace_back(timeline.start[span], timeline.end[span]);
    return spans;
}

std::vector<std::vector<OffloadSegment>> segmentsOf(const PipelineCase &c)
{
    return pipelineOf(c).offload.ops;
}

} // namespace

class TstRehearsal : public QObject {
    Q_OBJECT

private slots:
    void aStageAloneDoesWhatTheEngineDoes()
    {
        // one device, no others to wait for: every computation, store and load at the same tick
        std::mt19937 random(31);
        int stalls = 0;
        for (const ScheduleKind schedule : kSchedules)
            for (int trial = 0; trial < 150; ++trial) {
                const PipelineCase c = oneStage(random, schedule);
                const PipelineRun run = offload::run(c);
                const PipelineCosts &pipeline = run.costs.classes.front();
                const Rehearsal played = rehearse(scriptOf(c), segmentsOf(c),
                    { c.ahead, 1e9, pipeline.memory.front().get(), RecomputeState(pipeline.program, 0, c.recomputes) });
                QVERIFY(!played.isLate);
                for (const Stream stream : { Stream::Compute, Stream::Store, Stream::Load })
                    QVERIFY2(spansOf(played.timeline, stream) == spansOf(run.timeline, stream),
                        qPrintable(QStringLiteral("schedule %1, trial %2, stream %3")
                                       .arg(int(schedule))
                                       .arg(trial)
                                       .arg(int(stream))));
                QCOMPARE(liveOverTime(played.timeline, 0, 0, true, false).peak, run.live.front().front().peak);
                PipelineCase keep = c;
                keep.offloads = false;
                stalls += run.timeline.duration > offload::run(keep).timeline.duration ? 1 : 0;
            }
        QVERIFY(stalls > 50); // some waited for loads, so that the comparison says something
    }

    void whoIsNotLateAtAllCostsTheIterationNothing()
    {
        // no stage late beside its own times => the whole pipeline takes exactly as long as with everything kept
        std::mt19937 random(32);
        int inTime = 0;
        for (const ScheduleKind schedule :
            { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::ZbH1, ScheduleKind::ZbH2 })
            for (int trial = 0; trial < 150; ++trial) {
                PipelineCase c = randomPipeline(random, schedule);
                c.devices = 2 + trial % 4;
                c.microBatches = c.devices * (1 + trial % 3);
                c.store /= 4, c.load /= 4;
                PipelineCase keep = c;
                keep.offloads = false;
                const PipelineRun kept = offload::run(keep);
                const auto scripts = stageScripts(kept.costs, kept.timeline);
                bool isLate = false;
                for (const StageScript &script : scripts.front())
                    isLate |= rehearse(script, { segmentsOf(c).front() }, { c.ahead, 0, nullptr, {} }).isLate;
                if (isLate)
                    continue;
                ++inTime;
                QCOMPARE(offload::run(c).timeline.duration, kept.timeline.duration);
            }
        QVERIFY(inTime > 100);
    }

    void aBeginningEndsWithItsBackwards()
    {
        PipelineCase c;
        c.schedule = ScheduleKind::OneFOneB;
        c.devices = 2;
        const StageScript whole = scriptOf(c), part = beginningOf(whole, 3);
        QCOMPARE(whole.ops.size(), std::size_t(2 * c.microBatches));
        QVERIFY(makesGradient(part.ops.back().op.kind));
        QCOMPARE(std::ranges::count_if(part.ops, [](const ScriptedOp &op) { return makesGradient(op.op.kind); }),
            std::ptrdiff_t(3));
    }
};

TRAINYARD_APPLESS_TEST(TstRehearsal)
#include "tst_rehearsal.moc"
