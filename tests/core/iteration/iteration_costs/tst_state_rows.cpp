// SPDX-License-Identifier: GPL-3.0-or-later
// Whole plans with states off the GPU: their rows tell where the time goes and change none of it.
#include "core/iteration/iteration_costs/iteration_costs.h"
#include "core/iteration/iteration_costs/state_rows.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include "core/engine/timeline/analysis.h"
#include "core/engine/timeline/simulator.h"
#include "core/evaluation/evaluate/metrics/metrics.h"
#include "core/evaluation/report/chrome_trace.h"
#include "core/evaluation/report/timeline_csv.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/graph/pipeline_graph.h"
#include "tests/core/evaluation/memory_fit/ladder_plans.h"

#include <QTest>

#include <algorithm>
#include <set>
#include <sstream>

using namespace trainyard;
using test::evaluated;
using test::oneNode;
using test::with;

namespace {

Plan offloading(OptimizerOffload optimizer, ParameterOffload parameters = ParameterOffload::None, int zero = 3)
{
    return with(oneNode(), [=](Plan &p) {
        p.memory.optimizerOffload = optimizer;
        p.memory.parameterOffload = parameters;
        p.parallelism.zeroStage = zero;
        p.stack.name = "megatron-deepspeed";
    });
}

/// Two stages over the node, gradients leaving with each backward.
Plan piped(ScheduleKind schedule, bool isDelayed)
{
    return with(offloading(OptimizerOffload::Ssd, ParameterOffload::Host), [=](Plan &p) {
        p.schedule = schedule;
        p.parallelism.pipeline = 2;
        p.parallelism.virtualPipeline = schedule == ScheduleKind::Interleaved ? 2 : 1;
        p.memory.delayedUpdate = isDelayed;
        p.stack.name = "ideal";
    });
}

Timeline timelineOf(const IterationCosts &costs)
{
    SimulationWorkspace workspace;
    return simulate(*buildPipelineGraph(costs), workspace).value();
}

Workload resolved(const Plan &plan)
{
    return test::workloadOf(*evaluated(plan));
}

std::set<Stream> streamsOf(const Timeline &timeline)
{
    std::set<Stream> streams;
    for (const Track &track : timeline.tracks)
        if (isOfStates(track.stream) && track.first < track.last)
            streams.insert(track.stream);
    return streams;
}

Nanoseconds busy(const Timeline &timeline, Stream stream)
{
    Nanoseconds sum = 0;
    for (const Track &track : timeline.tracks)
        for (std::uint32_t span = track.first; track.stream == stream && span < track.last; ++span)
            sum += timeline.end[span] - timeline.start[span];
    return sum;
}

constexpr ScheduleKind kSchedules[] = { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::Interleaved,
    ScheduleKind::ZbH1, ScheduleKind::ZbV, ScheduleKind::DualPipe, ScheduleKind::DualPipeV, ScheduleKind::Varuna,
    ScheduleKind::Atlas };

} // namespace

class StateRowsTest : public QObject {
    Q_OBJECT
private slots:
    void eachSwitchHasTheRowsOfItsOwn()
    {
        using enum Stream;
        const auto rows = [](const Plan &plan) { return streamsOf(evaluated(plan)->timeline); };
        QVERIFY(rows(offloading(OptimizerOffload::None)).empty());
        QCOMPARE(rows(offloading(OptimizerOffload::None, ParameterOffload::Host)), (std::set { WeightsIn }));
        QCOMPARE(rows(offloading(OptimizerOffload::Host, ParameterOffload::None, 1)),
            (std::set { StepToHost, StepCpu, StepToGpu }));
        QCOMPARE(rows(offloading(OptimizerOffload::Host)), (std::set { GradientsOut, StepCpu, StepToGpu }));
        QCOMPARE(rows(offloading(OptimizerOffload::Ssd, ParameterOffload::Ssd)),
            (std::set { WeightsIn, GradientsOut, StepDrive, StepCpu, StepToGpu }));
        const auto mixed = rows(offloading(OptimizerOffload::Interleaved));
        QVERIFY(mixed.contains(StepGpu) && mixed.contains(StepToHost));
    }

