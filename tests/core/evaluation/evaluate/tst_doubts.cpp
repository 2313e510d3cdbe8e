// SPDX-License-Identifier: GPL-3.0-or-later
// What was not understood of the source of a model is a problem of the plan: it blocks, or it widens the range.
#include "core/evaluation/report/comparison.h"
#include "core/evaluation/selection/selection.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/classic_model.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <fstream>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Plan planWith(Doubts doubts)
{
    Plan plan = oneSite(1, 1);
    plan.workload.model.clear();
    plan.workload.inlineModel = classicModel(2048, 16);
    plan.workload.inlineModel->doubts = std::move(doubts);
    return plan;
}

const Problem *problemOfModel(const Evaluation &evaluation)
{
    const auto found = std::ranges::find_if(evaluation.problems,
        [](const Problem &p) { return p.where == "workload.model" && p.text.find("Not understood") == 0; });
    return found == evaluation.problems.end() ? nullptr : &*found;
}

} // namespace

class TestDoubts : public QObject {
    Q_OBJECT

private slots:
    void aModelThatIsUnderstoodSaysNothing();
    void aShapeInDoubtIsNoPlanThatRuns();
    void whatMayBeOffWidensTheRangeAndLeavesTheTime();
    void thePlansFileKeepsTheDoubts();
    void aPathSaysTheSameAsTheModelInside();
    void nothingIsRankedOrComparedByIt();
    void whatAnImportDidNotUnderstandIsAProblemUntilItIsSettled();
};

void TestDoubts::aModelThatIsUnderstoodSaysNothing()
{
    QVERIFY(!problemOfModel(*evaluated(planWith({}))));
}

void TestDoubts::aShapeInDoubtIsNoPlanThatRuns()
{
    const EvaluationPtr evaluation =
        evaluated(planWith({ { "layer_types", "4 layers are of another kind", 0, 0, true } }));
    const Problem *problem = problemOfModel(*evaluation);
    QVERIFY(problem && problem->severity == Severity::Blocking);
    QVERIFY(problem->text.find("layer_types: 4 layers are of another kind") != std::string::npos);
    QVERIFY(!evaluation->feasible());
    QVERIFY(!evaluation->metrics.iterationTime && !evaluation->metrics.memory && !evaluation->metrics.mfu);
}

void TestDoubts::whatMayBeOffWidensTheRangeAndLeavesTheTime()
{
    const EvaluationPtr sure = evaluated(planWith({}));
    const EvaluationPtr unsure =
        evaluated(planWith({ { "a", "one thing", -0.2, 0.5, false }, { "b", "another", 0, 0.1, false } }));
    QVERIFY(unsure->feasible() == sure->feasible());
    QCOMPARE(*unsure->metrics.iterationTime, *sure->metrics.iterationTime);
    const Confidence &range = unsure->metrics.confidence, &narrow = sure->metrics.confidence;
    QVERIFY(range.label == "extrapolated" || range.label == "spec sheet");
    // Each side is at least what its doubts may add to the label's own: low (1 - 0.2), high (1 + 0.5)(1 + 0.1).
    QVERIFY(*range.iterationLow <= *narrow.iterationLow && *range.iterationLow <= 0.8 * *unsure->metrics.iterationTime);
    QVERIFY(*range.iterationHigh >= 1.65 * *unsure->metrics.iterationTime * (1 - 1e-12));
    const Problem *problem = problemOfModel(*unsure);
    QVERIFY(problem && problem->severity == Severity::Warning);
    QVERIFY2(problem->text.find("-20 % to +50 %") != std::string::npos, problem ? problem->text.c_str() : "");
    QCOMPARE(
        std::ranges::count_if(unsure->problems, [](const Problem &p) { return p.text.find("Not understood") == 0; }),
        2);
}

void TestDoubts::thePlansFileKeepsTheDoubts()
{
    const Plan plan = planWith({ { "layer_types", "some", -0.25, 0.5, true } });
    const auto again = parsePlan(formatPlan(plan), "plan.json");
    QVERIFY(again.has_value() && again->workload.inlineModel);
    QVERIFY(again->workload.inlineModel->doubts == plan.workload.inlineModel->doubts);
    QVERIFY(!evaluated(*again)->feasible());
}

