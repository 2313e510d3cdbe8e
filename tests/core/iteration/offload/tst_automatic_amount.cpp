// SPDX-License-Identifier: GPL-3.0-or-later
// The automatic share against every share that costs no time, and against keeping, on whole evaluations.
#include "core/iteration/iteration_costs/iteration_costs.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/offload/automatic_amount.h"
#include "tests/core/iteration/offload/drive_plans.h"
#include "tests/core/iteration/offload/paper_plans.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include <QTest>

#include <random>

using namespace offload;
using test::oneSite;

class TstAutomaticAmount : public QObject {
    Q_OBJECT

    static double peak(const Evaluation &evaluation) { return double(evaluation.metrics.memory->peak); }

    /// Nothing where the plan cannot be evaluated.
    static EvaluationPtr answer(const Plan &plan)
    {
        EvaluationWorkspace workspace;
        auto evaluation = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, Depth::Score);
        return evaluation ? *evaluation : nullptr;
    }

    /// The least that the fullest GPU holds at any share in twelfths and any look-ahead, in the time of keeping.
    static double leastAtNoCost(const Plan &plan, const Evaluation &keep)
    {
        double least = peak(keep);
        for (int share = 1; share <= 12; ++share)
            for (const int ahead : { 1, 2, 4, 8 }) {
                Plan fixed = plan;
                fixed.memory.offloadFraction = share / 12.0;
                fixed.memory.offloadAhead = ahead;
                const auto evaluation = answer(fixed);
                if (*evaluation->metrics.iterationTime <= *keep.metrics.iterationTime * 1.0005)
                    least = std::min(least, peak(*evaluation));
            }
        return least;
    }

    static Plan kept(Plan plan)
    {
        plan.memory.activationOffload = ActivationOffload::None;
        return plan;
    }