    /// Everything but the rows is the same without them: every span of the stages, the iteration, every metric of time.
    void metricsAreThoseOfATimelineWithoutTheRows()
    {
        for (const ScheduleKind schedule : kSchedules) {
            for (const bool isDelayed : { false, true }) {
                const Workload workload = resolved(piped(schedule, isDelayed));
                Costs costs = cost(workload).value();
                const Timeline with = timelineOf(costs.iteration);
                QVERIFY2(streamsOf(with).size() >= 4, toString(schedule));
                IterationCosts bare = costs.iteration;
                for (PipelineCosts &pipeline : bare.classes)
                    pipeline.states = {};
                const Timeline without = timelineOf(bare);
                QVERIFY2(with.duration == without.duration, toString(schedule));
                QCOMPARE(withoutRows(with), withoutRows(without));
                Metrics a, b;
                addTimeMetrics(a, workload, costs, with);
                addTimeMetrics(b, workload, costs, without);
                for (double Breakdown::*part : kBreakdownParts)
                    QCOMPARE(*a.breakdown.*part, *b.breakdown.*part);
                QCOMPARE(*a.iterationTime, *b.iterationTime);
                QCOMPARE(*a.gpuUtilization, *b.gpuUtilization);
                QCOMPARE(criticalPath(with).size(), criticalPath(without).size());
            }
        }
    }

    /// Rows of the step begin and end with the optimizer task that waits for them.
    void theStepLiesWithinTheOptimizerTask()
    {
        for (const OptimizerOffload place :
            { OptimizerOffload::Host, OptimizerOffload::Ssd, OptimizerOffload::Interleaved }) {
            const EvaluationPtr e = evaluated(offloading(place, ParameterOffload::None, 1));
            const Timeline &t = e->timeline;
            const auto optimizer = std::size_t(std::ranges::find(t.kind, WorkKind::Optimizer) - t.kind.begin());
            Nanoseconds first = t.duration, last = 0;
            for (const Track &track : t.tracks)
                for (std::uint32_t span = track.first; isOfStates(track.stream) && span < track.last; ++span) {
                    first = std::min(first, t.start[span]);
                    last = std::max(last, t.end[span]);
                }
            QCOMPARE(first, t.start[optimizer]);
            QVERIFY(last <= t.end[optimizer]);
            QVERIFY(last >= t.end[optimizer] - (t.end[optimizer] - t.start[optimizer]) / 50);
        }
    }

    /// A delayed update runs from the beginning of the iteration, shown at its end or not.
    void aDelayedStepRunsBesideTheIteration()
    {
        for (const int batch : { 16, 1024 }) {
            Plan plan = offloading(OptimizerOffload::Host, ParameterOffload::None, 1);
            plan.memory.delayedUpdate = true;
            plan.workload.globalBatch = batch;
            const EvaluationPtr e = evaluated(plan);
            const Timeline &t = e->timeline;
            const bool shows = std::ranges::find(t.kind, WorkKind::Optimizer) != t.kind.end();
            QCOMPARE(shows, batch < 1000);
            QCOMPARE(streamsOf(t).size(), std::size_t(3));
            for (const Track &track : t.tracks)
                if (track.stream == Stream::StepToHost)
                    QCOMPARE(t.start[track.first], 0);
            QVERIFY(std::abs(toSeconds(busy(t, Stream::StepToHost)).value / e->offloadedSteps[0][0].toHost.value - 1)
                < 1e-5);
        }
    }