void TestDoubts::aPathSaysTheSameAsTheModelInside()
{
    QTemporaryDir folder;
    const std::string path = folder.filePath("config.json").toStdString();
    std::ofstream(path)
        << R"({"model_type": "nemotron_h", "num_hidden_layers": 4, "hidden_size": 2048, "vocab_size": 32000,
        "num_attention_heads": 16, "intermediate_size": 8192, "hybrid_override_pattern": "M-M*"})";
    Plan plan = oneSite(1, 1);
    plan.workload.model = path;
    const EvaluationPtr evaluation = evaluated(plan);
    QVERIFY(!evaluation->feasible());
    const Problem *problem = problemOfModel(*evaluation);
    QVERIFY(problem && problem->severity == Severity::Blocking);
}

void TestDoubts::nothingIsRankedOrComparedByIt()
{
    const Plan plan = planWith({ { "zebra_stripes", "no key that is known", -0.5, 1, false } });
    EvaluationWorkspace workspace;
    Plan sites = threeSites(1, 2); // between which one could choose
    QVERIFY(selectDatacenters(std::make_shared<const Plan>(sites), builtinCatalogue(), workspace).has_value());
    sites.workload = plan.workload;
    const auto selected = selectDatacenters(std::make_shared<const Plan>(sites), builtinCatalogue(), workspace);
    QVERIFY(!selected && toString(selected.error().front()).find("zebra_stripes") != std::string::npos);
    const std::vector<NamedEvaluation> pair { { "sure", "a", evaluated(planWith({})) },
        { "unsure", "b", evaluated(plan) } };
    const std::string table = comparisonTable(pair);
    QVERIFY2(table.find("unsure is not compared: ") != std::string::npos, table.c_str());
    QVERIFY(comparisonJson(pair).find("\"iteration_time_s\": null") != std::string::npos
        || comparisonJson(pair).find("\"iteration_time_s\":null") != std::string::npos);
}

/// Of the sources of the plan, not of its model: one warning for all, and a fix that leaves them out.
void TestDoubts::whatAnImportDidNotUnderstandIsAProblemUntilItIsSettled()
{
    Plan plan = planWith({});
    const EvaluationPtr before = evaluated(plan);
    for (const char *key : { "--one", "--two", "--three", "--four" })
        plan.notUnderstood.push_back({ key, "no plan has it", -0.1, 0.5, false, {} });
    const auto read = parsePlan(formatPlan(plan), "plan.json");
    QVERIFY(read && read->notUnderstood == plan.notUnderstood);
    const EvaluationPtr doubted = evaluated(plan);
    const auto problem = std::ranges::find(doubted->problems, "not_understood", &Problem::where);
    QVERIFY(problem != doubted->problems.end() && problem->severity == Severity::Warning);
    QVERIFY(problem->text.find("--one: no plan has it") != std::string::npos
        && problem->text.find("--four") == std::string::npos && problem->text.find("and 1 more") != std::string::npos);
    QCOMPARE(*doubted->metrics.iterationTime, *before->metrics.iterationTime);
    QVERIFY(*doubted->metrics.confidence.iterationHigh > *before->metrics.confidence.iterationHigh
        && *doubted->metrics.confidence.iterationLow < *before->metrics.confidence.iterationLow);
    EvaluationWorkspace workspace;
    Plan sites = threeSites(1, 2); // between which one could choose
    sites.notUnderstood = plan.notUnderstood;
    QVERIFY(!selectDatacenters(std::make_shared<const Plan>(sites), builtinCatalogue(), workspace));
    const Plan settled = *problem->fixes.front().plan;
    QVERIFY(settled.notUnderstood.empty());
    QCOMPARE(evaluated(settled)->problems.size(), before->problems.size());
    plan.notUnderstood.front().isBlocking = true;
    QVERIFY(!evaluated(plan)->feasible());
    // Measured stages stand for the model, not for what the plan was made of
    Plan measured = planWith({ { "layer_types", "some", 0, 0, true } });
    measured.profile.emplace();
    measured.profile->forwardMs = { 10 };
    measured.profile->backwardMs = { 20 };
    QVERIFY(evaluated(measured)->feasible());
    measured.notUnderstood = plan.notUnderstood;
    QVERIFY(!evaluated(measured)->feasible());
}

TRAINYARD_APPLESS_TEST(TestDoubts)
#include "tst_doubts.moc"
