// SPDX-License-Identifier: GPL-3.0-or-later
// What each set of equal GPUs does, waits for and holds: it adds up, and says what the timeline and the layout say.
#include "tests/support/mixed_plans.h"
#include "tests/support/most_replicas.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Seconds of training work in the compute row of a class and stage.
double workOf(const Timeline &timeline, int pipelineClass, int stage)
{
    Nanoseconds work = 0;
    for (const Track &track : timeline.tracks)
        if (track.stream == Stream::Compute && track.pipelineClass == pipelineClass && track.stage == stage)
            for (std::uint32_t span = track.first; span < track.last; ++span)
                if (isTrainingCompute(timeline.kind[span]) || timeline.kind[span] == WorkKind::Optimizer)
                    work += timeline.end[span] - timeline.start[span];
    return toSeconds(work).value;
}

const Problem *problemAbout(const Evaluation &evaluation, const char *text)
{
    const auto found = std::ranges::find_if(
        evaluation.problems, [&](const Problem &p) { return p.text.find(text) != std::string::npos; });
    return found == evaluation.problems.end() ? nullptr : &*found;
}

} // namespace

class TestDevices : public QObject {
    Q_OBJECT

private slots:
    // time + wait = iteration, of every set; GPUs of all sets = GPUs used; time <= spans of work and update.
    void timeAndWaitAddUpToTheIteration()
    {
        Plan moved = mixedStages();
        moved.heterogeneity.layers = LayerSharing::BySpeed;
        Plan exchanging = oneSite(4);
        exchanging.parallelism.zeroStage = 1;
        for (const Plan &plan : { mixedReplicas(), balanced(mixedReplicas()), moved, exchanging, threeSites(2),
                 atlasRow(4, 8, 2, 2, ScheduleKind::Atlas) }) {
            const auto evaluation = evaluated(plan);
            int gpus = 0;
            QVERIFY(!evaluation->metrics.devices.empty());
            for (const DeviceMetrics &device : evaluation->metrics.devices) {
                const double iteration = *evaluation->metrics.iterationTime;
                QVERIFY(std::abs(device.time + device.wait - iteration) < 1e-9 * iteration);
                QVERIFY(device.time > 0 && device.wait > -1e-9);
                QVERIFY(device.time <= workOf(evaluation->timeline, device.pipelineClass, device.stage) + 1e-9);
                gpus += device.ranks;
            }
            QCOMPARE(gpus, evaluation->metrics.gpusUsed);
        }
    }

    // Without exchanges inside operations, time = spans of forward, backward and update.
    void aSetThatExchangesNothingInsideComputesItsSpans()
    {
        const auto evaluation = evaluated(mixedStages());
        for (const DeviceMetrics &device : evaluation->metrics.devices) {
            const double work = workOf(evaluation->timeline, device.pipelineClass, device.stage);
            QVERIFY(std::abs(device.time - work) < 1e-6 * work);
        }
    }

    // sum over sets of replicas * m * l = B on each stage, and of their shares 1.
    void samplesAndSharesAddUp()
    {
        for (const StateSharing state : { StateSharing::Even, StateSharing::MinUtilization }) {
            Plan plan = balanced(mixedReplicas());
            plan.heterogeneity.state = state;
            plan.cluster.datacenters.front().pools[0].gpu = "h200-sxm-141gb";
            const auto evaluation = evaluated(plan);
            int samples = 0;
            double shares = 0;
            for (const DeviceMetrics &device : evaluation->metrics.devices) {
                samples += device.ranks * device.microBatch * device.microBatches;
                shares += device.ranks * device.stateShare;
            }
            QCOMPARE(samples, 64);
            QVERIFY(std::abs(shares - 1) < 1e-9);
        }
    }

    // The fullest set is what the memory metrics tell of.
    void theFullestSetIsTheStagesOwn()
    {
        for (const Plan &plan : { mixedReplicas(), mixedStages(), oneSite(4) }) {
            const auto evaluation = evaluated(plan);
            for (const StageMemory &stage : evaluation->metrics.memory->perStage) {
                double fullest = 0;
                for (const DeviceMetrics &device : evaluation->metrics.devices)
                    if (device.stage == stage.stage)
                        fullest = std::max(fullest, double(device.device) / double(device.capacity));
                QCOMPARE(fullest, double(stage.device) / double(stage.capacity));
            }
        }
    }

    // wait = time of the slow set - time of the fast one; dealing by speed is offered, faster, and leaves no such note.
    void whoWaitsForWhomIsSaidWithWhatWouldHelp()
    {
        const auto even = evaluated(withMostReplicas(mixedReplicas()));
        const Problem *waits = problemAbout(*even, "wait");
        QVERIFY(waits);
        QVERIFY2(
            waits->text.find("A100 SXM 80 GB makes each H100 SXM 80 GB") != std::string::npos, waits->text.c_str());
        QVERIFY(!waits->fixes.empty());
        const auto fixed = evaluated(*waits->fixes.front().plan);
        QVERIFY(*fixed->metrics.iterationTime < *even->metrics.iterationTime);
        QVERIFY(!problemAbout(*fixed, "makes each"));
        Plan alike = mixedReplicas();
        alike.cluster.datacenters.front().pools.pop_back();
        QVERIFY(!problemAbout(*evaluated(alike), "makes each"));
    }

    // Eight H100 and one T4 of an even batch: left to itself the plan does without the T4, and is faster.
    void aSlowGpuThatCostsMoreThanItBringsIsLeftIdle()
    {
        Plan plan = mixedReplicas();
        plan.workload.model = "gpt-3-350m";
        plan.cluster.datacenters.front().pools = { pool("fast", "h100-sxm-80gb", 1, 8), pool("slow", "t4-16gb", 1, 1) };
        plan.workload.sequenceLength = 512;
        plan.workload.globalBatch = 72;
        const auto open = evaluated(plan), all = evaluated(withMostReplicas(plan));
        QCOMPARE(open->metrics.gpusUsed, 8);
        QCOMPARE(all->metrics.gpusUsed, 9);
        QVERIFY(*open->metrics.iterationTime < *all->metrics.iterationTime);
        QVERIFY(!problemAbout(*open, "Without"));
    }
};

TRAINYARD_APPLESS_TEST(TestDevices)
#include "tst_devices.moc"
