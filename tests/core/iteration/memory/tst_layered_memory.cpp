// SPDX-License-Identifier: GPL-3.0-or-later
// What a replica holds layer by layer is counted once: who deals shares by it deals what fits, and who judges without a
// timeline says no less than the timeline shows.
#include "core/iteration/layouts/layered_problem.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/memory/bounded_memory.h"
#include "core/iteration/memory/layered_memory.h"
#include "core/iteration/placement/class_workload.h"
#include "core/iteration/placement/layer_facts.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/most_replicas.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Plan layered(Recompute recompute, bool offloads, int microBatch)
{
    Plan plan = mixedReplicas();
    plan.heterogeneity.accumulation = Accumulation::Layered;
    plan.heterogeneity.boundaryOffload = offloads;
    plan.memory.recompute = recompute;
    plan.parallelism.zeroStage = 3;
    plan.workload.microBatch = microBatch;
    return plan;
}

} // namespace

class TestLayeredMemory : public QObject {
    Q_OBJECT

private slots:
    // bound >= what the timeline shows, and by little: on the device, of every kind of recomputation and offloading.
    void theBoundHoldsWhatTheTimelineShows()
    {
        for (const Recompute recompute : { Recompute::None, Recompute::Full })
            for (const bool offloads : { false, true })
                for (const int microBatch : { 1, 2 }) {
                    const Plan plan = layered(recompute, offloads, microBatch);
                    const auto evaluation = evaluatedWithMost(plan);
                    const double shown = double(evaluation->metrics.memory->perStage.front().device),
                                 bound = double(boundedStageMemory(dealtWorkload(plan)).front().device);
                    QVERIFY2(bound >= shown * 0.999 && bound < shown * 1.15,
                        qPrintable(QStringLiteral("%1 %2 %3: %4 of %5")
                                       .arg(int(recompute))
                                       .arg(offloads)
                                       .arg(microBatch)
                                       .arg(bound / 1e9)
                                       .arg(shown / 1e9)));
                }
    }

    // C(m) + p b: the problem's parts are the bound's.
    void sharesAreDealtByTheSameCount()
    {
        for (const bool offloads : { false, true }) {
            const Workload workload = dealtWorkload(layered(Recompute::Full, offloads, 1));
            const ShareProblem problem = shareProblem(workload, replicaRuns(workload));
            const Workload two = withMicroBatch(workload, 2);
            QCOMPARE(problem.kinds.front().compute[1], layeredWork(two));
            QCOMPARE(problem.kinds.front().perSample, layeredKept(workload));
            QVERIFY(std::abs(layeredKept(two) - 2 * layeredKept(workload)) < 1);
        }
    }

    // Everything that enters a layer leaves: with full recomputation nothing is kept of a sample.
    void whatLeavesIsNotKept()
    {
        QCOMPARE(layeredKept(dealtWorkload(layered(Recompute::Full, true, 1))), 0.0);
        const Workload stays = dealtWorkload(layered(Recompute::Full, false, 1));
        const double inputs = (stays.model.layers - 1) * layerInputBytes(stays);
        QVERIFY(std::abs(layeredKept(stays) - inputs) < 1e-6 * inputs);
        QVERIFY(layeredKept(dealtWorkload(layered(Recompute::None, true, 1))) > inputs);
    }

    // Under full recomputation activation offload moves what boundary offload does: shares may be dealt with as much.
    void activationOffloadFreesWhatBoundariesDo()
    {
        Plan plan = layered(Recompute::Full, false, 1);
        plan.memory.offloadMinElements = 1024;
        QVERIFY(!offloadFreesShares(plan));
        plan.memory.activationOffload = ActivationOffload::Host;
        QVERIFY(offloadFreesShares(plan));
        const Workload leaves = dealtWorkload(plan);
        QCOMPARE(layeredKept(leaves, CountedAway::ActivationOffload), 0.0);
        QCOMPARE(layeredLeaving(leaves), layerInputBytes(leaves));
        // One that is stored, the one at work and the next.
        const Workload boundaries = dealtWorkload(layered(Recompute::Full, true, 1));
        QCOMPARE(layeredWork(leaves, CountedAway::ActivationOffload), layeredWork(boundaries));
        // Who does not count on it sees everything stay.
        QCOMPARE(layeredKept(leaves), layeredKept(dealtWorkload(layered(Recompute::Full, false, 1))));
    }

    // A stated share leaves that much; tensors that are too small leave not at all; MEMO decides for itself.
    void whatMayLeaveIsWhatThePlanLets()
    {
        Plan plan = layered(Recompute::None, false, 1);
        plan.memory.activationOffload = ActivationOffload::Host;
        plan.memory.offloadMinElements = 1024;
        const double all = layeredLeaving(dealtWorkload(plan));
        plan.memory.offloadFraction = 0.25;
        QVERIFY(std::abs(layeredLeaving(dealtWorkload(plan)) - 0.25 * all) < 1e-6 * all);
        plan.memory.offloadFraction.reset();
        plan.memory.offloadMinElements = 1e9;
        QCOMPARE(layeredLeaving(dealtWorkload(plan)), 0.0);
        plan.memory.offloadPolicy = OffloadPolicy::Memo;
        QVERIFY(!offloadFreesShares(plan));
    }

    // A share that is stated leaves whatever it takes: a layer takes no less than its copies.
    void slowCopiesOfAStatedShareLengthenALayer()
    {
        Plan plan = layered(Recompute::Full, false, 1);
        plan.memory.activationOffload = ActivationOffload::Host;
        plan.memory.offloadMinElements = 1024;
        for (Pool &pool : plan.cluster.datacenters.front().pools)
            pool.host = Host { 1024, 0.05, {} };
        const auto firstForward = [](const Plan &p) {
            const Workload workload = dealtWorkload(p);
            return shareProblem(workload, replicaRuns(workload), CountedAway::ActivationOffload)
                .kinds.front()
                .forward.front();
        };
        const double hidden = firstForward(plan);
        plan.memory.offloadFraction = 1;
        const Workload workload = dealtWorkload(plan);
        const double copies = layerInputBytes(workload) / workload.hostRate({ 0, 0 }).value;
        QVERIFY(copies > hidden);
        QCOMPARE(firstForward(plan), copies);
    }
};

TRAINYARD_APPLESS_TEST(TestLayeredMemory)
#include "tst_layered_memory.moc"
