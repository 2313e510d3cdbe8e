// SPDX-License-Identifier: GPL-3.0-or-later
// A search leaves plans out by bounds. Unequal GPUs that get micro-batches of sizes of their own are not faster, and do
// not fit sooner, than those say.
#include "core/evaluation/evaluate/run.h"
#include "core/planner/score/untabled.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::test;

class TestOwnSizesBounds : public QObject {
    Q_OBJECT

private slots:
    void aBoundLiesBelowWhatIsDealt()
    {
        int bounded = 0, ran = 0;
        EvaluationWorkspace workspace;
        for (const char *slow : { "a100-sxm-80gb", "l4-24gb", "t4-16gb" })
            for (const int tokens : { 128, 512, 2048 })
                for (const int size : { 1, 4 })
                    for (const StateSharing state : { StateSharing::Even, StateSharing::MinParams }) {
                        Plan plan = balanced(mixedReplicas());
                        plan.cluster.datacenters.front().pools.back().gpu = slow;
                        plan.workload.sequenceLength = tokens;
                        plan.workload.microBatch = size;
                        plan.heterogeneity.state = state;
                        plan.parallelism.zeroStage = 2;
                        plan.parallelism.data = 8;
                        const PlanPtr shared = std::make_shared<const Plan>(plan);
                        const UntabledScore score = untabledScore(shared, builtinCatalogue());
                        const auto evaluation = run(shared, Depth::Score, { builtinCatalogue(), workspace });
                        QVERIFY(evaluation);
                        bounded += score.leastSeconds > 0;
                        if (!(*evaluation)->feasible())
                            continue;
                        ++ran;
                        QVERIFY(score.leastFill <= 1);
                        QVERIFY2(score.leastSeconds <= *(*evaluation)->metrics.iterationTime,
                            qPrintable(QStringLiteral("%1, %2 tokens").arg(QLatin1String(slow)).arg(tokens)));
                    }
        QVERIFY2(bounded > 20 && ran > 20, qPrintable(QStringLiteral("%1 bounded, %2 ran").arg(bounded).arg(ran)));
    }
};

TRAINYARD_GUILESS_TEST(TestOwnSizesBounds)
#include "tst_own_sizes_bounds.moc"