    /// A step hides behind what a GPU computes; where two copies of the model share it, each micro-batch goes through
    /// one of them.
    void aDelayedStepHidesBehindWhatIsComputed()
    {
        for (const ScheduleKind schedule : kSchedules) {
            const Workload workload = resolved(piped(schedule, true));
            const Costs costs = cost(workload).value();
            const Timeline t = timelineOf(costs.iteration);
            for (const Track &track : t.tracks) {
                if (track.stream != Stream::Compute)
                    continue;
                Nanoseconds computed = 0, waited = 0;
                for (std::uint32_t span = track.first; span < track.last; ++span) {
                    computed += isTrainingCompute(t.kind[span]) ? t.end[span] - t.start[span] : 0;
                    waited += t.kind[span] == WorkKind::Optimizer ? t.end[span] - t.start[span] : 0;
                }
                const StageCosts &stage = costs.stages[std::size_t(track.pipelineClass)][std::size_t(track.stage)];
                const Seconds step = stage.step.time + stage.lateWrites;
                QVERIFY2(waited > 0, toString(schedule));
                QVERIFY2(std::abs(toSeconds(computed + waited) / step - 1) < 1e-6, toString(schedule));
            }
        }
    }

    /// Weights come before forward and before backward, gradients leave after backward: 2 P_l bytes each, whatever the
    /// schedule cuts.
    void layersMoveWhatTheyHold()
    {
        for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::ZbH1, ScheduleKind::Atlas }) {
            const Workload workload = resolved(piped(schedule, false));
            const Costs costs = cost(workload).value();
            const Timeline t = timelineOf(costs.iteration);
            double in = 0, out = 0;
            for (std::size_t c = 0; c < costs.stages.size(); ++c)
                for (const StageCosts &stage : costs.stages[c])
                    for (const ChunkCost &chunk : stage.chunks) {
                        in += 2 * chunk.weightsIn.value * costs.iteration.classes[c].program.shape.microBatches;
                        out += chunk.gradientsOut.value * costs.iteration.classes[c].program.shape.microBatches;
                    }
            QVERIFY(in > 0 && out > 0);
            QVERIFY(std::abs(toSeconds(busy(t, Stream::WeightsIn)).value / in - 1) < 1e-6);
            QVERIFY(std::abs(toSeconds(busy(t, Stream::GradientsOut)).value / out - 1) < 1e-6);
        }
    }

    void aMoveBeginsWithItsOperation()
    {
        const EvaluationPtr e = evaluated(piped(ScheduleKind::OneFOneB, false));
        const Timeline &t = e->timeline;
        int seen = 0;
        for (const Track &track : t.tracks)
            for (std::uint32_t span = track.first; track.stream == Stream::GradientsOut && span < track.last;
                 ++span, ++seen) {
                const std::uint32_t op = t.cause[span];
                QVERIFY(op != kNoSpan && t.kind[op] == WorkKind::Backward && t.microBatch[op] == t.microBatch[span]);
                QVERIFY(t.start[span] == t.start[op] && t.end[span] <= t.end[op]);
                QCOMPARE(t.tracks[t.trackOf[op]].stage, track.stage);
            }
        QVERIFY(seen > 0);
    }

    void exportsNameTheRows()
    {
        const EvaluationPtr e = evaluated(offloading(OptimizerOffload::Ssd, ParameterOffload::Host));
        std::ostringstream csv, trace;
        writeTimelineCsv(*e, csv);
        writeChromeTrace(*e, trace);
        for (const char *name : { "weights in", "gradients out", "drives", "CPU optimizer", "drive read", "drive write",
                 "weights to GPU" }) {
            QVERIFY2(csv.str().find(name) != std::string::npos, name);
            QVERIFY2(trace.str().find(name) != std::string::npos, name);
        }
    }

private:
    using Span = std::tuple<Stream, int, int, WorkKind, int, Nanoseconds, Nanoseconds>;
    static std::vector<Span> withoutRows(const Timeline &t)
    {
        std::vector<Span> spans;
        for (const Track &track : t.tracks)
            for (std::uint32_t span = track.first; !isOfStates(track.stream) && span < track.last; ++span)
                spans.emplace_back(track.stream, track.pipelineClass, track.stage, t.kind[span], t.microBatch[span],
                    t.start[span], t.end[span]);
        return spans;
    }
};

TRAINYARD_APPLESS_TEST(StateRowsTest)
#include "tst_state_rows.moc"
