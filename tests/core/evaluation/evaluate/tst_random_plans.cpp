// SPDX-License-Identifier: GPL-3.0-or-later
// What holds for the evaluation of any plan, on hundreds of random ones.
#include "tests/core/evaluation/evaluate/plan_checks.h"
#include "tests/core/evaluation/evaluate/random_valid_plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <set>

using namespace trainyard;
using namespace trainyard::test;

class TestRandomPlans : public QObject {
    Q_OBJECT

private slots:
    void sumsSharesAndSpansHold();
    void aReusedWorkspaceAnswersAsAFreshOne();
};

void TestRandomPlans::sumsSharesAndSpansHold()
{
    Findings findings;
    EvaluationWorkspace workspace;
    unsigned simulated = 0, feasible = 0;
    std::set<ScheduleKind> schedules;
    for (unsigned seed = 0; seed < randomPlans(); ++seed) {
        const auto evaluation = evaluate(randomValidPlan(seed), builtinCatalogue(), workspace, {}, Depth::Spans);
        findings.expect(evaluation.has_value() || evaluation.error().front().code != ErrorCode::Internal, seed,
            "no fault is the program's own: " + (evaluation ? std::string() : toString(evaluation.error().front())));
        if (!evaluation || !(*evaluation)->metrics.iterationTime)
            continue;
        ++simulated;
        feasible += (*evaluation)->feasible();
        schedules.insert((*evaluation)->plan->schedule);
        checkSums(findings, seed, (*evaluation)->metrics);
        checkShares(findings, seed, (*evaluation)->metrics);
        checkSpans(findings, seed, **evaluation);
    }
    qInfo("%u simulated, %u feasible", simulated, feasible);
    QVERIFY2(findings.text().empty(), findings.text().c_str());
    QCOMPARE(schedules.size(), std::size_t(ScheduleKind::Atlas) + 1);
    QVERIFY2(simulated > randomPlans() / 2 && feasible > randomPlans() / 6, "the plans must be worth the look");
}

void TestRandomPlans::aReusedWorkspaceAnswersAsAFreshOne()
{
    Findings findings;
    EvaluationWorkspace reused;
    for (unsigned seed = 0; seed < randomPlans(); seed += 2) {
        const PlanPtr plan = randomValidPlan(seed);
        EvaluationWorkspace fresh;
        const auto a = evaluate(plan, builtinCatalogue(), reused, {}, Depth::Score);
        const auto b = evaluate(plan, builtinCatalogue(), fresh, {}, Depth::Score);
        findings.expect(a.has_value() == b.has_value(), seed, "both answer or neither");
        if (a && b)
            findings.expect(numbersOf(**a) == numbersOf(**b), seed, "both answer alike");
    }
    QVERIFY2(findings.text().empty(), findings.text().c_str());
}

TRAINYARD_APPLESS_TEST(TestRandomPlans)
#include "tst_random_plans.moc"
