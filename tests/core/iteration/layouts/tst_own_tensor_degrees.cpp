// SPDX-License-Identifier: GPL-3.0-or-later
// Replicas whose tensor parallel degree is their own: where they lie, what they take, hold and exchange.
#include "core/facts/workload/model_math.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/cost/wan/wan_traffic.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/layouts/replica_runs.h"
#include "core/iteration/model_states/stage_states.h"
#include "core/iteration/placement/class_workload.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/most_replicas.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include <QtTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// The pool's next GPUs (all others: 0) in tensor groups of so many.
Plan withGroups(Plan plan, const std::string &pool, int tensor, int gpus = 0)
{
    RankPin pin;
    pin.datacenter = "a";
    pin.pool = pool;
    pin.tensor = tensor;
    if (gpus > 0)
        pin.gpus = gpus;
    plan.heterogeneity.assign.push_back(pin);
    return plan;
}

/// Four H100 in tensor groups of two and four A100 without: six replicas, 66 samples.
Plan unlike(int zeroStage = 0)
{
    Plan plan = withGroups(mixedReplicas(), "fast", 2);
    plan.parallelism.zeroStage = zeroStage;
    plan.workload.globalBatch = 66;
    return plan;
}

const DeviceMetrics &deviceIn(const Evaluation &evaluation, int pool, int stage = 0)
{
    return *std::ranges::find_if(evaluation.metrics.devices,
        [&](const DeviceMetrics &device) { return device.at.pool == pool && device.stage == stage; });
}

const PipelineClass &classIn(const Layout &layout, int pool)
{
    return *std::ranges::find_if(
        layout.classes, [&](const PipelineClass &c) { return c.locations.front().pool == pool; });
}

QByteArray blockingText(const Evaluation &evaluation)
{
    for (const Problem &problem : evaluation.problems)
        if (problem.severity == Severity::Blocking)
            return QByteArray::fromStdString(problem.text);
    return {};
}

bool areSameDevices(const Evaluation &a, const Evaluation &b)
{
    return std::ranges::equal(a.metrics.devices, b.metrics.devices, [](const DeviceMetrics &x, const DeviceMetrics &y) {
        return x.at == y.at && x.ranks == y.ranks && x.tensor == y.tensor && x.microBatch == y.microBatch
            && x.microBatches == y.microBatches && x.stateShare == y.stateShare && x.time == y.time && x.wait == y.wait
            && x.device == y.device && x.states == y.states;
    });
}

} // namespace

class TestOwnTensorDegrees : public QObject {
    Q_OBJECT

private slots:
    void pinsThatNameThePlansDegreeChangeNothing()
    {
        for (const int zeroStage : { 0, 1, 3 })
            for (const int stages : { 1, 2 }) {
                Plan plain = balanced(mixedReplicas());
                plain.parallelism.tensor = 2;
                plain.parallelism.zeroStage = zeroStage;
                plain.parallelism.pipeline = stages;
                const auto without = evaluatedWithMost(plain),
                           with = evaluatedWithMost(withGroups(withGroups(plain, "fast", 2), "slow", 2));
                QVERIFY(with->feasible());
                QCOMPARE(with->layout.classes, without->layout.classes);
                QCOMPARE(*with->metrics.iterationTime, *without->metrics.iterationTime);
                QVERIFY(areSameDevices(*with, *without));
            }
    }

    // 4 GPUs / 2 + 4 GPUs / 1 = 6 replicas on 8 GPUs; their GPUs are those of the pools, none twice.
    void groupsOfEachSizeFillTheirPool()
    {
        const auto evaluation = evaluatedWithMost(unlike());
        QVERIFY2(evaluation->feasible(), blockingText(*evaluation).constData());
        QCOMPARE(evaluation->layout.data, 6);
        QCOMPARE(evaluation->metrics.gpusUsed, 8);
        const DeviceMetrics &fast = deviceIn(*evaluation, 0), &slow = deviceIn(*evaluation, 1);
        QCOMPARE(fast.tensor, 2);
        QCOMPARE(fast.ranks, 4);
        QCOMPARE(slow.tensor, 1);
        QCOMPARE(slow.ranks, 4);
        QVERIFY(evaluation->layout.idle.empty());
    }

