// SPDX-License-Identifier: GPL-3.0-or-later
// Activation offloading from plan to metrics.
#include "core/engine/timeline/analysis.h"
#include "core/facts/hardware/network_spec.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/offload/paths.h"
#include "tests/core/iteration/offload/drive_plans.h"
#include "tests/core/iteration/offload/paper_plans.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include <QTest>

#include <algorithm>

using namespace offload;
using test::evaluated;
using test::oneSite;

class TstOffloadPlans : public QObject {
    Q_OBJECT

private slots:
    void theBreakdownStillAddsUp()
    {
        for (const double write : { 2.0, 20.0, 200.0 }) {
            Plan plan = withDrives(oneSite(8), write, write);
            plan.memory.offloadFraction = 0.9;
            const auto evaluation = evaluated(plan);
            const Metrics &m = evaluation->metrics;
            QVERIFY(std::abs(m.breakdown->total() - *m.iterationTime) < 1e-6 * *m.iterationTime);
            QCOMPARE(m.offload->stall, m.breakdown->offloadStall);
        }
    }

    /// Where nothing leaves, a GPU holds what it holds without offload, also where a stage does not keep its input.
    void nothingThatLeavesIsKeeping()
    {
        for (const double freed : { 0.0, 1.0 }) {
            Plan keep = oneSite(8);
            keep.parallelism.pipeline = 4;
            keep.stack.overrides["frees_stage_inputs"] = freed;
            Plan none = withDrives(keep, 20, 20);
            none.memory.offloadFraction = 0;
            const auto kept = evaluated(keep), offloading = evaluated(none);
            for (std::size_t stage = 0; stage < kept->metrics.memory->perStage.size(); ++stage) {
                const double before = kept->metrics.memory->perStage[stage].peak,
                             after = offloading->metrics.memory->perStage[stage].peak;
                QVERIFY2(std::abs(after / before - 1) < 1e-6,
                    qPrintable(QString("stage %1, freed %2: %3 and %4").arg(stage).arg(freed).arg(before).arg(after)));
            }
        }
    }

