// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/rok.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

#include "tests/support/plans.h"

using namespace trainyard;

namespace {

PlanPtr shared(Plan plan)
{
    return std::make_shared<const Plan>(std::move(plan));
}

Plan plan()
{
    Plan p = test::oneSite(4);
    p.workload.globalBatch = 48;
    return p;
}

RokPoint evaluatedPoint(const PlanPtr &plan, ActivationWay way, int microBatch)
{
    for (RokPoint point : rokPlans(plan, way)) {
        if (point.microBatch != microBatch)
            continue;
        if (!readRokPoint(point, *test::evaluated(*point.plan)))
            qFatal("no memory or throughput");
        return point;
    }
    qFatal("no such micro-batch");
}

} // namespace

class RokTest : public QObject {
    Q_OBJECT
private slots:
    void everyWayHasThePowersOfTwoThatDivideTheBatchAndThePresentSize()
    {
        Plan p = plan(); // 48 = 2^4 · 3
        p.workload.microBatch = 3;
        for (int way = 0; way < kActivationWays; ++way) {
            std::vector<int> sizes;
            for (const RokPoint &point : rokPlans(shared(p), ActivationWay(way)))
                sizes.push_back(point.microBatch);
            QCOMPARE(sizes, (std::vector<int> { 1, 2, 3, 4, 8, 16 }));
        }
    }

    void aPointChangesActivationsAndMicroBatchAlone()
    {
        Plan p = plan();
        p.memory.optimizerOffload = OptimizerOffload::Host;
        p.memory.recomputeNorms = true;
        for (int way = 0; way < kActivationWays; ++way) {
            for (const RokPoint &point : rokPlans(shared(p), ActivationWay(way))) {
                Plan back = *point.plan;
                back.workload.microBatch = p.workload.microBatch;
                back.memory.recompute = p.memory.recompute;
                back.memory.activationOffload = p.memory.activationOffload;
                QCOMPARE(back, p);
            }
        }
    }

    void exactlyOnePointIsThePlanWhateverItsWay()
    {
        for (const Recompute recompute : { Recompute::None, Recompute::Selective, Recompute::Full }) {
            for (const ActivationOffload offload :
                { ActivationOffload::None, ActivationOffload::Host, ActivationOffload::Ssd }) {
                Plan p = plan();
                p.memory.recompute = recompute;
                p.memory.activationOffload = offload;
                const PlanPtr now = shared(p);
                int current = 0;
                for (int way = 0; way < kActivationWays; ++way)
                    for (const RokPoint &point : rokPlans(now, ActivationWay(way)))
                        if (point.isCurrent) {
                            ++current;
                            QCOMPARE(point.plan, now);
                        }
                QCOMPARE(current, 1);
            }
        }
    }

    void offloadGoesToDrivesWhereEveryPoolHasSome()
    {
        Plan p = plan();
        QCOMPARE(rokPlans(shared(p), ActivationWay::Offload).front().plan->memory.activationOffload,
            ActivationOffload::Host);
        p.cluster.datacenters.front().pools.front().ssd = Ssd { .writeGBps = 20, .readGBps = 26 };
        QCOMPARE(
            rokPlans(shared(p), ActivationWay::Offload).front().plan->memory.activationOffload, ActivationOffload::Ssd);
    }

    void recomputingHoldsLessAndTakesLonger()
    {
        const PlanPtr now = shared(plan());
        const RokPoint keep = evaluatedPoint(now, ActivationWay::Keep, 2),
                       recompute = evaluatedPoint(now, ActivationWay::Recompute, 2);
        QVERIFY(recompute.activationPeak < keep.activationPeak);
        QVERIFY(recompute.tflopsPerGpu < keep.tflopsPerGpu);
        // Model FLOPs do not count recomputation, so throughput times time is the same work.
        QVERIFY(
            std::abs(recompute.tflopsPerGpu * recompute.iterationTime / (keep.tflopsPerGpu * keep.iterationTime) - 1)
            < 1e-9);
    }

    void aLargerMicroBatchHoldsMore()
    {
        const PlanPtr now = shared(plan());
        for (const ActivationWay way : { ActivationWay::Keep, ActivationWay::Recompute })
            QVERIFY(evaluatedPoint(now, way, 2).activationPeak > 1.5 * evaluatedPoint(now, way, 1).activationPeak);
    }

    void aProfileSaysNothingOfActivations()
    {
        QVERIFY(whyNoRok(plan()).empty());
        const Plan profile = test::atlasRow(4, 4, 1, 2, ScheduleKind::OneFOneB);
        QVERIFY(!whyNoRok(profile).empty());
        RokPoint point;
        QVERIFY(!readRokPoint(point, *test::evaluated(profile)));
    }
};

TRAINYARD_GUILESS_TEST(RokTest)
#include "tst_rok.moc"