    // Of a pool of eight the first five in groups of two: two groups, a GPU left over, three alone; nobody's GPU twice.
    void aPartOfANodeMayHaveAnotherDegree()
    {
        Plan plan = mixedReplicas();
        plan.cluster.datacenters.front().pools = { pool("fast", "h100-sxm-80gb", 2, 8) };
        plan.workload.globalBatch = 70;
        plan = withGroups(plan, "fast", 2, 5);
        const Workload workload = dealtWorkload(plan);
        QCOMPARE(workload.layout.data, 2 + 11);
        QCOMPARE(workload.layout.gpusUsed, 15);
        QCOMPARE(workload.layout.idle.size(), 1);
        QVERIFY2(workload.layout.idle.front().reason.find("tensor group of 2") != std::string::npos,
            workload.layout.idle.front().reason.c_str());
        std::vector<bool> taken(16, false);
        for (const GpuRun &run : workload.layout.runs)
            for (int gpu = run.firstGpu; gpu < run.firstGpu + run.gpus; ++gpu) {
                QVERIFY(!taken[std::size_t(gpu)]);
                taken[std::size_t(gpu)] = true;
            }
        QVERIFY(!taken[4]);
        QCOMPARE(int(std::ranges::count(taken, true)), 15);
    }

    // Without shared states each class computes and holds what a plan of its pool alone does, with that degree.
    void eachClassIsThatOfItsPoolAlone()
    {
        const auto both = evaluatedWithMost(unlike());
        for (const int here : { 0, 1 }) {
            Plan alone = mixedReplicas();
            alone.parallelism.zeroStage = 0;
            alone.parallelism.tensor = here == 0 ? 2 : 1;
            alone.workload.globalBatch = here == 0 ? 22 : 44; // eleven each
            alone.cluster.datacenters.front().pools = { alone.cluster.datacenters.front().pools[std::size_t(here)] };
            const auto own = evaluatedWithMost(alone);
            const DeviceMetrics &mixed = deviceIn(*both, here), &single = deviceIn(*own, 0);
            QCOMPARE(mixed.microBatches, single.microBatches);
            QCOMPARE(mixed.time, single.time);
            QCOMPARE(mixed.device, single.device);
            QCOMPARE(mixed.states, single.states);
        }
    }

    // tensor * states on a GPU = (parameters + (tensor - 1) norms) * bytes: only norms lie on every GPU of a group.
    void theGpusOfAReplicaHoldTheModel()
    {
        const Workload workload = dealtWorkload(unlike());
        const double norms = layerParameters(workload.model, false).norms * workload.model.layers;
        double bytes = 0;
        for (const int here : { 1, 0 }) {
            const RankSet ranks = rankSet(workload, classIn(workload.layout, here), 0);
            const StageStates states = stageStates(workload, ranks);
            const double all = ranks.degrees.tensor * (states.weights + states.gradients + states.optimizer),
                         elements = totalParameters(workload.model) + (ranks.degrees.tensor - 1) * norms;
            if (here == 1)
                bytes = all / elements;
            QVERIFY(std::abs(all / elements / bytes - 1) < 1e-3);
        }
    }

    // Each slice of the model lies on one GPU of every replica: shares of replicas add up to 1.
    void sharesOfUnlikeReplicasAddUp()
    {
        for (const StateSharing state : { StateSharing::Even, StateSharing::MinUtilization }) {
            Plan plan = balanced(unlike(3));
            plan.heterogeneity.state = state;
            const auto evaluation = evaluatedWithMost(plan);
            QVERIFY2(evaluation->feasible(), blockingText(*evaluation).constData());
            double shares = 0;
            int samples = 0;
            for (const DeviceMetrics &device : evaluation->metrics.devices) {
                shares += double(device.ranks) / device.tensor * device.stateShare;
                samples += device.ranks / device.tensor * device.microBatch * device.microBatches;
                QVERIFY(device.device <= device.capacity);
            }
            QVERIFY(std::abs(shares - 1) < 1e-9);
            QCOMPARE(samples, 66);
        }
    }

    // 2 t P / min(tensor): groups of two and of one, six replicas, two of them side by side where fewest are.
    void aReductionTakesAsLongAsItsLargestShard()
    {
        Plan plan = unlike();
        plan.cluster.datacenters.front().pools[1].gpu = "h100-sxm-80gb";
        const Workload workload = dealtWorkload(plan);
        StageCoster coster(workload);
        const StageCosts pairs = coster.stage(classIn(workload.layout, 0), 0),
                         alone = coster.stage(classIn(workload.layout, 1), 0);
        QVERIFY(alone.reduce.value > 0);
        QCOMPARE(pairs.reduce.value, alone.reduce.value);
        const LayerSite site = coster.site(classIn(workload.layout, 0), 0);
        QCOMPARE(site.data.ranks, 6);
        QCOMPARE(site.data.ranksPerNode, 2);
        const double bytes = workload.stack.gradientBytes * totalParameters(workload.model),
                     bucket = std::max(workload.stack.gradientBucket, workload.stack.gradientBucketPerRank * 6);
        const double buckets = bucket > 0 ? std::max(1.0, std::round(totalParameters(workload.model) / bucket)) : 1;
        const double expected = buckets * allReduceTime(Bytes { bytes / buckets }, site.data).value;
        QVERIFY(std::abs(alone.reduce.value - expected) < 1e-3 * expected);
    }

