// SPDX-License-Identifier: GPL-3.0-or-later
// What a step changes beside time and memory: what is learned, or nothing because another setting holds it.
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/key_list.h"
#include "models/plan_step.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <functional>

using namespace trainyard;

class PlanStepTest : public QObject {
    Q_OBJECT

    const Plan m_plan = test::oneSite(8, 1);

    /// Of a step that makes the plan another one: of one that does not, nothing would be found either way.
    [[nodiscard]] bool changes(const std::function<void(Plan &)> &step) const
    {
        Plan next = m_plan;
        step(next);
        if (next == m_plan)
            qFatal("the step leaves the plan as it is");
        return changesTraining(m_plan, next);
    }

private slots:
    void anotherOptimizerOrNumberFormatChangesWhatIsLearned()
    {
        QVERIFY(changes([](Plan &p) { p.workload.optimizer = Optimizer::Sgd; }));
        QVERIFY(changes([](Plan &p) { p.workload.optimizer = Optimizer::Adam8bit; }));
        QVERIFY(changes([](Plan &p) { p.workload.precision = Precision::Fp8; }));
    }

    void fewerBitsALateUpdateAndReplicasApartDo()
    {
        QVERIFY(changes([](Plan &p) { p.memory.savedActivationBits = 4; }));
        QVERIFY(changes([](Plan &p) { p.memory.fp8Activations = true; }));
        QVERIFY(changes([](Plan &p) { p.memory.delayedUpdate = true; }));
        QVERIFY(changes([](Plan &p) { p.wan.activationBits = 8; }));
        QVERIFY(changes([](Plan &p) { p.wan.gradientBits = 8; }));
        QVERIFY(changes([](Plan &p) { p.wan.localSgd = LocalSgd::Diloco; }));
    }

    void takingAnApproximationBackDoesNot()
    {
        Plan rough = m_plan;
        rough.memory.savedActivationBits = 2;
        rough.memory.delayedUpdate = true;
        rough.wan.gradientBits = 4;
        QVERIFY(changesTraining(m_plan, rough));
        QVERIFY(!changesTraining(rough, m_plan));
    }

    void whereThingsLieAndHowTheyAreCutDoesNot()
    {
        QVERIFY(!changes([](Plan &p) { p.memory.recompute = Recompute::Full; }));
        QVERIFY(!changes([](Plan &p) { p.memory.optimizerOffload = OptimizerOffload::Host; }));
        QVERIFY(!changes([](Plan &p) { p.memory.activationOffload = ActivationOffload::Host; }));
        QVERIFY(!changes([](Plan &p) { p.parallelism.pipeline = 4; }));
        QVERIFY(!changes([](Plan &p) { p.workload.microBatch = 2; }));
        QVERIFY(!changes([](Plan &p) { p.schedule = ScheduleKind::GPipe; }));
    }

    /// Every framework has a CUDA context on each GPU and takes the host's time; a stack without either cannot be
    /// installed.
    void softwareWithoutOverheadsIsABoundAndNoOther()
    {
        int bounds = 0;
        for (const StackSpec &stack : builtinCatalogue().stacks) {
            Plan plan = m_plan;
            plan.stack.name = stack.id;
            const bool hasOverheads =
                stack.contextBytes > 0 || stack.hostUsPerKernel > 0 || stack.iterationOverheadMs > 0;
            QVERIFY2(isBound(plan) != hasOverheads, stack.id.c_str());
            bounds += isBound(plan);
        }
        QCOMPARE(bounds, 1);
    }

    /// 64 GPUs, tensor 8: data x pipeline <= 8.
    void replicasThatAreSetHoldThePipeline()
    {
        Plan plan = m_plan;
        plan.parallelism.data = 8;
        QVERIFY(!pinnedData(plan));
        plan.parallelism.pipeline = 2;
        const auto pinned = pinnedData(plan);
        QVERIFY(pinned);
        QCOMPARE(pinned->replicas, 8);
        QCOMPARE(pinned->mostReplicas, 4);
        QCOMPARE(pinned->needed, 128);
        QCOMPARE(pinned->there, 64);
    }

    void replicasAreNotToBlameWhereOneIsTooLargeOrNoneAreSet()
    {
        Plan plan = m_plan;
        plan.parallelism.pipeline = 2;
        QVERIFY(!pinnedData(plan));
        plan.parallelism.data = 8;
        plan.parallelism.pipeline = 16;
        QVERIFY(!pinnedData(plan));
    }
};

TRAINYARD_GUILESS_TEST(PlanStepTest)
#include "tst_plan_step.moc"
