// SPDX-License-Identifier: GPL-3.0-or-later
// A run whose arguments tell another job than the plan: nothing of the plan is held against it.
#include "core/facts/plan/plan_io.h"
#include "core/runs/overlay/verdict.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/support/test_program.h"

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

RunVerdict judged(const EvaluationPtr &plan, SmallRecording &made)
{
    const auto verdict = verdictOf(*overlayRun(plan, made.run(), {}));
    if (!verdict)
        qFatal("%s", toString(verdict.error()).c_str());
    return *verdict;
}

std::string textOf(const RunVerdict &verdict)
{
    std::string text = verdict.headline;
    for (const std::vector<std::string> *all : { &verdict.causes, &verdict.doubts })
        for (const std::string &sentence : *all)
            text += "\n" + sentence;
    return text;
}

} // namespace

class TestOtherJob : public QObject {
    Q_OBJECT

private slots:
    /// Three times as fast, by its own batch: that it is another job stands first, and nothing is held against the
    /// plan.
    void anotherJobIsSaidFirstAndComparedWithNothing()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        SmallRecording made;
        made.series(samples::kStepTime, 1, std::vector<double>(10, *plan->metrics.iterationTime / 3));
        made.series(samples::kMemoryReserved, 1, { 40e9 });
        const RunVerdict same = judged(plan, made);
        QVERIFY(same.isCompared && says(same.headline, "faster than predicted"));
        const int batch = plan->plan->workload.globalBatch;
        made.m_recording.arguments["global_batch_size"] = std::to_string(batch / 2);
        const RunVerdict other = judged(plan, made);
        const std::string first = "Another job: sequences per step " + std::to_string(batch / 2) + ", plan "
            + std::to_string(batch) + ". A step takes ";
        QVERIFY2(other.headline.starts_with(first), textOf(other).c_str());
        QVERIFY2(!says(textOf(other), "predicted"), textOf(other).c_str());
        QVERIFY(!other.isCompared && !other.isInRange);
        QVERIFY(other.parts.empty() && other.stages.empty() && other.causes.empty());
        QVERIFY(other.memory && other.memory->parts.empty() && !says(other.memory->headline, "predicted"));
        const RunOverlayPtr overlay = overlayRun(plan, made.run(), {});
        QVERIFY(says(overlay->differences.otherJob, "sequences per step"));
        for (const RunCurve &curve : overlay->curves)
            QVERIFY2(!curve.predicted, curve.title.c_str());
    }
    /// No argument is told, but each step prints its batch. One that grows may reach the plan's.
    void aBatchThatEachStepPrintsIsOfTheJob()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        const double batch = plan->plan->workload.globalBatch, seconds = *plan->metrics.iterationTime;
        const auto headlineOf = [&](const std::vector<double> &printed) {
            SmallRecording made;
            made.series(samples::kStepTime, 1, std::vector<double>(4, seconds));
            made.series(samples::kGlobalBatch, 1, printed);
            return judged(plan, made).headline;
        };
        QVERIFY(headlineOf({ batch / 4, batch / 4, batch / 4, batch / 4 }).starts_with("Another job: sequences per"));
        for (const auto &printed : { std::vector(4, batch), { batch / 4, batch / 4, batch / 2, batch } })
            QVERIFY2(!headlineOf(printed).starts_with("Another job"), headlineOf(printed).c_str());
    }
    /// Twice the plan's peak may be FP8 beside BF16; ten times is another GPU.
    void aRateThatNoGpuOfThePlanReachesIsOfAnotherJob()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        const double peak = *plan->metrics.modelTflopsPerGpu / *plan->metrics.mfu;
        const auto headlineAt = [&](double rate) {
            SmallRecording made;
            made.series(samples::kStepTime, 1, std::vector<double>(4, *plan->metrics.iterationTime));
            made.series(samples::kTflopsPerGpu, 1, std::vector<double>(4, rate));
            return judged(plan, made).headline;
        };
        QVERIFY2(!headlineAt(2 * peak).starts_with("Another job"), headlineAt(2 * peak).c_str());
        QVERIFY2(headlineAt(10 * peak).starts_with("Another job: ")
                && says(headlineAt(10 * peak), "TFLOP/s per GPU, of which the plan's makes"),
            headlineAt(10 * peak).c_str());
    }
    /// The world that arguments tell is not the plan's: steps and curves stand beside nothing.
    void aRunOnOtherGpusIsComparedWithNothing()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        SmallRecording made;
        made.series(samples::kStepTime, 1, std::vector<double>(4, 3 * *plan->metrics.iterationTime));
        made.m_recording.arguments["world_size"] = "24";
        const RunOverlayPtr overlay = overlayRun(plan, made.run(), {});
        QCOMPARE(overlay->differences.otherJob, std::string("24 ranks, plan 64"));
        for (const RunCurve &curve : overlay->curves)
            QVERIFY2(!curve.predicted, curve.title.c_str());
        QVERIFY(!judged(plan, made).isCompared);
    }
    /// A run on the plan's own machine, whose ranks do not wait for each other: what its median step takes is said of
    /// the verdict, of the table of its typical step and of the steps alike.
    void aStepHasOneTimeEverywhere()
    {
        const std::string folder = TRAINYARD_SOURCE_DIR "/samples/real-run/";
        auto recording = readSources({ folder + "100mbit-20ms.trainyard-recording" }, {}, 2);
        const auto plan = readPlan(folder + "two-datacenters.trainyard.json");
        QVERIFY(recording && plan);
        const EvaluationPtr evaluation = evaluated(*plan);
        const RunOverlayPtr overlay = overlayRun(evaluation, makeRun(std::move(*recording)), {});
        const RunStep &step = overlay->run->steps[std::size_t(overlay->step)];
        QVERIFY(std::abs(overlay->differences.measuredSeconds - step.seconds) < 1e-9);
        double sum = 0;
        for (const DifferenceRow &row : overlay->differences.rows)
            sum += row.measured;
        QVERIFY(std::abs(sum - step.seconds) < 1e-9);
        const auto verdict = verdictOf(*overlay);
        QVERIFY(verdict && verdict->isCompared);
        QVERIFY(std::abs(verdict->measuredSeconds - overlay->run->medianSeconds) < 1e-9);
        QVERIFY(std::abs(step.seconds / overlay->run->medianSeconds - 1) < 0.002);
        sum = 0;
        for (const VerdictPart &part : verdict->parts)
            sum += part.measured;
        QVERIFY(std::abs(sum - verdict->measuredSeconds) < 1e-9);
    }
};

TRAINYARD_APPLESS_TEST(TestOtherJob)
#include "tst_other_job.moc"
