// SPDX-License-Identifier: GPL-3.0-or-later
// What is offered where pins cannot be kept: plans that were looked at, and can run.
#include "tests/core/evaluation/advice/with_fixes.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

const Problem &blocking(const Evaluation &evaluation)
{
    return *std::ranges::find_if(
        evaluation.problems, [](const Problem &p) { return p.severity == Severity::Blocking; });
}

/// Four pinned replicas take 80 of 64 samples.
Plan tooMuchPinned()
{
    Plan plan = balanced(mixedReplicas());
    plan.parallelism.data = 8;
    RankPin pin;
    pin.datacenter = "a";
    pin.pool = "slow";
    pin.microBatches = 20;
    plan.heterogeneity.assign = { pin };
    return plan;
}

} // namespace

class TestPinFixes : public QObject {
    Q_OBJECT

private slots:
    void nothingPinnedIsOfferedWhereThatRuns()
    {
        const auto evaluation = withFixes(tooMuchPinned());
        QVERIFY(!evaluation->feasible());
        const Problem &problem = blocking(*evaluation);
        QCOMPARE(problem.where, std::string("heterogeneity.assign"));
        QCOMPARE(problem.fixes.size(), 1u);
        QCOMPARE(problem.fixes.front().label, std::string("Nothing pinned"));
        QVERIFY(evaluated(*problem.fixes.front().plan)->feasible());
    }

    // Without pins it does not fit either: nothing is promised.
    void andNotWhereThatDoesNotFit()
    {
        Plan plan = tooMuchPinned();
        plan.workload.model = "gpt-3-20b";
        plan.parallelism.zeroStage = 0;
        const auto evaluation = withFixes(plan);
        QVERIFY(std::ranges::none_of(evaluation->problems, [](const Problem &problem) {
            return std::ranges::any_of(problem.fixes, [](const Fix &fix) { return fix.label == "Nothing pinned"; });
        }));
    }

    // Tensor groups are no share: they stay where the rest would do without pins.
    void tensorGroupsStayWhereSharesAreInTheWay()
    {
        Plan plan = tooMuchPinned();
        plan.parallelism.data = 6;
        plan.heterogeneity.assign.front().tensor = 2;
        plan.heterogeneity.assign.front().microBatches = 40;
        const auto evaluation = withFixes(plan);
        const Problem &problem = blocking(*evaluation);
        QCOMPARE(problem.fixes.size(), 1u);
        QCOMPARE(problem.fixes.front().label, std::string("No share pinned"));
        QCOMPARE(problem.fixes.front().plan->heterogeneity.assign.front().tensor, std::optional(2));
    }
};

TRAINYARD_APPLESS_TEST(TestPinFixes)
#include "tst_pin_fixes.moc"