    void whatLeavesIsNotOnTheGpu()
    {
        for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::ZbH1 }) {
            Plan keep = oneSite(8);
            keep.schedule = schedule;
            const auto kept = evaluated(keep), away = evaluated(withDrives(keep, 400, 400));
            QVERIFY(away->metrics.offload->bytesPerGpu > 0);
            QVERIFY(std::abs(away->metrics.offload->bytesPerGpu - away->metrics.offload->bytesRead
                        - away->metrics.offload->bytesForwarded)
                <= 1e-9 * away->metrics.offload->bytesPerGpu);
            for (std::size_t stage = 0; stage < kept->metrics.memory->perStage.size(); ++stage) {
                const StageMemory &before = kept->metrics.memory->perStage[stage],
                                  &after = away->metrics.memory->perStage[stage];
                QVERIFY(after.peak <= before.peak * 1.000001);
                QCOMPARE(after.weights, before.weights);
            }
            QVERIFY(away->metrics.memory->perStage.front().offloaded > 0);
            QVERIFY(away->metrics.memory->perStage.front().peak < kept->metrics.memory->perStage.front().peak);
        }
    }

    void theCurvesMeetTheDeviceAndNeverCross()
    {
        const auto evaluation = evaluated(withDrives(oneSite(8), 400, 400));
        QCOMPARE(evaluation->memoryCurvesKept.size(), evaluation->memoryCurves.size());
        for (std::size_t stage = 0; stage < evaluation->memoryCurves.size(); ++stage) {
            std::int64_t highest = 0, kept = 0;
            for (const auto &step : evaluation->memoryCurves[stage])
                highest = std::max(highest, step.bytes);
            for (const auto &step : evaluation->memoryCurvesKept[stage])
                kept = std::max(kept, step.bytes);
            QCOMPARE(highest, evaluation->metrics.memory->perStage[stage].device);
            QVERIFY(highest <= kept);
        }
    }

    void keepingIsWhatAPlanWithoutBandwidthGets()
    {
        // zero bandwidth = keep: same time, same memory, and the plan says so
        const auto keep = evaluated(oneSite(8));
        Plan plan = oneSite(8);
        plan.memory.activationOffload = ActivationOffload::Ssd; // and no drives
        for (const Plan &none : { plan, withDrives(oneSite(8), 0, 0) }) {
            const auto evaluation = evaluated(none);
            QCOMPARE(*evaluation->metrics.iterationTime, *keep->metrics.iterationTime);
            QCOMPARE(evaluation->metrics.memory->peak, keep->metrics.memory->peak);
            QCOMPARE(evaluation->metrics.offload->bytesPerGpu, 0.0);
            QVERIFY(hasProblem(*evaluation, "cluster.datacenters[0].pools[0].ssd"));
        }
    }

    /// auto: iteration(offload) = iteration(keep), whatever the drives are; better drives never hold more on the GPU.
    void anAutomaticShareNeverWaits()
    {
        for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::ZbH1 }) {
            Plan keep = oneSite(8);
            keep.schedule = schedule;
            const double time = *evaluated(keep)->metrics.iterationTime;
            double last = 1e300;
            for (const double rate : { 2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 400.0 }) {
                const auto offload = evaluated(withDrives(keep, rate, rate));
                QVERIFY2(*offload->metrics.iterationTime <= time * 1.002,
                    qPrintable(QStringLiteral("%1 GB/s: %2 s beside %3")
                                   .arg(rate)
                                   .arg(*offload->metrics.iterationTime)
                                   .arg(time)));
                const double peak = double(offload->metrics.memory->perStage.front().peak);
                QVERIFY(peak <= last * 1.0001);
                last = peak;
            }
            for (const double read : { 5.0, 20.0, 80.0 }) { // one direction slower than the other
                const auto offload = evaluated(withDrives(keep, 400, read));
                QVERIFY2(*offload->metrics.iterationTime <= time * 1.002,
                    qPrintable(QStringLiteral("%1 GB/s read, %4: %2 s beside %3")
                                   .arg(read)
                                   .arg(*offload->metrics.iterationTime)
                                   .arg(time)
                                   .arg(int(schedule))));
            }
        }
    }

    /// Against the keeping plan's own evaluation: not slower, no stage with more, whatever is recomputed and where.
    void anAutomaticShareCostsNeitherTimeNorMemoryWhateverIsRecomputed()
    {
        for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::ZbH1, ScheduleKind::ZbH2 })
            for (const Recompute recompute : { Recompute::None, Recompute::Selective, Recompute::Full })
                for (const double recomputesLast : { 0.0, 1.0 })
                    for (const int pipeline : { 1, 4 })
                        for (const double rate : { 10.0, 40.0, 400.0 }) {
                            Plan keep = oneSite(8, pipeline);
                            keep.schedule = schedule;
                            keep.memory.recompute = recompute;
                            keep.stack.overrides["recomputes_last_stage"] = recomputesLast;
                            const auto kept = evaluated(keep), away = evaluated(withDrives(keep, rate, rate));
                            const QByteArray what = QStringLiteral(
                                "schedule %1, recompute %2 (last stage %3), %4 stages, %5 GB/s: %6 s beside %7")
                                                        .arg(int(schedule))
                                                        .arg(int(recompute))
                                                        .arg(recomputesLast)
                                                        .arg(pipeline)
                                                        .arg(rate)
                                                        .arg(*away->metrics.iterationTime)
                                                        .arg(*kept->metrics.iterationTime)
                                                        .toUtf8();
                            QVERIFY2(
                                *away->metrics.iterationTime <= *kept->metrics.iterationTime * 1.002, what.constData());
                            for (std::size_t stage = 0; stage < kept->metrics.memory->perStage.size(); ++stage)
                                QVERIFY2(double(away->metrics.memory->perStage[stage].peak)
                                        <= double(kept->metrics.memory->perStage[stage].peak) * 1.000001,
                                    what.constData());
                        }
    }

    void littleEffectIsSaidWithItsReason()
    {
        Plan plan = withDrives(oneSite(8), 400, 400);
        plan.memory.offloadMinElements = 1 << 30;
        const auto none = evaluated(plan);
        QVERIFY(hasProblem(*none, "memory.offload_min_elements"));
        QVERIFY(!hasProblem(*evaluated(withDrives(oneSite(8), 400, 400)), "memory.activation_offload"));
        for (const Problem &problem : none->problems)
            if (problem.where == "memory.offload_min_elements")
                QVERIFY(evaluated(*problem.fixes.front().plan)->metrics.memory->peak < none->metrics.memory->peak);
        Plan all = withDrives(oneSite(8), 400, 4);
        all.memory.offloadFraction = 1;
        const auto waits = evaluated(all);
        QVERIFY(waits->metrics.offload->stall > 0.01 * *waits->metrics.iterationTime);
        QVERIFY(hasProblem(*waits, "memory.offload_fraction"));
    }

    void drivesThatDieDuringTheTrainingAreSaid()
    {
        Plan plan = withDrives(oneSite(8), 400, 400);
        plan.workload.trainingTokens = 1e13;
        plan.cluster.datacenters[0].pools[0].ssd->endurancePb = 1e6;
        QVERIFY(!hasProblem(*evaluated(plan), "memory.activation_offload"));
        plan.cluster.datacenters[0].pools[0].ssd->endurancePb = 0.1;
        QVERIFY(hasProblem(*evaluated(plan), "memory.activation_offload"));
    }

    void laterStagesOffloadLess()
    {
        // The last stage's backward follows its forward at once.
        const auto evaluation = evaluated(withDrives(oneSite(8), 60, 60));
        const auto &stages = evaluation->metrics.memory->perStage;
        QVERIFY(stages.back().offloaded < stages.front().offloaded);
    }

    void aShareTakesModulesInOrder()
    {
        double before = -1;
        for (const double share : { 0.0, 0.25, 0.5, 1.0 }) {
            Plan plan = withDrives(oneSite(8), 4000, 4000);
            for (Datacenter &datacenter : plan.cluster.datacenters)
                datacenter.fabricGbpsPerGpu = 400;
            plan.memory.offloadFraction = share;
            const double bytes =
                evaluated(plan)->metrics.offload->bytesPerGpu + evaluated(plan)->metrics.offload->bytesDropped;
            QVERIFY(bytes >= before);
            QVERIFY(share > 0 || bytes == 0);
            before = bytes;
        }
    }

    void hostMemoryTakesThemToo()
    {
        Plan plan = oneSite(8);
        plan.memory.activationOffload = ActivationOffload::Host;
        const auto evaluation = evaluated(plan);
        QVERIFY(evaluation->metrics.offload->bytesPerGpu > 0);
        QVERIFY(!evaluation->metrics.offload->ssdLifetimeYears);
        plan.cluster.datacenters[0].pools[0].host = Host {};
        plan.cluster.datacenters[0].pools[0].host->memoryGib = 0.5;
        QVERIFY(!evaluated(plan)->feasible());
        QVERIFY(hasProblem(*evaluated(plan), "cluster.datacenters[0].pools[0].host.memory_gib"));
    }

    void drivesWearByWhatTheirNodeWrites()
    {
        // t_life = TBW * 2.5 * t / (8 GPUs * bytes), 86 times that with a day of retention, which is said
        Plan plan = withDrives(oneSite(8), 400, 400);
        const auto evaluation = evaluated(plan);
        const OffloadMetrics &m = *evaluation->metrics.offload;
        const double years = 40e15 * 2.5 * *evaluation->metrics.iterationTime / (8 * m.bytesPerGpu) / (365 * 86400.0);
        QVERIFY(std::abs(*m.ssdLifetimeYears - years) < 1e-9 * years);
        QCOMPARE(*m.ssdUsdPerGpu, 500.0);
        QVERIFY(std::abs(m.requiredWriteGBps - m.bytesPerGpu * 1e-9 / (*evaluation->metrics.iterationTime / 2))
            < 1e-9 * m.requiredWriteGBps);
        plan.cluster.datacenters[0].pools[0].ssd->retentionGain = 86;
        const auto relaxed = evaluated(plan);
        QVERIFY(std::abs(*relaxed->metrics.offload->ssdLifetimeYears - 86 * years) < 1e-9 * 86 * years);
        QVERIFY(hasProblem(*relaxed, "cluster.datacenters[0].pools[0].ssd.retention_gain"));
    }

    void gpusShareDrivesAndSwitches()
    {
        // four stages of two GPUs in one node: each GPU has half of the drives while its stage is alone, and a link
        // that four share
        Plan plan = withDrives(oneSite(1), 20, 20);
        plan.parallelism.tensor = 2;
        const Workload workload = test::placedWorkload(plan, PlacementMode::PipelineAcross);
        OffloadPaths paths = offloadPaths(workload);
        QCOMPARE(paths.linkCapacity, (std::vector<double> { 20e9, 20e9 }));
        for (const OffloadPath &path : paths.of.front()) {
            QCOMPARE(path.storeCap, 10e9);
            QCOMPARE(path.weight, 2.0);
            QCOMPARE(path.storeLinks, std::vector<std::uint32_t> { 0 });
            QCOMPARE(path.loadLinks, std::vector<std::uint32_t> { 1 });
        }
        // One stage that fills the node has an eighth each, and shares with nobody.
        plan.parallelism.tensor = 8;
        plan.parallelism.pipeline = 1;
        plan.cluster.datacenters[0].pools[0].ssd->gpusSharing = 4;
        plan.cluster.datacenters[0].pools[0].ssd->writeGBps = 4000;
        paths = offloadPaths(test::placedWorkload(plan));
        QVERIFY(paths.linkCapacity.empty());
        QCOMPARE(paths.of.front().front().storeCap, 63e9 * builtinNetwork().pcie.fraction / 4); // four on one PCIe link
        QCOMPARE(paths.of.front().front().loadCap, 20e9 / 8);
    }

    void recomputedLayersLeaveWithTheirInputOnly()
    {
        Plan plan = withDrives(oneSite(8), 400, 400);
        const double whole = evaluated(plan)->metrics.offload->bytesPerGpu;
        plan.memory.recompute = Recompute::Full;
        plan.memory.offloadMinElements = 0;
        const auto evaluation = evaluated(plan);
        QVERIFY(evaluation->metrics.offload->bytesPerGpu > 0);
        QVERIFY(evaluation->metrics.offload->bytesPerGpu < 0.2 * whole);
    }
};

TRAINYARD_APPLESS_TEST(TstOffloadPlans)
#include "tst_offload_plans.moc"
