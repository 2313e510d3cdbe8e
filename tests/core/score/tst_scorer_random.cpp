// SPDX-License-Identifier: GPL-3.0-or-later
// Scores hold what they claim around random plans of every kind: datacenters, links, unequal GPUs, profiles,
// offloading, experts, stacks.
#include "tests/core/evaluate/random_valid_plans.h"
#include "tests/core/score/score_claims.h"
#include "tests/support/search_spaces.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace trainyard;
using namespace trainyard::test;

class TestScorerRandom : public QObject {
    Q_OBJECT

private slots:
    void claimsHoldAroundRandomPlans()
    {
        ClaimCounts counts;
        int tabled = 0;
        for (unsigned seed = 1; seed <= 3'000; ++seed) {
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
        qInfo("%d looked at around 3,000 plans, %d tabled; %d refused, %d too large, %d open; bound over iteration: "
              "10 %% quantile %.4f, median %.4f",
            counts.looked, tabled, counts.refused, counts.tooLarge, counts.open, counts.quantile(0.1),
            counts.quantile(0.5));
        QVERIFY2(counts.broken.empty(), counts.broken.c_str());
        QVERIFY(tabled > 300);
        QVERIFY2(counts.workKnown > 1'000, qPrintable(QString::number(counts.workKnown)));
        QVERIFY2(counts.computing.size() > 1'000, qPrintable(QString::number(counts.computing.size())));
    }
};

TRAINYARD_GUILESS_TEST(TestScorerRandom)
#include "tst_scorer_random.moc"
