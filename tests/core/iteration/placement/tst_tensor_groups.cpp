// SPDX-License-Identifier: GPL-3.0-or-later
// Tensor groups that span nodes: where they lie, what their collectives take over the levels that they span.
#include "core/iteration/cost/layer/layer_cost.h"
#include "core/iteration/cost/wan/wan_sites.h"
#include "core/iteration/cost/wan/wan_traffic.h"
#include "core/iteration/layouts/placements.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include <QTest>

#include <memory>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Tensor 16 on nodes of `gpusPerNode`, whatever they are of.
Plan tensor16(int nodes, int gpusPerNode, int pipeline = 2)
{
    Plan plan = oneSite(nodes, pipeline);
    plan.cluster.datacenters[0].pools[0].gpusPerNode = gpusPerNode;
    plan.parallelism.tensor = 16;
    plan.stack.name = "ideal"; // which hides what it can: shown here
    plan.stack.overrides = { { "tensor_overlap", 0 } };
    return plan;
}

Workload placed(Plan plan)
{
    return test::placedWorkload(std::move(plan), PlacementMode::PipelineAcross);
}

LayerSite siteOf(const Workload &workload)
{
    return layerSite(workload, rankSet(workload, workload.layout.classes.front(), 0));
}

double tensorSeconds(const Plan &plan)
{
    const Workload workload = placed(plan);
    return layerCost(workload, siteOf(workload), false).forward.tensor.value;
}

double secondsOf(const Plan &plan)
{
    return evaluated(plan)->metrics.iterationTime.value();
}

} // namespace

class TensorGroupsTest : public QObject {
    Q_OBJECT
private slots:
    /// Eight nodes make four groups of two nodes: two replicas of two stages, each on 16 consecutive GPUs.
    void aGroupTakesWholeNodes()
    {
        const Layout layout = placed(tensor16(8, 8)).layout;
        QCOMPARE(layout.data, 2);
        QCOMPARE(layout.gpusUsed, 64);
        for (const GpuRun &run : layout.runs) {
            QCOMPARE(run.gpus, 16 * run.pipelines);
            QCOMPARE(run.firstGpu % 16, 0);
        }
        QCOMPARE(tensorLevels(placed(tensor16(8, 8))).together, 8);
    }

    void aNodeThatIsLeftIsIdleForAReason()
    {
        const Layout layout = placed(tensor16(5, 8, 1)).layout;
        QCOMPARE(layout.data, 2);
        QCOMPARE(layout.idle.size(), std::size_t(1));
        QCOMPARE(layout.idle[0].gpus, 8);
        QCOMPARE(layout.idle[0].reason, std::string("a stage needs 32 GPUs, 8 are left here"));
    }

    void partsOfNodesMakeNoGroup()
    {
        const Layout layout = placed(tensor16(8, 6)).layout;
        QCOMPARE(layout.data, 0);
        QCOMPARE(layout.idle[0].reason, std::string("a tensor group needs 16 GPUs in one node, these nodes have 6"));
    }

    /// One pool that holds groups in its nodes is enough: the other's GPUs would slow all down.
    void groupsStayInNodesWhereThoseHoldEnough()
    {
        Plan plan = tensor16(8, 8);
        plan.cluster.datacenters[0].pools.push_back(site("x", 4, "h100-sxm-80gb", 16).pools[0]);
        const Layout layout = placed(plan).layout;
        QCOMPARE(layout.data, 2);
        for (const GpuRun &run : layout.runs)
            QCOMPARE(run.pool, 1);
        plan.parallelism.data = 4; // more than those hold
        QCOMPARE(placed(plan).layout.data, 4);
    }

    /// t = gather + scatter of 2bsh bytes, twice a layer; each is half a ring inside a node, of S, and one between
    /// nodes, of S / 8.
    void collectivesGoInsideNodesFirst()
    {
        const Workload workload = placed(tensor16(4, 8, 1));
        const LayerSite site = siteOf(workload);
        QCOMPARE(site.tensor.ranks, 16);
        QCOMPARE(site.tensor.nodes(), 2);
        const double bytes = 2.0 * 8192 * 4096;
        const double inside =
            transferTime(Bytes { bytes * (7 + site.device.kind->ownShare) / 8 }, 7, site.device).value;
        const double between =
            transferTime(Bytes { bytes / 8 * (1 + site.fabric.kind->ownShare) / 2 }, 1, site.fabric).value;
        const double around = 7 * site.device.kind->ringStepUs * 1e-6;
        QCOMPARE(layerCost(workload, site, false).forward.tensor.value, 2 * 2 * (inside + between + around));
    }

