// SPDX-License-Identifier: GPL-3.0-or-later
// A run's verdict: its parts add up to both steps, and it names what was put into the run.
#include "core/runs/overlay/verdict.h"
#include "tests/support/test_program.h"

#include "core/runs/overlay/communication_kind.h"
#include "tests/core/runs/overlay/recorded_run.h"
#include "tests/core/runs/overlay/sample_runs.h"
#include "tests/core/runs/overlay/small_runs.h"

#include <QTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

bool says(const std::string &text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

/// Σ parts = step, on both sides.
bool addsUp(const RunVerdict &verdict)
{
    double predicted = 0, measured = 0;
    for (const VerdictPart &part : verdict.parts) {
        predicted += part.predicted;
        measured += part.measured;
    }
    return std::abs(predicted - verdict.predictedSeconds) < 1e-9 && std::abs(measured - verdict.measuredSeconds) < 1e-9;
}

const VerdictPart *partOf(const RunVerdict &verdict, std::string_view what)
{
    for (const VerdictPart &part : verdict.parts)
        if (says(part.what, what))
            return &part;
    return nullptr;
}

RunVerdict judged(const EvaluationPtr &plan, const RunPtr &run)
{
    const auto verdict = verdictOf(*overlayRun(plan, run, {}));
    if (!verdict)
        qFatal("%s", toString(verdict.error()).c_str());
    return *verdict;
}

QByteArray textOf(const RunVerdict &verdict)
{
    std::string text = verdict.headline + "\n";
    for (const VerdictPart &part : verdict.parts)
        text += part.what + " " + std::to_string(part.predicted) + " " + std::to_string(part.measured) + " ("
            + part.evidence + ")\n";
    for (const std::string &cause : verdict.causes)
        text += "cause: " + cause + "\n";
    for (const std::string &doubt : verdict.doubts)
        text += "doubt: " + doubt + "\n";
    return QByteArray::fromStdString(text);
}

/// A log of `steps` steps, the first of them slow, of a plan that takes `planned`.
SmallRecording logOf(double seconds, int steps = 10)
{
    SmallRecording made;
    std::vector<double> times(std::size_t(steps), seconds);
    times.front() = 3 * seconds;
    made.series(samples::kStepTime, 1, times);
    return made;
}

} // namespace

class TestVerdict : public QObject {
    Q_OBJECT
private slots:
    void whatWasPutInIsNamed_data()
    {
        QTest::addColumn<int>("injected");
        QTest::addColumn<QString>("headline");
        QTest::addColumn<QString>("cause");
        QTest::newRow("slow gradients") << 0 << "in exposed all-reduce"
                                        << "network carries less";
        QTest::newRow("slow group of gradients") << 1 << "in exposed all-reduce"
                                                 << "group data 2.";
        QTest::newRow("straggler") << 2 << "waiting for stragglers"
                                   << "computes";
        QTest::newRow("slow host") << 3 << "in host"
                                   << "launch";
        QTest::newRow("slow computing") << 4 << "in compute"
                                        << "reach less of their peak";
        QTest::newRow("slow tensor group") << 5 << "of tensor parallelism"
                                           << "NVLink";
    }

    void whatWasPutInIsNamed()
    {
        QFETCH(int, injected);
        QFETCH(QString, headline);
        QFETCH(QString, cause);
        const EvaluationPtr plan = evaluatedSample(smallSamples()[0]);
        for (unsigned seed = 1; seed <= 3; ++seed) {
            RecordedRunOptions options;
            options.seed = seed;
            switch (injected) {
            case 0:
                options.dataFactor = 20;
                break;
            case 1:
                options.slowGroup = { 2, 40 };
                break;
            case 2:
                options.straggler = 5;
                options.stragglerFactor = 1.5;
                break;
            case 3:
                options.hostFactor = 100;
                break;
            case 4:
                options.computeFactor = 1.5;
                break;
            default:
                options.tensorFactor = 8;
            }
            const RunVerdict verdict = judged(plan, makeRun(recordRun(plan, options).recording));
            const QByteArray told = textOf(verdict);
            QVERIFY2(addsUp(verdict), told);
            QVERIFY2(says(verdict.headline, "slower than predicted") || says(verdict.headline, "× as long"), told);
            QVERIFY2(says(verdict.headline, headline.toStdString()), told);
            QVERIFY2(hasNote(verdict.causes, cause.toStdString()), told);
            // The parts stand in the order of how much they differ
            for (std::size_t i = 1; i < verdict.parts.size(); ++i)
                QVERIFY(std::abs(verdict.parts[i - 1].measured - verdict.parts[i - 1].predicted)
                    >= std::abs(verdict.parts[i].measured - verdict.parts[i].predicted));
        }
    }