private slots:
    void noShareThatCostsNothingHoldsLess()
    {
        // one stage, so that one share is for all: auto = min over shares and look-aheads in the time of keeping
        for (const PaperCase &c :
            { PaperCase { "BERT", 12288, 3, 16 }, PaperCase { "GPT", 8192, 4, 8 }, PaperCase { "T5", 16384, 2, 16 } })
            for (const double write : { 4.0, 8.0, 14.0, 20.0, 26.0, 36.6 })
                for (const double readToWrite : { 0.6, 1.2 }) {
                    Plan plan = paperPlan(c, ActivationOffload::Ssd);
                    plan.cluster.datacenters[0].pools[0].ssd->writeGBps = write;
                    plan.cluster.datacenters[0].pools[0].ssd->readGBps = write * readToWrite;
                    const auto keep = answer(kept(plan)), automatic = answer(plan);
                    const double least = leastAtNoCost(plan, *keep);
                    QVERIFY2(peak(*automatic) <= least * 1.001,
                        qPrintable(QStringLiteral("%1, %2 GB/s out, %3 in: %4 GB instead of %5")
                                       .arg(c.model)
                                       .arg(write)
                                       .arg(write * readToWrite)
                                       .arg(peak(*automatic) * 1e-9)
                                       .arg(least * 1e-9)));
                    QVERIFY(*automatic->metrics.iterationTime <= *keep->metrics.iterationTime * 1.001);
                }
    }

    void stagesThatChooseForThemselvesHoldHardlyMoreThanAnyOneShareForAll()
    {
        for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::ZbH1 })
            for (const double rate : { 10.0, 40.0, 160.0 }) {
                Plan plan = withDrives(oneSite(8), rate, rate);
                plan.schedule = schedule;
                const auto keep = answer(kept(plan));
                QVERIFY2(peak(*answer(plan)) <= leastAtNoCost(plan, *keep) * 1.02,
                    qPrintable(QStringLiteral("schedule %1, %2 GB/s").arg(int(schedule)).arg(rate)));
            }
    }

    void noPlanIsMeaningfullySlowerThanKeeping()
    {
        // iteration(auto) <= 1.002 iteration(keep), any schedule, drives of any speed
        std::mt19937 random(51);
        const auto one = [&](auto... values) {
            const double list[] = { double(values)... };
            return list[std::uniform_int_distribution<std::size_t>(0, sizeof...(values) - 1)(random)];
        };
        for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::ZbH1,
                 ScheduleKind::ZbH2, ScheduleKind::Interleaved, ScheduleKind::Atlas, ScheduleKind::Varuna,
                 ScheduleKind::DualPipe, ScheduleKind::Hanayo })
            for (int trial = 0; trial < 12; ++trial) {
                Plan plan = withDrives(oneSite(8, int(one(2, 4))), one(4, 10, 40, 160), one(4, 10, 40, 160));
                plan.schedule = schedule;
                plan.workload.sequenceLength = int(one(1024, 4096));
                plan.memory.recompute = one(0, 1) == 1 ? Recompute::Selective : Recompute::None;
                auto keep = answer(kept(plan)), automatic = answer(plan);
                if (!keep || !keep->metrics.iterationTime)
                    continue;
                QVERIFY2(*automatic->metrics.iterationTime <= *keep->metrics.iterationTime * 1.002,
                    qPrintable(QStringLiteral("schedule %1: %2 s beside %3")
                                   .arg(int(schedule))
                                   .arg(*automatic->metrics.iterationTime)
                                   .arg(*keep->metrics.iterationTime)));
                QVERIFY(peak(*automatic) <= peak(*keep) * 1.000001);
            }
    }

    void nothingIsWrittenInVain()
    {
        // drives so slow that no peak falls: all stay, and drives do not age
        for (const double rate : { 0.01, 0.1, 1.0 }) {
            const auto automatic = answer(withDrives(oneSite(8), rate, rate));
            QVERIFY2(automatic->metrics.offload->bytesPerGpu == 0 || automatic->metrics.offload->bytesRead > 0,
                qPrintable(QString::number(rate)));
        }
    }

    void theSearchEnds()
    {
        // asked again and again it stops after kMostTasks played tasks, and the rehearsal at work then
        const Workload workload = test::placedWorkload(kept(oneSite(8)), PlacementMode::PipelineAcross);
        const auto costs = cost(workload);
        QVERIFY(costs.has_value());
        AutomaticAmount automatic(*costs, 1, 1);
        std::vector<std::vector<OffloadModule>> modules(1);
        for (int i = 0; i < 16; ++i) {
            OffloadModule module;
            module.part = i % 2 == 0 ? ModulePart::Attention : ModulePart::Mlp;
            module.layer = i / 2;
            module.offloadable = 1e9;
            module.forward = Seconds { 1e-3 };
            module.inputGrad = module.weightGrad = Seconds { 1e-3 };
            modules.front().push_back(module);
        }
        int answers = 0;
        while (automatic.choose(
            { &workload, 0, 0, &modules, gbytesPerSecond(5), gbytesPerSecond(5), gbytesPerSecond(5), 4 })) {
            ++answers;
            QVERIFY(answers < 10000);
        }
        QVERIFY(answers > 0);
        const std::size_t once = std::size_t(8) * 16 * 8
            * costs->iteration.classes.front()
                  .program.shape.microBatches; // spans of a rehearsal and its replay, roundly
        QVERIFY2(
            automatic.tasks() > AutomaticAmount::kMostTasks && automatic.tasks() < AutomaticAmount::kMostTasks + once,
            qPrintable(QString::number(automatic.tasks())));
    }

    void aFasterGpuIsNotSlower()
    {
        // peak rates and memory 1.3 times as fast, the layout the same: the automatic share costs at most what it may
        // cost, 0.2 %
        std::mt19937 random(52);
        int slower = 0, all = 0;
        for (const ScheduleKind schedule :
            { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::ZbH1, ScheduleKind::DualPipe })
            for (int trial = 0; trial < 12; ++trial) {
                Plan plan = withDrives(oneSite(8), double(4 << random() % 6), double(4 << random() % 6));
                plan.schedule = schedule;
                Pool &pool = plan.cluster.datacenters[0].pools[0];
                GpuSpec gpu = *builtinCatalogue().gpu("a100-sxm-40gb");
                plan.memory.optimizerOffload = trial % 3 == 0 ? OptimizerOffload::Host : OptimizerOffload::None;
                plan.memory.delayedUpdate = trial % 2 == 0 && trial % 3 == 0;
                plan.parallelism.zeroStage = 1;
                if (trial % 4 == 1)
                    plan.memory.offloadFraction = 0.5;
                pool.inlineGpu = gpu;
                const auto before = answer(plan);
                for (double &peak : gpu.peakTflops)
                    peak *= 1.3;
                gpu.memoryGBps *= 1.3;
                pool.inlineGpu = gpu;
                const auto after = answer(plan);
                if (!before || !after || !before->metrics.iterationTime || !after->metrics.iterationTime)
                    continue;
                ++all;
                slower += *after->metrics.iterationTime > *before->metrics.iterationTime * (1 + 1e-9) ? 1 : 0;
                QVERIFY2(*after->metrics.iterationTime <= *before->metrics.iterationTime * 1.002,
                    qPrintable(QStringLiteral("schedule %1, trial %2: %3 s, %4 before")
                                   .arg(int(schedule))
                                   .arg(trial)
                                   .arg(*after->metrics.iterationTime)
                                   .arg(*before->metrics.iterationTime)));
            }
        QVERIFY(all > 30);
        QVERIFY2(slower == 0, qPrintable(QString::number(slower)));
    }
};

TRAINYARD_APPLESS_TEST(TstAutomaticAmount)
#include "tst_automatic_amount.moc"
