// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/evaluate.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/cluster/edits.h"
#include "core/facts/plan/plan_io.h"
#include "core/facts/plan/validate.h"
#include "core/facts/workload/model_math.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QTest>

#include <cmath>
#include <map>

using namespace trainyard;
using test::samplePlan;

namespace {

EvaluationPtr evaluated(const Plan &plan)
{
    EvaluationWorkspace workspace;
    const auto evaluation = evaluate(std::make_shared<Plan>(plan), builtinCatalogue(), workspace, {}, Depth::Score);
    return evaluation ? *evaluation : nullptr;
}

/// Stages that each datacenter holds, of the first pipeline.
std::vector<int> stagesByDatacenter(const Evaluation &evaluation)
{
    std::vector<int> count(evaluation.plan->cluster.datacenters.size());
    for (const StageLocation &location : evaluation.layout.classes.at(0).locations)
        ++count[static_cast<std::size_t>(location.datacenter)];
    return count;
}

double iterationOf(const Plan &plan)
{
    const EvaluationPtr evaluation = evaluated(plan);
    return evaluation && evaluation->metrics.iterationTime ? *evaluation->metrics.iterationTime : 0;
}

} // namespace

class TstSamples : public QObject {
    Q_OBJECT

private slots:
    void everySampleIsAPlan_data()
    {
        QTest::addColumn<QString>("path");
        QDirIterator files(
            QStringLiteral(TRAINYARD_SOURCE_DIR "/samples"), { QStringLiteral("*.trainyard.json") }, QDir::Files);
        int found = 0;
        for (; files.hasNext(); ++found) {
            const QString path = files.next();
            QTest::newRow(qPrintable(QFileInfo(path).fileName())) << path;
        }
        QVERIFY(found >= 6);
    }

    void everySampleIsAPlan()
    {
        QFETCH(QString, path);
        const auto plan = readPlan(path.toStdString());
        QVERIFY2(plan, plan ? "" : toString(plan.error()[0]).c_str());
        const Errors errors = validatePlan(*plan);
        QVERIFY2(errors.empty(), errors.empty() ? "" : toString(errors[0]).c_str());
        const auto again = parsePlan(formatPlan(*plan), "again", plan->baseDir);
        QVERIFY(again && *again == *plan);
        QVERIFY(!plan->name.empty());
        QVERIFY2(plan->notes.find("Assumed") != std::string::npos || plan->profile,
            "notes state sources and what is assumed");
        QVERIFY(plan->profile || plan->workload.inlineModel || hasJobs(*plan)
            || builtinCatalogue().model(plan->workload.model));
        for (const Job &job : allJobs(*plan))
            QVERIFY2(builtinCatalogue().model(job.model), job.model.c_str());
        for (const Datacenter &datacenter : plan->cluster.datacenters)
            for (const Pool &pool : datacenter.pools)
                QVERIFY2(pool.inlineGpu || builtinCatalogue().gpu(pool.gpu), pool.gpu.c_str());
        QVERIFY(builtinCatalogue().stack(plan->stack.name));
    }

    void theSizesAreThoseOfTheirTitles()
    {
        const auto gpus = [](const char *name) { return samplePlan(name).cluster.gpus(); };
        QCOMPARE(gpus("gpt3-175b-1024-a100"), 1024);
        QCOMPARE(gpus("megatron-1t-3072-a100"), 3072);
        QCOMPARE(gpus("llama-3.1-405b-16384-h100"), 16384);
        QCOMPARE(gpus("llama-3-70b-three-regions"), 3 * 192);
        QCOMPARE(gpus("atlas-three-datacenters"), 24);
        QCOMPARE(gpus("mixed-lab"), 4);
        QCOMPARE(gpus("opt-30b-128-a100-384-v100"), 128 + 384);
        QCOMPARE(gpus("llama-7b-64-aws"), 64);
        QCOMPARE(gpus("moe-2x70b-16-a800"), 16);
        QCOMPARE(gpus("hydra-lab"), 8);
        QCOMPARE(gpus("all-systems-three-datacenters"), 96);
        QCOMPARE(allJobs(samplePlan("all-systems-jobs")).size(), std::size_t(12));
        QCOMPARE(allJobs(samplePlan("hydra-lab")).size(), std::size_t(12));
    }