    // A stage of four and a stage of one GPU: b s h elements go through the one GPU's NIC.
    void betweenUnlikeGroupsTheSmallerOneIsTheNarrowest()
    {
        Plan plan = withGroups(mixedReplicas(), "fast", 4);
        plan.cluster.datacenters.front().pools[1].gpusPerNode = 1;
        plan.parallelism.pipeline = 2;
        const Workload workload = dealtWorkload(plan);
        QCOMPARE(workload.layout.data, 1);
        const PipelineClass &only = workload.layout.classes.front();
        QCOMPARE(workload.tensorAt(only.locations[0]), 4);
        QCOMPARE(workload.tensorAt(only.locations[1]), 1);
        StageCoster coster(workload);
        std::vector<WanLinkUse> links;
        for (const int from : { 0, 1 }) {
            const LayerSite &site = coster.site(only, from);
            const BoundaryTimes times = boundaryTimes(workload, only, from, 1 - from, site, links);
            const double bytes = 2.0 * plan.workload.sequenceLength * workload.model.hidden,
                         seen = 1 - workload.stack.pipelineOverlap;
            QCOMPARE(times.serialization[0], toNanoseconds(transferTime(Bytes { bytes }, 1, site.fabric) * seen));
        }
        const auto evaluation = evaluatedWithMost(plan);
        QVERIFY2(evaluation->feasible(), blockingText(*evaluation).constData());
        QCOMPARE(deviceIn(*evaluation, 0, 0).tensor, 4);
        QCOMPARE(deviceIn(*evaluation, 1, 1).tensor, 1);
        QVERIFY(deviceIn(*evaluation, 0, 0).states < deviceIn(*evaluation, 1, 1).states);
    }

    void namesOfPoolsChangeNothing()
    {
        for (const int zeroStage : { 0, 3 }) {
            Plan renamed = unlike(zeroStage);
            renamed.cluster.datacenters.front().pools[0].id = "zzz";
            renamed.cluster.datacenters.front().pools[1].id = "fast";
            renamed.heterogeneity.assign.front().pool = "zzz";
            const auto a = evaluatedWithMost(unlike(zeroStage)), b = evaluatedWithMost(renamed);
            QCOMPARE(*a->metrics.iterationTime, *b->metrics.iterationTime);
            QVERIFY(areSameDevices(*a, *b));
        }
    }

    // Larger groups hold less on each GPU and take less time a sample.
    void largerGroupsHoldLessAndAreFaster()
    {
        double states = 1e300, time = 1e300;
        for (const int tensor : { 1, 2, 4 }) {
            Plan plan = withGroups(mixedReplicas(), "fast", tensor);
            plan.workload.globalBatch = 64 * 3 * 5;
            const auto evaluation = evaluatedWithMost(plan);
            QVERIFY(evaluation->feasible());
            const DeviceMetrics &device = deviceIn(*evaluation, 0);
            QVERIFY(device.states < states);
            QVERIFY(device.time / device.microBatches < time);
            states = device.states;
            time = device.time / device.microBatches;
        }
    }

    // Memory that a whole model does not fit into holds a half of it.
    void aPoolOfSmallGpusJoinsInGroups()
    {
        Plan plan = mixedReplicas();
        plan.cluster.datacenters.front().pools[1].gpu = "l4-24gb";
        plan.workload.model = "gpt-3-2.7b";
        plan.workload.globalBatch = 60;
        plan.parallelism.zeroStage = 1;
        plan.memory.recompute = Recompute::Full;
        const auto whole = evaluatedWithMost(plan), cut = evaluatedWithMost(balanced(withGroups(plan, "slow", 4)));
        QVERIFY(!whole->feasible());
        QVERIFY2(cut->feasible(), blockingText(*cut).constData());
        QCOMPARE(deviceIn(*cut, 1).tensor, 4);
        QVERIFY2(cut->layout.shares.ranks.back().why.find("in tensor groups of 4") != std::string::npos,
            cut->layout.shares.ranks.back().why.c_str());
    }

