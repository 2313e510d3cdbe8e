// SPDX-License-Identifier: GPL-3.0-or-later
// Scores hold what they claim around random plans of every kind: datacenters, links, unequal GPUs, profiles,
// offloading, experts, stacks.
#include "tests/core/evaluation/evaluate/random_valid_plans.h"
#include "tests/core/planner/score/score_claims.h"
#include "tests/support/search_spaces.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include <QtTest>

using namespace trainyard;
using namespace trainyard::test;

class TestScorerRandom : public QObject {
    Q_OBJECT

private slots:
    void claimsHoldAroundRandomPlans()
    {
        ClaimCounts counts;
        const int plans = trials(500);
        int tabled = 0;
        for (unsigned seed = 1; seed <= unsigned(plans); ++seed) {
            const PlanPtr plan = randomValidPlan(seed);
            const SearchSpace space(plan,
                { scheduleAxis(*plan, { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::DualPipeV }),
                    microBatchAxis(*plan, { 1, 2 }), zeroAxis(*plan, { 1, 3 }),
                    recomputeAxis(*plan, { Recompute::None, Recompute::Full }) });
            tabled += Scorer(space, builtinCatalogue()).isTabled();
            const std::string before = counts.broken;
            checkClaims(space, 2, seed, counts, true);
            if (counts.broken != before)
                counts.broken += " (plan " + std::to_string(seed) + ")";
        }
        qInfo("%d looked at around %d plans, %d tabled; %d refused, %d too large, %d open; bound over iteration: "
              "10 %% quantile %.4f, median %.4f",
            counts.looked, plans, tabled, counts.refused, counts.tooLarge, counts.open, counts.quantile(0.1),
            counts.quantile(0.5));
        QVERIFY2(counts.broken.empty(), counts.broken.c_str());
        QVERIFY(tabled > plans / 10);
        QVERIFY2(counts.workKnown > plans / 3, qPrintable(QString::number(counts.workKnown)));
        QVERIFY2(int(counts.computing.size()) > plans / 3, qPrintable(QString::number(counts.computing.size())));
    }
};

TRAINYARD_GUILESS_TEST(TestScorerRandom)
#include "tst_scorer_random.moc"
