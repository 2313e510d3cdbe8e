// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan is told about its memory, and the ladder's steps beside it.
#include "core/evaluation/memory_fit/fit.h"
#include "core/iteration/placement/resolve.h"
#include "tests/core/evaluation/memory_fit/ladder_plans.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using test::evaluated;
using test::fullest;
using test::oneNode;
using test::with;

namespace {

EvaluationWorkspace &scratch()
{
    static EvaluationWorkspace workspace;
    return workspace;
}

const Problem *memoryProblem(const EvaluationPtr &evaluation)
{
    const auto found = std::ranges::find(evaluation->problems, std::string("memory"), &Problem::where);
    return found == evaluation->problems.end() ? nullptr : &*found;
}

std::vector<std::string> labels(const Problem &problem)
{
    std::vector<std::string> result;
    for (const Fix &fix : problem.fixes)
        result.push_back(fix.label);
    return result;
}

/// GPT-3 on A100 40 GB with drives, every activation on the GPU.
Plan gpt3()
{
    Plan plan = test::samplePlan("gpt3-offload-a100-40gb");
    plan.memory.activationOffload = ActivationOffload::None;
    return plan;
}

/// A plan whose fullest GPU is filled to the share, by the memory of its GPU.
Plan filledTo(Plan plan, double share)
{
    GpuSpec gpu = *builtinCatalogue().gpu(plan.cluster.datacenters[0].pools[0].gpu);
    gpu.memoryBytes = std::int64_t(double(fullest(evaluated(plan)).device) / share);
    plan.cluster.datacenters[0].pools[0].inlineGpu = gpu;
    return plan;
}

} // namespace

class MemoryProblemsTest : public QObject {
    Q_OBJECT
private slots:
    /// First what the ladder does, then memorySavings that are enough alone, in its order: what is cheap before what is
    /// dear.
    void fixesAreTheStepsOfTheLadder()
    {
        const Plan plan = gpt3();
        const auto evaluation = evaluated(plan);
        QVERIFY(!evaluation->feasible());
        const Problem *problem = memoryProblem(evaluation);
        QVERIFY(problem && problem->fixes.size() == 3);
        const auto offered = labels(*problem);
        const auto workload = resolve(evaluation->plan, builtinCatalogue());
        std::vector<std::string> expected { "Recompute norms + Recompute activation functions" };
        for (const MemorySaving &saving : memorySavings(plan, workload->model, workload->stack))
            if (expected.size() < 3
                && footprint(std::make_shared<const Plan>(with(plan, saving.apply)), builtinCatalogue(), scratch())
                       .hasRoom())
                expected.push_back(saving.name);
        QCOMPARE(offered, expected);
        QCOMPARE(offered[1], std::string("Activations on drives (SSDTrain)"));
        QCOMPARE(*problem->fixes[0].plan, *fitMemory(evaluation->plan, builtinCatalogue()).plan);
        for (const Fix &fix : problem->fixes) {
            const auto fixed = evaluated(*fix.plan);
            QVERIFY2(fixed->feasible() && !memoryProblem(fixed), fix.label.c_str());
        }
    }

    void whereNoStepIsEnoughAloneSeveralAre()
    {
        Plan plan = oneNode("llama-3-70b");
        plan.parallelism.zeroStage = 0;
        const auto evaluation = evaluated(plan);
        const Problem *problem = memoryProblem(evaluation);
        QVERIFY(problem && problem->fixes.size() == 1);
        QVERIFY(problem->fixes[0].label.find(" + ") != std::string::npos);
        QVERIFY(evaluated(*problem->fixes[0].plan)->feasible());
    }

    void aGpuFilledToTheBrimHasAWayOutToo()
    {
        const Plan roomy = with(oneNode("gpt-3-13b"), [](Plan &p) { p.parallelism.tensor = 8; });
        const auto tight = evaluated(filledTo(roomy, 0.97)), below = evaluated(filledTo(roomy, 0.94));
        QVERIFY(tight->feasible() && below->feasible());
        const Problem *problem = memoryProblem(tight);
        QVERIFY(problem && problem->severity == Severity::Warning);
        QVERIFY(!problem->fixes.empty());
        for (const Fix &fix : problem->fixes)
            QVERIFY2(!memoryProblem(evaluated(*fix.plan)), fix.label.c_str());
        QVERIFY(!memoryProblem(below));
    }

    /// States that overflow the nodes go back to GPUs that have room for them, and to drives where not.
    void tooLittleHostMemoryHasAWayOut()
    {
        for (const char *gpu : { "h100-sxm-80gb", "v100-sxm-16gb" }) {
            const Plan plan = with(oneNode("llama-3-8b", gpu), [](Plan &p) {
                p.memory.optimizerOffload = OptimizerOffload::Host;
                p.memory.recompute = Recompute::Full;
                p.parallelism.tensor = 8;
                p.workload.precision = Precision::Fp16;
                p.cluster.datacenters[0].pools[0].host->memoryGib = 64;
            });
            const auto evaluation = evaluated(plan);
            QVERIFY(!evaluation->feasible());
            const auto problem = std::ranges::find_if(
                evaluation->problems, [](const Problem &p) { return p.severity == Severity::Blocking; });
            QVERIFY(problem->text.find("host memory per node") != std::string::npos);
            QVERIFY(!problem->fixes.empty());
            QCOMPARE(problem->fixes[0].label,
                std::string(gpu[0] == 'h' ? "Keep them on the GPU" : "Optimizer states on drives (ZeRO-Infinity)"));
            for (const Fix &fix : problem->fixes)
                QVERIFY2(evaluated(*fix.plan)->feasible(), fix.label.c_str());
        }
    }
};

TRAINYARD_APPLESS_TEST(MemoryProblemsTest)
#include "tst_memory_problems.moc"