    /// A node of 32 GPUs holds a group of 16 as one of 16 does; over 2 nodes, 4 and 8 it takes longer and longer.
    void theMoreNodesAGroupSpansTheLongerItTakes()
    {
        const double inOne = tensorSeconds(tensor16(2, 16, 1));
        QCOMPARE(tensorSeconds(tensor16(2, 32, 1)), inOne);
        double shorter = inOne;
        for (const int gpus : { 8, 4, 2 }) {
            const double spanning = tensorSeconds(tensor16(64 / gpus, gpus, 1));
            QVERIFY(spanning > shorter);
            shorter = spanning;
        }
    }

    void aFasterFabricShortensWhatSpansNodes()
    {
        const auto with = [](double gbps, int gpusPerNode) {
            Plan plan = tensor16(64 / gpusPerNode, gpusPerNode, 1);
            plan.parallelism.data = 1;
            plan.cluster.datacenters[0].fabricGbpsPerGpu = gbps;
            return tensorSeconds(plan);
        };
        QVERIFY(with(400, 8) < with(200, 8));
        QCOMPARE(with(400, 16), with(200, 16));
    }

    /// 72 GPUs of a rack reach each other over NVLink, in whatever nodes they are.
    void aRackOfNvlinkIsOneNode()
    {
        Plan plan = tensor16(8, 4, 1);
        plan.cluster.datacenters[0].pools[0].gpu = "gb200-186gb";
        const Workload workload = placed(plan);
        QCOMPARE(workload.layout.data, 2);
        QCOMPARE(siteOf(workload).tensor.nodes(), 1);
    }

    /// Two nodes send side by side, each over a pair of its own.
    void aGroupOverTwoNodesHasTwoNodePairs()
    {
        Plan plan = tensor16(4, 8, 2);
        plan.parallelism.data = 2;
        plan.cluster.datacenters.push_back(site("b", 4));
        plan.cluster.wanLinks = { wanLink("a", "b", 40, 5) };
        const Workload spanning = placed(plan);
        QCOMPARE(spanning.layout.classes.front().locations[1].datacenter, 1);
        plan.parallelism.tensor = 8; // each group a node
        const Workload within = placed(plan);
        QCOMPARE(shareOfPair(spanning, 0, { 0, 0 }, { 1, 0 }), 2 * shareOfPair(within, 0, { 0, 0 }, { 1, 0 }));
        QCOMPARE(replicaSites(spanning, 0).front().nodes, 4);
    }

    void aWarningSaysWhatItCostsAndNamesTheNode()
    {
        const auto warningOf = [](const Plan &plan) -> std::optional<Problem> {
            const EvaluationPtr evaluation = evaluated(plan);
            for (const Problem &problem : evaluation->problems)
                if (problem.where == "parallelism.tensor" && problem.severity == Severity::Warning)
                    return problem;
            return std::nullopt;
        };
        const auto warning = warningOf(tensor16(8, 8));
        QVERIFY(warning);
        const Metrics metrics = evaluated(tensor16(8, 8))->metrics;
        const auto share = std::llround(100 * metrics.breakdown->tensorParallel / *metrics.iterationTime);
        QVERIFY(share > 0);
        QCOMPARE(warning->text,
            "Tensor groups of 16 GPUs span nodes of 8: their collectives cross the fabric and show for "
                + std::to_string(share) + " % of the iteration");
        QCOMPARE(warning->fixes.size(), std::size_t(1));
        QCOMPARE(warning->fixes[0].plan->parallelism.tensor, 8);
        QVERIFY(!warningOf(tensor16(4, 16)));
    }

    /// Narayanan et al. 2021, figure 13, with the configurations of its scripts: of GPT with 162 billion parameters on
    /// 64 A100 in nodes of 8, tensor parallelism up to the node's size and pipeline parallelism beyond it is fastest
    /// (recalled).
    void tensorParallelismUpToTheNodeIsFastest()
    {
        for (const int batch : { 32, 128 }) {
            const auto seconds = [batch](int tensor) {
                Plan plan = oneSite(8, 64 / tensor);
                plan.cluster.datacenters[0].pools[0].gpu = "a100-sxm-80gb";
                plan.cluster.datacenters[0].fabricGbpsPerGpu = 200;
                plan.parallelism.tensor = tensor;
                ModelSpec model;
                model.name = "gpt";
                model.layers = 32;
                model.hidden = 20480;
                model.heads = model.kvHeads = 128;
                model.headDim = 160;
                model.ffn = 4 * 20480;
                model.vocab = 51200;
                model.gatedFfn = false;
                plan.workload.model.clear();
                plan.workload.inlineModel = model;
                plan.workload.sequenceLength = 2048;
                plan.workload.globalBatch = batch;
                plan.memory.recompute = Recompute::Full;
                return secondsOf(plan);
            };
            const double atNode = seconds(8);
            for (const int tensor : { 2, 4, 16, 32 })
                QVERIFY2(seconds(tensor) > atNode, qPrintable(QString("tensor %1, batch %2").arg(tensor).arg(batch)));
        }
    }
};

TRAINYARD_APPLESS_TEST(TensorGroupsTest)
#include "tst_tensor_groups.moc"
