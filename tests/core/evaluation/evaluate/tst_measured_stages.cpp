// SPDX-License-Identifier: GPL-3.0-or-later
// Plans with measured stage times: what such times say nothing of is told, and never taken as free.
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Two datacenters with room for two replicas of four stages each.
Plan measured(double parametersMb)
{
    Plan plan;
    plan.cluster.datacenters = { site("a", 1, "a100-sxm-80gb", 8), site("b", 1, "a100-sxm-80gb", 8) };
    plan.cluster.wanLinks = { wanLink("a", "b", 40, 5, 40) };
    plan.workload.model = "gpt-3-1.3b";
    plan.workload.sequenceLength = 2048;
    plan.workload.globalBatch = 64;
    plan.parallelism.pipeline = 4;
    plan.parallelism.data = 4;
    plan.placement.mode = PlacementMode::DataAcross;
    plan.stack.name = "ideal";
    MeasuredStageTimes times;
    times.forwardMs = { 100 };
    times.backwardMs = { 200 };
    times.activationMb = 30;
    times.parametersMb = parametersMb;
    plan.profile = times;
    return plan;
}

const Problem *about(const Evaluation &evaluation, const std::string &where, Severity severity)
{
    const auto found = std::ranges::find_if(evaluation.problems,
        [&](const Problem &problem) { return problem.where == where && problem.severity == severity; });
    return found == evaluation.problems.end() ? nullptr : &*found;
}

} // namespace

class TestMeasuredStages : public QObject {
    Q_OBJECT

private slots:
    void gradientsOfUnknownSizeDoNotCrossTheWanForNothing()
    {
        const EvaluationPtr evaluation = evaluated(measured(0));
        QVERIFY(!evaluation->feasible());
        const Problem *problem = about(*evaluation, "profile.parameters_mb", Severity::Blocking);
        QVERIFY(problem);
        QCOMPARE(problem->fixes.size(), std::size_t(2));
        // 1.3e9 parameters over four stages, in the bytes of the stack's gradients.
        const PlanPtr sized = problem->fixes[0].plan;
        QVERIFY(sized->profile->parametersMb > 500 && sized->profile->parametersMb < 1500);
        for (const Fix &fix : problem->fixes) {
            const EvaluationPtr fixed = evaluated(*fix.plan);
            QVERIFY2(fixed->feasible(), fix.label.c_str());
            QVERIFY(fixed->metrics.wanBytesPerIteration > 0);
        }
    }

    void inOneDatacenterTheTimesIncludeTheExchange()
    {
        Plan plan = measured(0);
        plan.parallelism.data = 2;
        plan.cluster.datacenters.pop_back();
        plan.cluster.wanLinks.clear();
        plan.workload.globalBatch = 32;
        QVERIFY(evaluated(plan)->feasible());
    }

    /// Whole replicas apart would be fastest where their gradients cost nothing.
    void placementByItselfChoosesAWayWhoseBytesAreKnown()
    {
        Plan plan = measured(0);
        plan.placement.mode = PlacementMode::Auto;
        const EvaluationPtr evaluation = evaluated(plan);
        QVERIFY(evaluation->feasible());
        QCOMPARE(evaluation->layout.mode, PlacementMode::PipelineAcross);
    }

    void settingsThatMeasuredTimesLeaveAsTheyAreAreTold()
    {
        const auto notes = [](const Plan &plan) {
            const EvaluationPtr evaluation = evaluated(plan);
            return std::ranges::count_if(evaluation->problems, [](const Problem &problem) {
                return problem.where == "profile" && problem.text.find("nothing changes") != std::string::npos;
            });
        };
        const Plan plain = measured(800);
        QCOMPARE(notes(plain), 0);
        const auto with = [&](auto change) {
            Plan plan = plain;
            change(plan);
            return notes(plan);
        };
        QCOMPARE(with([](Plan &p) { p.memory.optimizerOffload = OptimizerOffload::Host; }), 1);
        QCOMPARE(with([](Plan &p) { p.memory.parameterOffload = ParameterOffload::Host; }), 1);
        QCOMPARE(with([](Plan &p) { p.workload.optimizer = Optimizer::Galore; }), 1);
        QCOMPARE(with([](Plan &p) { p.parallelism.zeroStage = 3; }), 1);
        QCOMPARE(with([](Plan &p) { p.memory.recompute = Recompute::Full; }), 0); // which the times have apart
        // Several are one note, whose fix leaves all of them out.
        Plan both = plain;
        both.memory.optimizerOffload = OptimizerOffload::Host;
        both.parallelism.zeroStage = 3;
        const EvaluationPtr evaluation = evaluated(both);
        const Problem *problem = about(*evaluation, "profile", Severity::Note);
        QVERIFY(problem && problem->fixes.size() == 1);
        QCOMPARE(notes(both), 1);
        QVERIFY(*problem->fixes[0].plan == plain);
    }

    void moreFlopsThanTheGpusHaveAreTold()
    {
        Plan plan = oneSite(1, 1);
        plan.workload.globalBatch = 8;
        plan.parallelism.tensor = 1;
        GpuLayerTimes times;
        times.forwardMs.slope = 0.001;
        times.backwardMs.slope = 0.002;
        plan.layerProfiles.emplace();
        plan.layerProfiles->gpus["h100-sxm-80gb"] = times;
        const EvaluationPtr evaluation = evaluated(plan);
        QVERIFY(evaluation->metrics.mfu && *evaluation->metrics.mfu > 1);
        QVERIFY(about(*evaluation, "layer_profiles", Severity::Warning));
    }
};

TRAINYARD_APPLESS_TEST(TestMeasuredStages)
#include "tst_measured_stages.moc"