    void theZonesTrainOnWhatWasMeasuredBetweenThem()
    {
        const EvaluationPtr zones = evaluated(samplePlan("opt-30b-128-a100-384-v100"));
        QVERIFY(zones && zones->metrics.memory->fits && zones->feasible());
        QCOMPARE(zones->metrics.gpusUsed, 512);
        double iowa = 0, oregon = 0, egress = 0;
        for (const WanLinkUse &use : zones->metrics.wanLinks) {
            QVERIFY(use.isMeasured);
            const auto &between = zones->plan->cluster.wanLinks[std::size_t(use.link)].between;
            const bool isFar = between[1] == "us-west1-b";
            egress += use.totalBytes() / 1e9 * (isFar ? 0.02 : 0.01);
            if (use.totalBytes() > 0)
                (isFar ? oregon : iowa) = use.nodePairGbps;
        }
        QVERIFY(iowa > 7 * oregon); // "eight times less"
        // An hour of 128 A100 and 384 V100, and the bytes of an iteration at the prices between the zones.
        const double gpus = (128 * 3.673385 + 384 * 2.859998) / 3600 * zones->metrics.iterationTime.value();
        QVERIFY(std::abs(zones->metrics.cost.usdPerIteration.value() - gpus - egress) < 1e-6);
    }

    void theCloudOfThreeTypesIsSharedByWhatEachCanDo()
    {
        const EvaluationPtr cloud = evaluated(samplePlan("llama-7b-64-aws"));
        QVERIFY(cloud && cloud->feasible());
        QCOMPARE(cloud->metrics.gpusUsed, 64);
        std::map<std::string, int> samples;
        int all = 0;
        for (const ReplicaShare &share : cloud->layout.shares.ranks) {
            samples[cloud->plan->cluster.datacenters[0].pools[std::size_t(share.at.pool)].id] = share.samples;
            all += share.samples * share.pipelines;
        }
        QCOMPARE(all, 512);
        QVERIFY(samples["aws-v100"] > samples["aws-a10g"] && samples["aws-a10g"] >= samples["aws-t4"]);
        Plan even = *cloud->plan;
        even.heterogeneity.compute = ComputeSharing::Even;
        QVERIFY(iterationOf(even) > 1.3 * *cloud->metrics.iterationTime);
    }

    void theTwoExpertsOf70BFillTwoNodesOfA800()
    {
        const EvaluationPtr two = evaluated(samplePlan("moe-2x70b-16-a800"));
        QVERIFY(two && two->feasible());
        QCOMPARE(two->metrics.gpusUsed, 16);
        // Every expert lies over the eight GPUs of a node, and nothing else splits its tokens.
        const Parallelism &p = two->plan->parallelism;
        QCOMPARE(p.expert * p.expertTensor, 16);
        QVERIFY(p.tensor == 8 && !p.usesSequenceParallel());
        QCOMPARE(two->plan->moe.dispatch, MoeDispatch::TrafficAware);
        // Every rank of a tensor group sends a slice: an eighth of the bytes between nodes. The iteration gains less, a
        // published 13 % against a baseline that is not stated; what travels in pieces is no slower than in one.
        const auto with = [&](MoeDispatch dispatch) {
            Plan plan = *two->plan;
            plan.moe.dispatch = dispatch;
            return evaluated(plan);
        };
        const EvaluationPtr flat = with(MoeDispatch::Flat), sliced = with(MoeDispatch::TensorSliced);
        QVERIFY(std::abs(flat->metrics.experts->nicBytes / two->metrics.experts->nicBytes - 8) < 1e-9);
        QVERIFY(*two->metrics.iterationTime <= *sliced->metrics.iterationTime);
        const double gain = 1 - *two->metrics.iterationTime / *flat->metrics.iterationTime;
        QVERIFY2(gain > 0.05 && gain < 0.5, qPrintable(QString::number(gain)));
        // 80 layers of such a model, as its notes say, do not fit: 18 bytes for each parameter.
        ModelSpec whole = two->model;
        whole.layers = 80;
        QVERIFY(18 * totalParameters(whole) > 16.0 * double(two->metrics.memory->capacity));
        QVERIFY(std::abs(totalParameters(whole) / 1e9 - 127) < 0.5);
    }

    void theThreeDatacentersTakeAsLongAsTheReferenceSays()
    {
        // Two independent simulators agree on these: P 6, M 4, C 4, three datacenters, spatial sharing.
        Plan plan = samplePlan("atlas-three-datacenters");
        const auto iteration = [](const Plan &p) { return evaluated(p)->metrics.iterationTime.value(); };
        QVERIFY(std::abs(iteration(plan) - 61.99) < 0.01);
        plan.schedule = ScheduleKind::GPipe;
        QVERIFY(std::abs(iteration(plan) - 64.60) < 0.01);
    }