    // Layer by layer: T_i by each kind's own layers; shares add up to 1 and what is dealt fits.
    void layerByLayerEachReplicaHasItsOwnLayers()
    {
        Plan plan = balanced(unlike(3));
        plan.heterogeneity.state = StateSharing::MinParams;
        plan.heterogeneity.accumulation = Accumulation::Layered;
        plan.memory.recompute = Recompute::Full;
        const auto evaluation = evaluatedWithMost(plan);
        QVERIFY2(evaluation->feasible(), blockingText(*evaluation).constData());
        QVERIFY(evaluation->layout.shares.why.empty());
        double shares = 0;
        int samples = 0;
        for (const ReplicaShare &rank : evaluation->layout.shares.ranks) {
            shares += rank.pipelines * rank.stateShare;
            samples += rank.pipelines * rank.samples;
        }
        QVERIFY(std::abs(shares - 1) < 1e-9);
        QCOMPARE(samples, 66);
        QCOMPARE(deviceIn(*evaluation, 0).tensor, 2);
        QVERIFY(deviceIn(*evaluation, 0).microBatch * deviceIn(*evaluation, 0).microBatches
            > deviceIn(*evaluation, 1).microBatch * deviceIn(*evaluation, 1).microBatches);
        for (const DeviceMetrics &device : evaluation->metrics.devices)
            QVERIFY(device.device <= device.capacity);
    }

    // Both ways of accumulation answer alike.
    void aPinForMoreGpusThanServeIsRefusedInTheSameWords()
    {
        for (const Accumulation accumulation : { Accumulation::Standard, Accumulation::Layered }) {
            Plan plan = withGroups(mixedReplicas(), "fast", 2, 3);
            plan.heterogeneity.assign.front().microBatch = 1;
            plan.heterogeneity.accumulation = accumulation;
            plan.parallelism.zeroStage = 3;
            const auto evaluation = evaluatedWithMost(plan);
            const std::string &why = evaluation->layout.shares.why;
            QVERIFY2(why.find("pins 3 GPUs of a (fast), where replicas on 2 GPUs") != std::string::npos, why.c_str());
        }
    }

    void whatCannotBeCutSoIsSaid()
    {
        const auto faultOf = [](const Plan &plan) {
            const auto workload = resolve(std::make_shared<const Plan>(plan), builtinCatalogue());
            return workload ? Error {} : workload.error().front();
        };
        QCOMPARE(faultOf(withGroups(mixedReplicas(), "fast", 3)).where, std::string("heterogeneity.assign[0].tensor"));
        Plan experts = mixedReplicas();
        experts.workload.model = "mixtral-8x7b";
        QVERIFY(faultOf(withGroups(experts, "fast", 2)).what.find("experts") != std::string::npos);
        QVERIFY(faultOf(withGroups(experts, "fast", 1)).what.empty());
    }

    // Groups of eight over nodes of four: two nodes are one group, and the warning of today says so.
    void groupsMaySpanNodes()
    {
        Plan plan = mixedReplicas();
        plan.cluster.datacenters.front().pools[0].nodes = 2;
        plan = withGroups(plan, "fast", 8);
        const auto evaluation = evaluatedWithMost(plan);
        QVERIFY2(evaluation->feasible(), blockingText(*evaluation).constData());
        QCOMPARE(evaluation->layout.data, 1 + 4);
        QVERIFY(std::ranges::any_of(evaluation->problems, [](const Problem &p) {
            return p.text.find("Tensor groups of 8 GPUs span nodes of 4") != std::string::npos;
        }));
    }

    // Each of two whole pipelines lies with all its stages on GPUs of its own degree.
    void wholePipelinesLieOnGpusOfOneDegree()
    {
        Plan plan = withGroups(mixedReplicas(), "fast", 2);
        plan.parallelism.pipeline = 2;
        plan.workload.globalBatch = 63;
        const auto evaluation = evaluatedWithMost(plan);
        QVERIFY2(evaluation->feasible(), blockingText(*evaluation).constData());
        QCOMPARE(evaluation->layout.data, 1 + 2);
        for (const PipelineClass &c : evaluation->layout.classes)
            QCOMPARE(c.locations[0], c.locations[1]);
    }
};

TRAINYARD_APPLESS_TEST(TestOwnTensorDegrees)
#include "tst_own_tensor_degrees.moc"
