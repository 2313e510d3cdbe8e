// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan is told about GPUs that hold no stage and about stages that have no layer: the true reason, and fixes
// that were evaluated.
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/report/because.h"
#include "tests/support/test_program.h"

#include <QTest>

#include "tests/support/plans.h"

#include <algorithm>
#include <numeric>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// 32 GPUs in each of two datacenters, 16 a replica.
Plan twoSites(int pipeline = 4, int tensor = 4)
{
    Plan plan = oneSite(1);
    plan.cluster.datacenters = { site("dc-1", 4), site("dc-2", 4) };
    plan.cluster.datacenters[0].name = "Datacenter 1";
    plan.cluster.datacenters[1].name = "Datacenter 2";
    plan.cluster.wanLinks = {};
    plan.workload.globalBatch = 64;
    plan.parallelism = {};
    plan.parallelism.tensor = tensor;
    plan.parallelism.pipeline = pipeline;
    return plan;
}

int idleGpus(const Evaluation &evaluation)
{
    return std::accumulate(evaluation.layout.idle.begin(), evaluation.layout.idle.end(), 0,
        [](int sum, const IdleGpus &idle) { return sum + idle.gpus; });
}

const Problem *idleProblem(const Evaluation &evaluation)
{
    const auto found = std::ranges::find_if(
        evaluation.problems, [](const Problem &p) { return p.text.find(" idle: ") != std::string::npos; });
    return found == evaluation.problems.end() ? nullptr : &*found;
}

std::vector<std::string> labels(const Problem &problem)
{
    std::vector<std::string> result;
    for (const Fix &fix : problem.fixes)
        result.push_back(fix.label);
    return result;
}

bool offers(const Problem &problem, const std::string &label)
{
    const std::vector<std::string> all = labels(problem);
    return std::ranges::find(all, label) != all.end();
}

/// No problem of a warning's weight about idle GPUs is left, the plan can run, and fewer GPUs are idle.
void verifyFixes(const Evaluation &before, const Problem &problem)
{
    for (const Fix &fix : problem.fixes) {
        const EvaluationPtr after = evaluated(*fix.plan);
        QVERIFY2(after->feasible(), fix.label.c_str());
        QVERIFY2(idleGpus(*after) < idleGpus(before), fix.label.c_str());
        const Problem *left = idleProblem(*after);
        QVERIFY2(!left || left->severity == Severity::Note, fix.label.c_str());
        QVERIFY2(because(before, *after).find("idle") != std::string::npos
                || because(before, *after).find("replica") != std::string::npos,
            (fix.label + ": " + because(before, *after)).c_str());
    }
}

} // namespace

class IdleProblemsTest : public QObject {
    Q_OBJECT
private slots:
    void aDatacenterWithoutALinkIsToldSo()
    {
        Plan plan = twoSites();
        plan.workload.globalBatch = 1024; // so that replicas in both are worth their exchange
        const EvaluationPtr evaluation = evaluated(plan);
        const Problem *problem = idleProblem(*evaluation);
        QVERIFY(problem);
        QCOMPARE(problem->text, std::string("32 GPUs in Datacenter 2 idle: no link to Datacenter 1"));
        QCOMPARE(problem->severity, Severity::Warning); // half of the cluster: the window says that there is a problem
        QVERIFY2(offers(*problem, "Add a link Datacenter 1–Datacenter 2"),
            labels(*problem).empty() ? "no fix" : labels(*problem).front().c_str());
        verifyFixes(*evaluation, *problem);
    }

    void severalDatacentersWithoutALinkAreOneProblem()
    {
        Plan plan = twoSites(3); // one stage of 8 replicas in each of three
        plan.cluster.datacenters.push_back(site("dc-3", 4));
        const EvaluationPtr evaluation = evaluated(plan);
        const Problem *problem = idleProblem(*evaluation);
        QVERIFY(problem);
        QCOMPARE(problem->text, std::string("64 GPUs in 2 datacenters idle: no link to Datacenter 1"));
        verifyFixes(*evaluation, *problem);
    }

    void fewerReplicasThanFitAreThePlansOwnWish()
    {
        Plan plan = twoSites();
        plan.cluster.wanLinks = { wanLink("dc-1", "dc-2", 20) };
        plan.parallelism.data = 2;
        const EvaluationPtr evaluation = evaluated(plan);
        const Problem *problem = idleProblem(*evaluation);
        QVERIFY(problem);
        QVERIFY2(problem->text.ends_with("the plan asks for 2 replicas"), problem->text.c_str());
        QVERIFY(offers(*problem, "Use the 32 idle GPUs"));
        verifyFixes(*evaluation, *problem);
    }

    /// 3 stages of D replicas of 8 GPUs: D = 2 takes two stages here and one there; D = 3 would need 24 GPUs a stage.
    void stagesThatDoNotShareTheDatacentersGetAnotherNumberOfThem()
    {
        Plan plan = twoSites(3, 8);
        plan.cluster.wanLinks = { wanLink("dc-1", "dc-2", 20) };
        const EvaluationPtr evaluation = evaluated(plan);
        const Problem *problem = idleProblem(*evaluation);
        QVERIFY(problem);
        QCOMPARE(problem->severity, Severity::Warning);
        QVERIFY(offers(*problem, "Pipeline 4"));
        verifyFixes(*evaluation, *problem);
    }