    void movingGpusBetweenTheRegionsDoesWhatTheNotesSay()
    {
        const Plan plan = samplePlan("llama-3-70b-three-regions");
        const auto moved = [&](int gpus) {
            Plan next = plan;
            next.cluster = *moveGpus(plan.cluster, 0, gpus, 2);
            return evaluated(next);
        };
        const EvaluationPtr before = evaluated(plan);
        QVERIFY(before && before->metrics.memory->fits);
        QCOMPARE(before->layout.data, 16);
        QCOMPARE(stagesByDatacenter(*before), (std::vector { 3, 3, 3 }));
        QCOMPARE(before->metrics.gpusUsed, 576);
        QCOMPARE(moved(8)->layout.data, 15);
        QCOMPARE(moved(16)->layout.data, 14);
        QVERIFY(*moved(8)->metrics.tokensPerSecond < *before->metrics.tokensPerSecond);
        QVERIFY(*moved(16)->metrics.tokensPerSecond < *moved(8)->metrics.tokensPerSecond);
        QCOMPARE(moved(24)->layout.mode, PlacementMode::DataAcross);
        QCOMPARE(stagesByDatacenter(*moved(64)), (std::vector { 2, 3, 4 }));
        QCOMPARE(moved(64)->metrics.gpusUsed, 576);
    }

    // Published (arXiv 2411.14458): up to 17 × faster than the state of the art. Ours: over one TCP connection at 40
    // ms. Closed form of GPipe: T = P tf + 2 (s + l) + (M-1) s + P (tr + tb) + (M-1) max(tr + tb, s) - tr, with s = A
    // RTT / W.
    void theHeadlineOfAtlasIsReproduced()
    {
        const Plan atlas = samplePlan("atlas-headline");
        Plan gpipe = atlas;
        gpipe.schedule = ScheduleKind::GPipe;
        gpipe.wan.sharing = WanSharing::Spatial;
        gpipe.wan.tcpConnections = 1;
        const double s = 268.75 * 0.04 / 1.5, l = 0.02, tf = 0.1, tb = 0.2, tr = 0.1;
        const double slow = 4 * tf + 2 * (s + l) + 3 * s + 4 * (tr + tb) + 3 * s - tr;
        QVERIFY(std::abs(iterationOf(gpipe) - slow) < 1e-6);
        QVERIFY(iterationOf(gpipe) / iterationOf(atlas) >= 17);
        const auto filled = evaluated(atlas);
        QVERIFY(std::abs(*filled->metrics.gpuUtilization - 0.45) < 0.03);
        QVERIFY(*filled->metrics.gpuUtilizationWithFill >= 0.9);
        QCOMPARE(filled->metrics.bubbleFill->trainingDelay, 0.0);
    }

    /// SSDTrain's figures: at a step time that hardly changes the peak falls by 28 % and more (28 to 40 % measured, up
    /// to 47 %; the model saves more) and lies below that of recomputation; twice the micro-batch fits.
    void bertOnDrivesIsAsFastAsPublishedWithALowerPeak()
    {
        const Plan plan = samplePlan("ssdtrain-bert-2xa100");
        const EvaluationPtr offload = evaluated(plan);
        QVERIFY(offload && offload->metrics.offload);
        QVERIFY(offload->feasible());
        const double reduction = offload->metrics.offload->activationPeakReduction;
        QVERIFY2(reduction >= 0.28 && reduction <= 0.65, qPrintable(QString::number(reduction)));
        QVERIFY(*offload->metrics.offload->ssdLifetimeYears > 2);
        Plan keep = plan;
        keep.memory.activationOffload = ActivationOffload::None;
        QVERIFY(std::abs(iterationOf(plan) / iterationOf(keep) - 1) < 0.02);
        Plan recompute = keep;
        recompute.memory.recompute = Recompute::Full;
        QVERIFY(offload->metrics.memory->perStage.front().device
            < evaluated(recompute)->metrics.memory->perStage.front().device);
        QVERIFY(!evaluated(keep)->feasible()); // twice the micro-batch that fits without offload
        keep.workload.microBatch = keep.workload.globalBatch = plan.workload.microBatch / 2;
        QVERIFY(evaluated(keep)->feasible());
    }

    void gptThreeOnSmallGpusFitsWithOffloadAndWouldBeSlowerWithRecomputation()
    {
        const Plan plan = samplePlan("gpt3-offload-a100-40gb");
        QVERIFY(evaluated(plan) && evaluated(plan)->feasible());
        Plan keep = plan, recompute = plan;
        keep.memory.activationOffload = recompute.memory.activationOffload = ActivationOffload::None;
        QVERIFY(!evaluated(keep)->feasible());
        recompute.memory.recompute = Recompute::Full;
        QVERIFY(evaluated(recompute)->feasible());
        QVERIFY(iterationOf(recompute) > 1.2 * iterationOf(plan));
    }
};

TRAINYARD_APPLESS_TEST(TstSamples)
#include "tst_samples.moc"
