// SPDX-License-Identifier: GPL-3.0-or-later
// A machine that shares no code with the product runs a plan's job, healthy or with one cause of eight, and the verdict
// has to name that cause first with what it costs. The truth is the same run without it.
// TRAINYARD_CAUSE_RUNS=100 makes as many runs of each.
#include "tests/core/runs/causes/told_causes.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr int kUsualRuns = 3;

int runsOfEach()
{
    const int asked = qEnvironmentVariableIntValue("TRAINYARD_CAUSE_RUNS");
    return asked > 0 ? asked : kUsualRuns;
}

struct Judge {
    explicit Judge(Plan asked)
        : plan(std::make_shared<const Plan>(std::move(asked)))
        , evaluation(evaluated(*plan))
        , job(machineOf(evaluation))
    {
    }
    PlanPtr plan;
    EvaluationPtr evaluation;
    MachineJob job;
    QTemporaryDir folder;
};

Judge &judgeOf(MachineCause cause)
{
    static Judge dense(denseJob()), experts(expertJob());
    return cause == MachineCause::Experts ? experts : dense;
}

} // namespace

class TestCausesTold : public QObject {
    Q_OBJECT

private slots:
    void theCauseIsNamedFirstWithWhatItCosts_data()
    {
        QTest::addColumn<MachineCause>("cause");
        QTest::newRow("slow stage") << MachineCause::SlowStage;
        QTest::newRow("slow rank") << MachineCause::SlowRank;
        QTest::newRow("slow link") << MachineCause::SlowLink;
        QTest::newRow("congested fabric") << MachineCause::CongestedFabric;
        QTest::newRow("host-bound") << MachineCause::HostBound;
        QTest::newRow("imbalance of experts") << MachineCause::Experts;
        QTest::newRow("throttling") << MachineCause::Throttling;
        QTest::newRow("wrong plan") << MachineCause::WrongPlan;
    }

    void theCauseIsNamedFirstWithWhatItCosts()
    {
        QFETCH(MachineCause, cause);
        const Judge &judge = judgeOf(cause);
        const int runs = runsOfEach();
        int named = 0, right = 0;
        std::vector<double> off;
        for (int i = 0; i < runs; ++i) {
            const DrawnRun drawn = drawRun(judge.job, cause, std::uint64_t(cause) * 10000 + std::uint64_t(i));
            const MachineRun run = runMachine(judge.job, drawn.trouble, drawn.noise);
            const RunVerdict verdict = judgedText(run.text, judge.plan, judge.folder);
            const bool isFirst = !verdict.ranked.empty() && isNamed(verdict.ranked.front(), drawn.trouble, judge.job);
            const double error = isFirst ? verdict.ranked.front().seconds / drawn.moreSeconds - 1 : 1;
            named += isFirst;
            right += isFirst && std::abs(error) <= 0.1;
            if (isFirst)
                off.push_back(std::abs(error));
            if (!isFirst || std::abs(error) > 0.1)
                qInfo("run %d, severity %.3f at stage %d, %.2f %% of the step (%d drawn below): %s, off by %.1f %%", i,
                    drawn.trouble.severity, drawn.trouble.stage,
                    100 * drawn.moreSeconds / (drawn.healthySeconds + drawn.moreSeconds), drawn.tooSmall,
                    verdict.ranked.empty() ? "nothing named" : verdict.ranked.front().sentence.c_str(), 100 * error);
        }
        std::ranges::sort(off);
        qInfo("named first %d of %d, seconds within 10 %% in %d; off by %.1f %% in the median, %.1f %% at most", named,
            runs, right, off.empty() ? 0 : 100 * off[off.size() / 2], off.empty() ? 0 : 100 * off.back());
        QVERIFY(20 * named >= 19 * runs);
        QVERIFY(20 * right >= 19 * runs);
    }

    void aHealthyRunNamesNobody()
    {
        for (const MachineCause job : { MachineCause::None, MachineCause::Experts }) {
            const Judge &judge = judgeOf(job);
            for (int i = 0; i < runsOfEach(); ++i) {
                const DrawnRun drawn = drawRun(judge.job, MachineCause::None, 900000 + std::uint64_t(i));
                const MachineRun run = runMachine(judge.job, {}, drawn.noise);
                const RunVerdict verdict = judgedText(run.text, judge.plan, judge.folder);
                if (i == 0)
                    qInfo("%s (%.4f s in truth, %.4f s predicted)", verdict.headline.c_str(), drawn.healthySeconds,
                        verdict.predictedSeconds);
                QVERIFY2(verdict.ranked.empty(), verdict.ranked.empty() ? "" : verdict.ranked.front().sentence.c_str());
            }
        }
    }
};

TRAINYARD_APPLESS_TEST(TestCausesTold)
#include "tst_causes_told.moc"