    void aRunAsPlannedIsInRange()
    {
        for (const SmallSample &sample : smallSamples()) {
            const EvaluationPtr plan = evaluatedSample(sample);
            RecordedRunOptions options;
            options.noise = options.outlierShare = 0;
            const RunVerdict verdict = judged(plan, makeRun(recordRun(plan, options).recording));
            QVERIFY2(addsUp(verdict), textOf(verdict));
            const double ratio = verdict.measuredSeconds / verdict.predictedSeconds;
            const Confidence &range = plan->metrics.confidence;
            QCOMPARE(verdict.isInRange,
                plan->feasible() && verdict.measuredSeconds >= *range.iterationLow
                    && verdict.measuredSeconds <= *range.iterationHigh);
            if (plan->feasible() && std::abs(ratio - 1) < 0.05)
                QVERIFY2(verdict.isInRange && verdict.headline.starts_with("In range: "), textOf(verdict));
        }
    }

    /// Exposed communication of each rank is the sum of what its groups and operations take, and they are the plan's.
    void exposedPartsAddUpToCommunication()
    {
        for (const SmallSample &sample : smallSamples()) {
            const EvaluationPtr plan = evaluatedSample(sample);
            const RunPtr run = makeRun(recordRun(plan, {}).recording);
            const RankMap map(*plan->plan, plan->layout);
            for (const RankStep &rank : sharesOf(*run, run->steps[2])) {
                double sum = 0;
                for (const ExposedPart &part : rank.exposed) {
                    sum += part.seconds;
                    QVERIFY(part.seconds > 0);
                    if (part.group == kNoIndex)
                        continue;
                    // The generator calls its groups by what they are for
                    const std::string &name = run->recording->groups[part.group].name;
                    const CommunicationKind kind = communicationKind(part, *run->recording, map, *plan->plan);
                    QCOMPARE(kind == CommunicationKind::Tensor, name.starts_with("tensor"));
                    QCOMPARE(kind == CommunicationKind::Gradients,
                        name.starts_with("data") || (name == "world" && map.stages() == 1 && map.replicas() > 1));
                    QCOMPARE(kind == CommunicationKind::Pipeline, name.starts_with("pipeline"));
                }
                QVERIFY(std::abs(sum - rank.shares.communication) < 1e-9);
            }
        }
    }

