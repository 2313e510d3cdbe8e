// SPDX-License-Identifier: GPL-3.0-or-later
// A run whose arguments tell another job than the plan: nothing of the plan is held against it.
#include "core/runs/overlay/verdict.h"
#include "tests/support/test_program.h"

#include "tests/core/runs/overlay/sample_runs.h"
#include "tests/core/runs/overlay/small_runs.h"

#include <QTest>

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
};

TRAINYARD_APPLESS_TEST(TestOtherJob)
#include "tst_other_job.moc"
