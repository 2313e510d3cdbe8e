// SPDX-License-Identifier: GPL-3.0-or-later
// A plan of which something is not understood is set against no other, whoever advises; the same plan without it is.
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/advice/job_comparison.h"
#include "core/evaluation/advice/rok.h"
#include "core/evaluation/advice/sharing_results.h"
#include "core/evaluation/evaluate/comparable.h"
#include "core/evaluation/memory_fit/fit.h"
#include "core/evaluation/memory_fit/headroom_uses.h"
#include "core/evaluation/report/explanation.h"
#include "core/evaluation/report/html_report.h"
#include "core/evaluation/report/idle_changes.h"
#include "core/evaluation/report/markdown_report.h"
#include "core/evaluation/report/useful_parts.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;

namespace {

constexpr const char *kDoubt = "not compared: --zebra: is 4, which no plan takes";

PlanPtr shared(Plan plan)
{
    return std::make_shared<const Plan>(std::move(plan));
}

PlanPtr doubted(Plan plan)
{
    plan.notUnderstood = { { .key = "--zebra", .text = "is 4, which no plan takes", .low = -0.5, .high = 1 } };
    return shared(std::move(plan));
}

/// 4 nodes, with room for more than it holds.
Plan roomy()
{
    Plan plan = test::oneSite(4);
    plan.workload.globalBatch = 64;
    plan.memory.recompute = Recompute::Full;
    return plan;
}

Plan withJobs()
{
    Plan plan = test::oneSite(1, 1);
    plan.workload = {};
    for (const char *name : { "a", "b" }) {
        Job job;
        job.name = name;
        job.model = "gpt-3-1.3b";
        job.batch = 8;
        job.minibatches = 10;
        plan.jobs.push_back(job);
    }
    return plan;
}

} // namespace

class NotComparedTest : public QObject {
    Q_OBJECT
private:
    EvaluationWorkspace m_workspace;

private slots:
    void theReasonIsTheDoubtItself()
    {
        QCOMPARE(whyNotCompared(*test::evaluated(*doubted(roomy()))), std::string(kDoubt));
        QVERIFY(whyNotCompared(*test::evaluated(roomy())).empty());
        QCOMPARE(whyNotCompared(*test::evaluated(roomy()), *test::evaluated(*doubted(roomy()))), std::string(kDoubt));
    }

    void freeMemoryBuysNothingThatIsTold()
    {
        QVERIFY(!headroomSuggestions(shared(roomy()), builtinCatalogue(), m_workspace).offers.empty());
        QVERIFY(headroomSuggestions(doubted(roomy()), builtinCatalogue(), m_workspace).offers.empty());
    }

    void stepsThatMakeItFitTellNoTimes()
    {
        Plan large = test::oneSite(2, 2);
        large.workload.microBatch = 8;
        large.workload.globalBatch = 64;
        large.workload.model = "llama-3-70b";
        const Fitting told = fitModel(shared(large), builtinCatalogue(), m_workspace);
        const Fitting silent = fitModel(doubted(large), builtinCatalogue(), m_workspace);
        const auto isTimed = [](const LadderStep &step) { return step.iterationTime || step.slowdown; };
        QVERIFY(!told.steps.empty() && std::ranges::all_of(told.steps, isTimed));
        QVERIFY(!silent.steps.empty() && std::ranges::none_of(silent.steps, isTimed));
    }

    void noWayOfTreatingActivationsIsSetAgainstAnother()
    {
        QVERIFY(!rokCurve(shared(roomy()), builtinCatalogue(), m_workspace, {}).points.empty());
        const RokCurve curve = rokCurve(doubted(roomy()), builtinCatalogue(), m_workspace, {});
        QVERIFY(curve.points.empty() && !curve.gaps.empty());
        for (const RokGap &gap : curve.gaps)
            QCOMPARE(gap.why, std::string(kDoubt));
    }

    void noWayOfSharingIsEither()
    {
        RunPool &pool = RunPool::shared();
        const auto isTold = [](const SharingResult &result) { return result.isEvaluated; };
        const auto known = sharingResults(kSharingBaselines, shared(test::mixedReplicas()), builtinCatalogue(), pool);
        QVERIFY(std::ranges::any_of(known, isTold));
        const auto open = sharingResults(kSharingBaselines, doubted(test::mixedReplicas()), builtinCatalogue(), pool);
        QVERIFY(std::ranges::none_of(open, isTold));
        QVERIFY(std::ranges::none_of(open, [](const SharingResult &result) { return result.limits.has_value(); }));
        QVERIFY(std::ranges::any_of(open, [](const SharingResult &result) { return result.why == kDoubt; }));
    }

    void noSchedulerOfJobsIsEither()
    {
        const RunContext context { .catalogue = builtinCatalogue(), .workspace = m_workspace };
        const auto isTimed = [](const JobVariant &variant) { return variant.makespan().has_value(); };
        QVERIFY(std::ranges::any_of(jobSchedulers(shared(withJobs()), context, false), isTimed));
        const auto open = jobSchedulers(doubted(withJobs()), context, false);
        QVERIFY(!open.empty() && std::ranges::none_of(open, isTimed));
        QVERIFY2(open.front().note.find(kDoubt) != std::string::npos, open.front().note.c_str());
    }

    /// bf16 and fp16 have two bytes each, so that nothing is known to change: in a plan that is understood.
    void noSettingIsSaidToChangeNothing()
    {
        const auto idleOf = [&](const PlanPtr &plan) {
            Plan before = *plan;
            before.workload.precision = Precision::Fp16;
            return idleChanges(shared(before), *test::evaluated(*plan), builtinCatalogue(),
                [](const PlanPtr &one) { return test::evaluated(*one); });
        };
        QCOMPARE(idleOf(shared(roomy())).size(), std::size_t(1));
        QVERIFY(idleOf(doubted(roomy())).empty());
    }

    void reportsAndExplanationsSayWhyInstead()
    {
        const EvaluationPtr known = test::evaluated(test::threeSites(2)),
                            open = test::evaluated(*doubted(test::threeSites(2)));
        QVERIFY(!usefulParts(*known, builtinCatalogue()).empty());
        QVERIFY(usefulParts(*open, builtinCatalogue()).empty());
        const std::string said = "Not compared: --zebra: is 4, which no plan takes.";
        const std::string table = explanationTable(*open), html = htmlReport({ { "open", "open", open, {} } }),
                          markdown = markdownReport({ { "open", "open", open, {} } });
        for (const std::string *text : { &table, &html })
            QVERIFY2(text->find(said) != std::string::npos, text->substr(0, 3000).c_str());
        QVERIFY2(markdown.find("Not compared:") != std::string::npos, markdown.substr(0, 3000).c_str());
        QVERIFY(explanationTable(*known).find("Not compared") == std::string::npos);
        const std::string both = htmlReport({ { "known", "known", known, {} }, { "open", "open", open, {} } });
        QVERIFY(both.find("class=\"change good\"") == std::string::npos);
        QVERIFY(both.find("class=\"change bad\"") == std::string::npos);
    }
};

TRAINYARD_APPLESS_TEST(NotComparedTest)
#include "tst_not_compared.moc"