    void aLogWithoutTimersIsOnePart()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        const double planned = *plan->metrics.iterationTime;
        const RunVerdict slow = judged(plan, logOf(1.6 * planned).run());
        QVERIFY2(addsUp(slow) && slow.parts.size() == 1 && !slow.isInRange, textOf(slow));
        QCOMPARE(slow.parts[0].what, std::string("not told apart"));
        QCOMPARE(slow.headline, std::string("60 % slower than predicted: nothing tells where"));
        QVERIFY(!slow.causes.empty());
        QVERIFY2(hasNote(slow.doubts, "--timing-log-level"), textOf(slow));
        const RunVerdict fast = judged(plan, logOf(0.4 * planned).run());
        QCOMPARE(fast.headline, std::string("60 % faster than predicted: nothing tells where"));
        const RunVerdict same = judged(plan, logOf(planned).run());
        QCOMPARE(same.headline, std::string("In range: as long as predicted"));
        QVERIFY(same.causes.empty() && same.isInRange);
        const RunVerdict few = judged(plan, logOf(planned, 3).run());
        QVERIFY2(hasNote(few.doubts, "Only 2 steps count, after one step of warm-up"), textOf(few));
    }

    /// No GPU is faster than its peak: units, another GPU or another model are behind such a rate.
    void aRateAboveThePeakIsInDoubt()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        const double planned = *plan->metrics.iterationTime;
        const double peak = *plan->metrics.modelTflopsPerGpu / *plan->metrics.mfu;
        const auto doubtsOfRate = [&](const char *series, double value) {
            SmallRecording made = logOf(planned);
            made.series(series, 1, std::vector<double>(10, value));
            return judged(plan, made.run()).doubts;
        };
        QVERIFY(!hasNote(doubtsOfRate(samples::kTflopsPerGpu, 0.9 * peak), "more than the peak"));
        QVERIFY(hasNote(doubtsOfRate(samples::kTflopsPerGpu, 1.1 * peak), "TFLOP/s per GPU, more than the peak"));
        QVERIFY(!hasNote(doubtsOfRate(samples::kMfu, 0.9), "no GPU reaches"));
        QVERIFY(hasNote(doubtsOfRate(samples::kMfu, 1.1), "an MFU of 110 %, which no GPU reaches"));
        // as long a step as only a GPU beyond its peak would take
        const double least = planned * *plan->metrics.mfu;
        QVERIFY(!hasNote(judged(plan, logOf(1.1 * least).run()).doubts, "more than the peak"));
        QVERIFY(hasNote(judged(plan, logOf(0.9 * least).run()).doubts, "more than the peak"));
    }

    void timersOfALogTellWhere()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        const Breakdown &p = *plan->metrics.breakdown;
        const double planned = p.total();
        // 0.8 of the planned step more, in the exchange of gradients
        SmallRecording made = logOf(1.8 * planned, 40);
        const auto timer = [&](const char *name, double seconds) {
            made.series(std::string(samples::kTimerPrefix) + name, 1, std::vector<double>(40, seconds));
        };
        const double exposed = p.dataParallel - p.dataParallelInSpans;
        timer("grads-all-reduce", exposed + 0.8 * planned);
        timer("optimizer.min", p.optimizer - 0.01 * p.optimizer);
        timer("optimizer.max", p.optimizer + 0.01 * p.optimizer);
        const RunVerdict verdict = judged(plan, made.run());
        QVERIFY2(addsUp(verdict), textOf(verdict));
        QCOMPARE(verdict.headline, std::string("80 % slower than predicted, all of it in exposed all-reduce"));
        const VerdictPart *part = partOf(verdict, "exposed all-reduce");
        QVERIFY(part && std::abs(part->measured - exposed - 0.8 * planned) < 1e-9);
        QCOMPARE(part->evidence, std::string("timer grads-all-reduce, median of 39 steps"));
        const VerdictPart *rest = partOf(verdict, "not told apart");
        QVERIFY(rest && std::abs(rest->measured - rest->predicted) < 1e-9);
        QVERIFY(std::abs(partOf(verdict, "optimizer")->measured - p.optimizer) < 1e-9);
    }

    /// Megatron-LM since 2024: gradients are exchanged inside forward-backward, parameters inside the optimizer.
    void timersInsideOthersAreCountedOnce()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        SmallRecording made = logOf(10, 8);
        const auto timer = [&](const char *name, double seconds) {
            made.series(std::string(samples::kTimerPrefix) + name, 1, std::vector<double>(8, seconds));
        };
        timer("forward-backward", 8);
        timer("all-grads-sync", 2);
        timer("batch-generator", 0.5);
        timer("optimizer", 1.5);
        timer("params-all-gather", 1);
        const RunVerdict verdict = judged(plan, made.run());
        QVERIFY2(addsUp(verdict), textOf(verdict));
        QCOMPARE(partOf(verdict, "forward and backward")->measured, 8 - 2 - 0.5);
        QCOMPARE(partOf(verdict, "exposed")->measured, 2 + 1.0);
        QCOMPARE(partOf(verdict, "optimizer")->measured, 0.5);
        QCOMPARE(partOf(verdict, "making batches")->measured, 0.5);
        QCOMPARE(partOf(verdict, "not told apart")->measured, 10 - 8 - 1.5);
    }

    void timersThatDoNotFitAreNotUsed()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        SmallRecording made = logOf(1, 8);
        made.series("timer.optimizer", 1, std::vector<double>(8, 1.5));
        const RunVerdict verdict = judged(plan, made.run());
        QVERIFY2(addsUp(verdict) && verdict.parts.size() == 1, textOf(verdict));
        QVERIFY(hasNote(verdict.doubts, "more than the step"));
    }

    void whatSamplesShowIsACause()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        const double planned = *plan->metrics.iterationTime;
        SmallRecording made = logOf(1.5 * planned);
        made.series(samples::kMemoryAllocated, 1, { 0.97 * double(plan->metrics.memory->capacity) });
        std::vector<double> seconds, clocks, watts;
        for (int i = 0; i < 20; ++i) {
            seconds.push_back(i);
            clocks.push_back(i < 10 ? 1.98e9 : 1.2e9);
            watts.push_back(i < 10 ? 640 : 699);
        }
        made.overTime(samples::kSmClock, seconds, clocks, "node0/gpu3");
        made.overTime(samples::kPower, seconds, watts, "node0/gpu3");
        const RunVerdict verdict = judged(plan, made.run());
        QVERIFY2(hasNote(verdict.causes, "Memory is full to"), textOf(verdict));
        QVERIFY2(hasNote(verdict.causes, "50.0 % of the samples"), textOf(verdict));
        QVERIFY2(hasNote(verdict.causes, "at 699 W: power or temperature"), textOf(verdict));
    }

    void aRunOfAnotherSizeIsAnotherJob()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        SmallRecording made = logOf(2 * *plan->metrics.iterationTime);
        made.m_recording.arguments["world_size"] = "16";
        const RunVerdict verdict = judged(plan, made.run());
        QVERIFY2(verdict.headline.starts_with("Another job: 16 ranks, plan 64. A step takes "), textOf(verdict));
    }

    /// allocated = weights + gradients + optimizer at rest, max allocated - allocated = activations and buffers, max
    /// reserved - max allocated = reserve, used - max reserved = what lies outside the allocator.
    void memoryIsJudgedLikeWithLikeAndAddsUp()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        QVERIFY(plan->metrics.memory);
        const StageMemory &own = plan->metrics.memory->perStage[std::size_t(plan->metrics.memory->fullestStage)];
        const double states = double(own.weights + own.gradients + own.optimizer), peak = double(own.peak);
        SmallRecording made;
        made.series("log.memory allocated", 5, { states });
        made.series(samples::kMemoryAllocated, 5, { peak + 3e9 });
        made.series(samples::kMemoryReserved, 5, { double(own.reserved) + 4e9 });
        made.series(samples::kMemoryUsed, 5, { double(own.device) + 4e9 });
        const auto check = [&](MemoryLevel level, double predicted, double measured, std::size_t parts) {
            const RunVerdict verdict = judged(plan, made.run());
            QVERIFY(!verdict.isTimed && verdict.parts.empty() && verdict.memory);
            const MemoryVerdict &memory = *verdict.memory;
            QVERIFY(memory.level == level);
            QCOMPARE(memory.parts.size(), parts);
            double sums[2] = { 0, 0 };
            for (const VerdictPart &part : memory.parts) {
                sums[0] += part.predicted;
                sums[1] += part.measured;
            }
            QVERIFY(std::abs(sums[0] - predicted) < 1 && std::abs(sums[1] - measured) < 1);
            QVERIFY(std::abs(memory.predictedBytes - predicted) < 1 && std::abs(memory.measuredBytes - measured) < 1);
            QVERIFY2(says(verdict.headline, "no step is timed"), textOf(verdict));
            QVERIFY2(hasNote(verdict.doubts, "No step was timed: a log with a few iterations"), textOf(verdict));
        };
        check(MemoryLevel::Device, double(own.device), double(own.device) + 4e9, 4);
        const RunVerdict verdict = judged(plan, made.run());
        QVERIFY2(says(verdict.headline, "more memory than predicted, most of it in activations and buffers"),
            textOf(verdict));
        made.m_recording.series.pop_back();
        check(MemoryLevel::Reserved, double(own.reserved), double(own.reserved) + 4e9, 3);
        made.m_recording.series.pop_back();
        check(MemoryLevel::Allocated, peak, peak + 3e9, 2);
        made.m_recording.series.erase(made.m_recording.series.begin());
        check(MemoryLevel::Allocated, peak, peak + 3e9, 1);
    }

    /// A log with steps tells memory, too, and stays a verdict on time.
    void aTimedRunIsJudgedByItsMemoryAsWell()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        SmallRecording made = logOf(*plan->metrics.iterationTime);
        made.series(samples::kMemoryAllocated, 5, { double(plan->metrics.memory->peak) });
        const RunVerdict verdict = judged(plan, made.run());
        QVERIFY(verdict.isTimed && addsUp(verdict) && verdict.memory);
        QVERIFY2(says(verdict.memory->headline, "as much memory as predicted"), verdict.memory->headline.c_str());
        QVERIFY(verdict.memory->causes.empty());
    }

    void theFirstIterationAloneIsSaidToBeIt()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        SmallRecording made;
        made.series(samples::kStepTime, 1, { 2 * *plan->metrics.iterationTime });
        const RunVerdict verdict = judged(plan, made.run());
        QVERIFY2(verdict.headline.starts_with("The first iteration alone, with warm-up in it: "), textOf(verdict));
        QVERIFY2(hasNote(verdict.doubts, "only step is its first iteration"), textOf(verdict));
        SmallRecording later;
        later.series(samples::kStepTime, 30, { 2 * *plan->metrics.iterationTime });
        QVERIFY(!says(judged(plan, later.run()).headline, "first iteration"));
    }

    void aPlanThatCannotRunIsNotTheRuns()
    {
        Plan tight = oneSite(8);
        tight.workload.microBatch = 4;
        tight.workload.sequenceLength *= 16;
        const EvaluationPtr plan = evaluated(tight);
        QVERIFY(!plan->feasible());
        QVERIFY(plan->metrics.iterationTime);
        const RunVerdict verdict = judged(plan, logOf(*plan->metrics.iterationTime).run());
        QVERIFY2(!verdict.isInRange && verdict.doubts.front().starts_with("The plan cannot run"), textOf(verdict));
    }

    void withoutStepsOrPlanThereIsNoVerdict()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        SmallRecording none;
        QVERIFY(!verdictOf(*overlayRun(plan, none.run(), {})).has_value());
        QVERIFY(!verdictOf(*overlayRun(nullptr, logOf(1).run(), {})).has_value());
    }
};

TRAINYARD_GUILESS_TEST(TestVerdict)
#include "tst_verdict.moc"
