// SPDX-License-Identifier: GPL-3.0-or-later
// One stage whose ranks compute longer: it is named, first, with what it costs; a healthy run names none. The truth is
// the same run without it.
#include "core/runs/overlay/slow_stages.h"

#include "core/runs/overlay/verdict.h"
#include "core/runs/overlay/work_of_ranks.h"
#include "tests/core/runs/overlay/recorded_run.h"
#include "tests/core/runs/overlay/small_runs.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr int kStages = 4;

/// Four stages of two replicas, one GPU each.
Plan staged()
{
    Plan plan = oneSite(1, kStages);
    plan.parallelism.tensor = 1;
    plan.parallelism.data = 2;
    plan.workload.globalBatch = 16;
    plan.workload.sequenceLength = 2048;
    plan.workload.model = "gpt-3-1.3b";
    return plan;
}

RecordedRun ran(const EvaluationPtr &plan, int stage, double factor, unsigned seed)
{
    RecordedRunOptions options;
    options.seed = seed;
    options.outlierShare = 0;
    options.noise = 0.01; // of two replicas the slower one ends a step, the more so the longer they take
    if (stage >= 0)
        for (const int rank : RankMap(*plan->plan, plan->layout).ranksOf(stage, 0, 2)) {
            RecordedRunOptions::Change change;
            change.rank = rank;
            change.computing = factor;
            options.changes.push_back(change);
        }
    return recordRun(plan, options);
}

/// Seconds from the end of a step to that of the next: ranks that are done begin the next one while others still
/// update.
double periodOf(const RecordedRun &run)
{
    const auto endOf = [&](std::size_t step) {
        double end = 0;
        for (const TrueRank &rank : run.ranks)
            end = std::max(end, rank.stepEnd[step]);
        return end;
    };
    const std::size_t last = run.stepSeconds.size() - 1;
    return (endOf(last) - endOf(0)) * 1e-9 / double(last);
}

RunVerdict judgedRun(const EvaluationPtr &plan, const RecordedRun &run)
{
    return verdictOf(*overlayRun(plan, makeRun(run.recording), {})).value();
}

} // namespace

class TestSlowStages : public QObject {
    Q_OBJECT

private slots:
    void aSlowStageIsNamedWithWhatItCosts_data()
    {
        QTest::addColumn<int>("stage");
        QTest::addColumn<double>("factor");
        for (int stage = 0; stage < kStages; ++stage)
            for (const double factor : { 1.08, 1.2, 1.4 })
                QTest::addRow("stage %d, %g times as long", stage + 1, factor) << stage << factor;
    }

    void aSlowStageIsNamedWithWhatItCosts()
    {
        QFETCH(int, stage);
        QFETCH(double, factor);
        const EvaluationPtr plan = evaluated(staged());
        const RecordedRun slow = ran(plan, stage, factor, 7), healthy = ran(plan, -1, 1, 7);
        const double truth = periodOf(slow) - periodOf(healthy);
        const RunVerdict verdict = judgedRun(plan, slow);
        QVERIFY(!verdict.causes.empty() && !verdict.stages.empty());
        const StageInRun &first = verdict.stages.front();
        const QByteArray told = QByteArray::fromStdString(verdict.headline + "; " + verdict.causes.front());
        QCOMPARE(first.stage, stage);
        QVERIFY2(std::abs(first.ratio / factor - 1) < 0.02, told);
        if (truth < 0.02 * periodOf(healthy))
            return;
        QVERIFY2(verdict.causes.front().starts_with("Stage " + std::to_string(stage + 1) + " computes"), told);
        QVERIFY2(
            std::abs(first.seconds / truth - 1) < 0.1, told + qPrintable(QStringLiteral(" %1 in truth").arg(truth)));
    }

    void aHealthyRunNamesNoStage()
    {
        const EvaluationPtr plan = evaluated(staged());
        for (unsigned seed = 1; seed <= 10; ++seed) {
            const RunVerdict verdict = judgedRun(plan, ran(plan, -1, 1, seed));
            QCOMPARE(int(verdict.stages.size()), kStages);
            for (const StageInRun &one : verdict.stages)
                QVERIFY2(one.sentence.empty() && std::abs(one.ratio - 1) < 0.02, one.sentence.c_str());
        }
    }

    /// Without a plan ranks of different stages are not alike, whatever they exchange: sends tell the stage.
    void withoutAPlanStagesAreToldBySends()
    {
        const EvaluationPtr plan = evaluated(staged());
        const RecordedRun recorded = ran(plan, 1, 1.2, 3);
        const RankMap map(*plan->plan, plan->layout);
        const RunPtr run = makeRun(recorded.recording);
        const std::vector<int> likes = likesOf(*run, RankMap());
        QCOMPARE(likes.size(), recorded.recording.ranks.size());
        for (std::size_t a = 0; a < likes.size(); ++a)
            for (std::size_t b = 0; b < likes.size(); ++b)
                QCOMPARE(likes[a] == likes[b],
                    map.placeOf(recorded.recording.ranks[a].rank).stage
                        == map.placeOf(recorded.recording.ranks[b].rank).stage);
        QVERIFY(findSuspects(*run, RankMap()).stragglers.empty());
    }
};

TRAINYARD_APPLESS_TEST(TestSlowStages)
#include "tst_slow_stages.moc"