    void aPinnedPlacementThatLeavesADatacenterOutIsPlacedAnew()
    {
        Plan plan = twoSites();
        plan.cluster.wanLinks = { wanLink("dc-1", "dc-2", 20) };
        plan.placement.stages = { { "dc-1", 4 } };
        const EvaluationPtr evaluation = evaluated(plan);
        const Problem *problem = idleProblem(*evaluation);
        QVERIFY(problem);
        QVERIFY2(problem->text.find("pinned") != std::string::npos, problem->text.c_str());
        QVERIFY(offers(*problem, "Place the stages anew"));
        verifyFixes(*evaluation, *problem);
    }

    void whatIsIdleCanBeRemovedAtNoTime()
    {
        const EvaluationPtr evaluation = evaluated(twoSites());
        const Problem *problem = idleProblem(*evaluation);
        QVERIFY(problem);
        const auto removal =
            std::ranges::find(problem->fixes, std::string("Remove 32 GPUs that are idle"), &Fix::label);
        QVERIFY(removal != problem->fixes.end());
        const EvaluationPtr after = evaluated(*removal->plan);
        QCOMPARE(*after->metrics.iterationTime, *evaluation->metrics.iterationTime);
        QCOMPARE(after->metrics.gpusTotal, 32);
        QVERIFY(*after->metrics.cost.usdPerIteration < *evaluation->metrics.cost.usdPerIteration);
    }

    void aDragIsNotSearchedForFixes()
    {
        EvaluationWorkspace workspace;
        const auto evaluation =
            evaluate(std::make_shared<const Plan>(twoSites()), builtinCatalogue(), workspace, {}, Depth::Spans);
        QVERIFY(evaluation);
        QVERIFY(idleProblem(**evaluation));
        QVERIFY(idleProblem(**evaluation)->fixes.empty());
    }

    void anEditDoesNotWaitForTheFixesOfALargeCluster()
    {
        Plan plan = twoSites();
        for (int d = 3; d <= 14; ++d)
            plan.cluster.datacenters.push_back(site("dc-" + std::to_string(d), 1));
        EvaluationWorkspace workspace;
        const auto shared = std::make_shared<const Plan>(plan);
        const auto quick = run(shared, Depth::Everything,
            { .catalogue = builtinCatalogue(), .workspace = workspace, .fixes = &quickFixes() });
        const auto whole = evaluate(shared, builtinCatalogue(), workspace, {}, Depth::Everything);
        QVERIFY(quick && whole && idleProblem(**quick) && idleProblem(**whole));
        QCOMPARE(idleProblem(**quick)->text, idleProblem(**whole)->text);
        QVERIFY(idleProblem(**quick)->fixes.empty());
        QVERIFY(!idleProblem(**whole)->fixes.empty());
        verifyFixes(**whole, *idleProblem(**whole));
        // Two datacenters are placed within a frame.
        const auto small = run(std::make_shared<const Plan>(twoSites()), Depth::Everything,
            { .catalogue = builtinCatalogue(), .workspace = workspace, .fixes = &quickFixes() });
        QVERIFY(small && !idleProblem(**small)->fixes.empty());
    }

    /// Llama 3 8B has 32 layers.
    void moreStagesThanLayersAreAProblemWithFixes()
    {
        const EvaluationPtr evaluation = evaluated(twoSites(40, 1));
        QVERIFY(!evaluation->feasible());
        QCOMPARE(evaluation->problems.size(), std::size_t(1));
        const Problem &problem = evaluation->problems.front();
        QCOMPARE(problem.text, std::string("40 stages for 32 layers: each needs a layer at least"));
        QCOMPARE(problem.where, std::string("parallelism.pipeline"));
        QVERIFY(!problem.fixes.empty());
        for (const Fix &fix : problem.fixes) {
            const EvaluationPtr after = evaluated(*fix.plan);
            QVERIFY2(after->feasible() && after->metrics.iterationTime, fix.label.c_str());
            QVERIFY(!because(*evaluation, *after).empty());
        }
    }

    void stagesThatLinkedDatacentersCannotHoldGetALink()
    {
        Plan plan = twoSites(8, 8); // 64 GPUs, of which no datacenter has more than 32
        const EvaluationPtr evaluation = evaluated(plan);
        QVERIFY(!evaluation->metrics.iterationTime);
        const Problem &problem = evaluation->problems.front();
        QVERIFY2(offers(problem, "Add a link Datacenter 2–Datacenter 1")
                || offers(problem, "Add a link Datacenter 1–Datacenter 2"),
            problem.text.c_str());
        for (const Fix &fix : problem.fixes)
            QVERIFY2(evaluated(*fix.plan)->feasible(), fix.label.c_str());
    }
};

TRAINYARD_APPLESS_TEST(IdleProblemsTest)
#include "tst_idle_problems.moc"
