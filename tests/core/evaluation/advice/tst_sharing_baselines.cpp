// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/sharing_results.h"
#include "core/facts/plan/plan_diff.h"
#include "core/facts/plan/plan_io.h"
#include "core/facts/plan/validate.h"
#include "core/systems/unequal_gpus/layer_time.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/core/systems/unequal_gpus/lab_cluster.h"
#include "tests/support/mixed_plans.h"

using namespace trainyard;
using test::sharedSample;

namespace {

PlanPtr shared(Plan plan)
{
    return std::make_shared<const Plan>(std::move(plan));
}

using Results = std::map<std::string, SharingResult>;

Results byId(std::vector<SharingResult> list)
{
    Results results;
    for (SharingResult &result : list)
        results[result.of.id] = std::move(result);
    return results;
}

RunPool &pool()
{
    static RunPool pool(2);
    return pool;
}

Results baselines(const PlanPtr &plan)
{
    return byId(sharingResults(kSharingBaselines, plan, builtinCatalogue(), pool()));
}

/// The same without the largest batch and model, which take longer than the rest.
Results withoutLimits(const PlanPtr &plan)
{
    EvaluationWorkspace workspace;
    const RunContext context { builtinCatalogue(), workspace };
    std::vector<SharingResult> list;
    for (SharingPlan &way : sharingBaselines(plan, context))
        list.push_back(sharingResult(std::move(way), context));
    return byId(std::move(list));
}

Results ablations(const PlanPtr &plan)
{
    return byId(ablationResults(plan, builtinCatalogue(), pool()));
}

/// Plans of which each part of the ways is different: measured layers, one place, several, tensor groups, experts.
std::vector<PlanPtr> allKindsOfPlans()
{
    Plan tensor = test::oneSite(4);
    Plan experts = test::oneSite(2, 1);
    experts.workload.model = "mixtral-8x7b";
    experts.workload.sequenceLength = 2048;
    experts.parallelism.expert = 4;
    Plan uneven = test::mixedReplicas();
    uneven.workload.globalBatch = 50; // 8 GPUs do not divide it
    return { sharedSample("cephalo-lab"), sharedSample("mixed-lab"), sharedSample("llama-7b-64-aws"),
        sharedSample("opt-30b-128-a100-384-v100"), shared(tensor), shared(experts), shared(uneven),
        shared(test::threeSites(4)) };
}

double seconds(const Results &results, const char *id)
{
    return results.at(id).iterationTime.value_or(0);
}

bool isNear(double a, double b, double relative = 1e-9)
{
    return std::abs(a - b) <= relative * std::abs(b);
}

} // namespace

class SharingBaselinesTest : public QObject {
    Q_OBJECT
private slots:
    void evenAccumulationOfTheLabTakesWhatItsSlowestGpuTakes()
    {
        // T = l (f + f + b) of each of 32 layers, with 16 samples in 2 micro-batches of 8 on the P40.
        const RankKind p40 = lab::p40(1);
        const double layer = 2 * (2 * p40.forward[7] + p40.backward[7]) / 1000;
        const Results ways = baselines(sharedSample("cephalo-lab"));
        QCOMPARE(ways.at("fsdp-accumulation").of.plan->workload.microBatch, 8);
        QVERIFY(ways.at("fsdp-accumulation").isFeasible);
        QVERIFY(isNear(seconds(ways, "fsdp-accumulation"), lab::kLayers * layer));
    }

    void theEvenSplitOfTheLabDoesNotFitItsSmallGpus()
    {
        // C(16) + 2 GiB + 16 P / 4 > 0.75 * 22.5 GiB
        const RankKind l4 = lab::l4(1);
        QVERIFY(l4.compute[15] + l4.buffers + 16 * lab::kParameters / 4 > 0.75 * l4.capacity);
        const SharingResult even = baselines(sharedSample("cephalo-lab")).at("even-split");
        QCOMPARE(even.of.plan->workload.microBatch, 16);
        QVERIFY(even.isEvaluated && !even.fits && !even.isFeasible && !even.why.empty());
        QVERIFY(even.peak > even.capacity);
    }

    void whaleOfTheLabWaitsForTheGpuOfMostFlops()
    {
        // 64 samples by 121 : 121 : 154.8 : 11.76 would be 19, 19, 24, 2; an L4 has room for 10 in one micro-batch.
        const SharingResult whale = baselines(sharedSample("cephalo-lab")).at("whale");
        int samples = 0;
        for (const RankPin &pin : whale.of.plan->heterogeneity.assign) {
            QCOMPARE(*pin.microBatches, 1);
            samples += *pin.gpus * *pin.microBatch;
            if (pin.pool == "lab-l4")
                QCOMPARE(*pin.microBatch, evenMicroBatch(lab::problem(), lab::l4(2)));
        }
        QCOMPARE(samples, 64);
        const int most = whale.of.plan->heterogeneity.assign.at(1).microBatch.value();
        const RankKind a6000 = lab::a6000(1);
        const auto m = std::size_t(most) - 1;
        QVERIFY(isNear(*whale.iterationTime, lab::kLayers * (2 * a6000.forward[m] + a6000.backward[m]) / 1000));
    }

    void cephaloGains286OverEvenAccumulationInTheTimeOfALayer()
    {
        const PlanPtr lab = sharedSample("cephalo-lab");
        const Results steps = ablations(lab);
        QVERIFY(isNear(*steps.at("both").layerTime, 0.342296848, 1e-8));
        const double gain = *steps.at("even-layered").layerTime / *steps.at("both").layerTime;
        QVERIFY(std::abs(gain - 2.86) < 0.005);
        QVERIFY(steps.at("both").of.isCurrent);
        QCOMPARE(steps.at("both").of.plan, lab);
        QVERIFY(*steps.at("compute-alone").layerTime < *steps.at("state-alone").layerTime);
        QVERIFY(*steps.at("both").layerTime < *steps.at("compute-alone").layerTime);
    }

    void theWaysOfTheLabStandInTheirOrder()
    {
        const Results ways = baselines(sharedSample("cephalo-lab"));
        const char *const order[] = { "cephalo", "whale", "groups", "uneven-pipeline", "fsdp-accumulation" };
        for (std::size_t i = 0; i < std::size(order); ++i) {
            QVERIFY2(ways.at(order[i]).isFeasible, order[i]);
            if (i > 0)
                QVERIFY2(seconds(ways, order[i - 1]) < seconds(ways, order[i]), order[i]);
        }
    }

    void layerByLayerThenPrefetchThenHostMemoryOnlyHelpsWhereWeightsTravel()
    {
        const Results steps = ablations(sharedSample("llama-7b-64-aws"));
        const char *const order[] = { "even-layered", "even-prefetch", "even-offload", "both" };
        for (std::size_t i = 1; i < std::size(order); ++i)
            QVERIFY2(seconds(steps, order[i]) < seconds(steps, order[i - 1]), order[i]);
    }

    void workAndStatesAddUpAndNobodyWaitsLongerThanTheIteration()
    {
        for (const PlanPtr &plan : allKindsOfPlans()) {
            for (const auto &[id, result] : withoutLimits(plan)) {
                if (!result.isEvaluated)
                    continue;
                double work = 0, states = 0;
                std::map<int, double> samples, replicas; // of each stage
                for (const SetShare &set : result.sets) {
                    work += set.computeShare;
                    states += set.stateShare;
                    const Parallelism &p = result.of.plan->parallelism;
                    samples[set.stage] += set.samples * set.gpus / (p.tensor * p.context);
                    QVERIFY2(set.idle >= 0 && set.idle < 1, id.c_str());
                }
                QVERIFY2(isNear(work, 1) && isNear(states, 1), id.c_str());
                if (result.of.plan->parallelism.virtualPipeline > 1)
                    continue; // where the fullest pipeline stands for all
                for (const auto &[stage, sum] : samples)
                    QVERIFY2(isNear(sum, plan->workload.globalBatch), (plan->name + ": " + id).c_str());
            }
        }
    }

    void everyWayIsAPlanThatOpensAgainAndSaysWhatIsDifferent()
    {
        for (const PlanPtr &plan : allKindsOfPlans()) {
            EvaluationWorkspace workspace;
            const RunContext context { builtinCatalogue(), workspace };
            std::vector<SharingPlan> all = sharingBaselines(plan, context);
            for (SharingPlan &step : sharingAblations(plan, context))
                all.push_back(std::move(step));
            std::set<std::string> ids;
            for (const SharingPlan &way : all) {
                QVERIFY2(ids.insert(way.id).second, way.id.c_str());
                QVERIFY(!way.label.empty() && !way.what.empty() && way.what.back() != '.');
                QCOMPARE(way.plan == nullptr, !way.whyNot.empty());
                if (!way.plan)
                    continue;
                QVERIFY(validatePlan(*way.plan).empty());
                const auto again = parsePlan(formatPlan(*way.plan), "again", way.plan->baseDir);
                QVERIFY(again && *again == *way.plan);
                const std::vector<std::string> differences = describeDifferences(*plan, *way.plan);
                QCOMPARE(differences.empty(), way.isCurrent);
                for (const std::string &sentence : differences)
                    QVERIFY2(
                        !sentence.empty() && !sentence.contains('\n') && !sentence.contains('{'), sentence.c_str());
            }
        }
    }

    void whatIsTrainedAndOnWhatStays()
    {
        for (const PlanPtr &plan : allKindsOfPlans()) {
            EvaluationWorkspace workspace;
            for (const SharingPlan &way : sharingBaselines(plan, { builtinCatalogue(), workspace })) {
                if (!way.plan)
                    continue;
                Plan back = *way.plan;
                back.workload.microBatch = plan->workload.microBatch;
                QCOMPARE(back.workload, plan->workload);
                QCOMPARE(back.cluster, plan->cluster);
                QCOMPARE(back.stack, plan->stack);
                QCOMPARE(back.layerProfiles, plan->layerProfiles);
            }
        }
    }

    void stagesOfAnUnevenPipelineLieOnEqualGpusAndFasterOnesHoldMoreLayers()
    {
        for (const char *const id : { "uneven-pipeline", "groups" }) {
            const SharingResult result = baselines(sharedSample("llama-7b-64-aws")).at(id);
            std::map<int, std::set<std::string>> gpus;
            std::map<std::string, double> workOfStage;
            for (const SetShare &set : result.sets) {
                gpus[set.stage].insert(set.gpu);
                workOfStage[set.gpu] = std::max(workOfStage[set.gpu], set.computeShare);
            }
            QVERIFY(gpus.size() > 1);
            for (const auto &[stage, names] : gpus)
                QCOMPARE(names.size(), std::size_t(1));
            QVERIFY(workOfStage.at("NVIDIA V100 SXM2 16 GB") > 2 * workOfStage.at("NVIDIA T4 16 GB"));
        }
    }

    void anEvenBatchIsInTheLargestMicroBatchThatFits()
    {
        const PlanPtr plan = sharedSample("llama-7b-64-aws");
        const SharingResult even = baselines(plan).at("fsdp-accumulation");
        QVERIFY(even.isFeasible);
        Plan larger = *even.of.plan;
        larger.workload.microBatch *= 2; // 512 samples on 64 GPUs: all sizes are powers of two
        QCOMPARE(plan->workload.globalBatch % (64 * larger.workload.microBatch), 0);
        QVERIFY(!(*run(shared(larger), Depth::Fit, { builtinCatalogue(), pool().workspace() }))->feasible());
    }

    void theLargestBatchAndModelOfTheLabAreThoseOfItsMemory()
    {
        const Results ways = baselines(sharedSample("cephalo-lab")), steps = ablations(sharedSample("cephalo-lab"));
        // One micro-batch each: 4 mEven of the fullest GPU.
        const ShareProblem problem = lab::problem();
        QVERIFY(ways.at("even-split").limits->isBatchBounded);
        QCOMPARE(ways.at("even-split").limits->batch, 4 * evenMicroBatch(problem, lab::l4(1)));
        // Further micro-batches keep nothing, where inputs of layers are part of what was measured.
        QVERIFY(!ways.at("cephalo").limits->isBatchBounded);
        // 16 P = sum of the rooms beside C(1); with even shares 4 times the smallest of them.
        double room = 0, least = 1e300;
        for (const RankKind &kind : problem.kinds) {
            room += kind.ranks * (kind.room - kind.compute[0]);
            least = std::min(least, kind.room - kind.compute[0]);
        }
        QVERIFY(steps.at("both").limits->isByEquations);
        QVERIFY(isNear(steps.at("both").limits->parameters, room / 16, 1e-6));
        QVERIFY(isNear(steps.at("compute-alone").limits->parameters, 4 * least / 16, 1e-6));
        // As plans of more layers count it: as many whole layers as that holds.
        QVERIFY(!steps.at("even-standard").limits->isByEquations);
        const double layer = lab::kParameters / lab::kLayers;
        QCOMPARE(steps.at("even-standard").limits->layers, int(4 * least / 16 / layer));
    }

    void theLargestBatchFitsAndOneSampleMoreForEachDoesNot()
    {
        const PlanPtr plan = sharedSample("llama-7b-64-aws");
        const SharingResult even = baselines(plan).at("even-split");
        QVERIFY(even.limits->isBatchBounded && !even.limits->isByEquations);
        const auto fits = [&](std::int64_t batch) {
            Plan other = *even.of.plan;
            other.workload.globalBatch = int(batch);
            other.workload.microBatch = int(batch / 64);
            return (*run(shared(other), Depth::Fit, { builtinCatalogue(), pool().workspace() }))->feasible();
        };
        QVERIFY(fits(even.limits->batch));
        QVERIFY(!fits(even.limits->batch + 64));
    }

    void statesThatStayEvenInEachOfSeveralDatacentersBlockNothing()
    {
        Plan apart = test::threeSites(4);
        apart.placement = Placement();
        const Results steps = ablations(shared(apart));
        QVERIFY(steps.at("even-offload").isFeasible && steps.at("state-alone").isFeasible);
        QCOMPARE(steps.at("state-alone").iterationTime, steps.at("even-offload").iterationTime);
        const auto warned = test::evaluated(*steps.at("state-alone").of.plan);
        QCOMPARE(std::ranges::count(warned->problems, std::string("heterogeneity"), &Problem::where), 1);
    }

    void whatCannotBeMadeSaysWhy()
    {
        Plan measured = test::oneSite(2);
        measured.profile = MeasuredStageTimes { .forwardMs = { 1 }, .backwardMs = { 2 }, .parametersMb = 1 };
        for (const auto &[id, result] : baselines(shared(measured)))
            QVERIFY2(
                !result.of.plan && !result.isEvaluated && result.why.starts_with("measured stage times"), id.c_str());
        const Results equal = baselines(shared(test::oneSite(2)));
        QVERIFY(!equal.at("groups").of.plan && equal.at("groups").why.contains("alike"));
        QVERIFY(equal.at("cephalo").isEvaluated);
    }

    void oneWayIsTheSameAloneAsAmongAll()
    {
        const PlanPtr plan = sharedSample("mixed-lab");
        const Results all = baselines(plan);
        for (const SharingBaseline which : kSharingBaselines) {
            const auto alone = sharingResults({ &which, 1 }, plan, builtinCatalogue(), pool());
            QCOMPARE(alone.size(), std::size_t(1));
            QCOMPARE(*alone.front().of.plan, *all.at(alone.front().of.id).of.plan);
            QCOMPARE(alone.front().iterationTime, all.at(alone.front().of.id).iterationTime);
        }
    }

    void aStoppedComparisonEvaluatesNothing()
    {
        std::stop_source stop;
        stop.request_stop();
        for (const SharingResult &result :
            sharingResults(kSharingBaselines, sharedSample("mixed-lab"), builtinCatalogue(), pool(), stop.get_token()))
            QVERIFY(!result.isEvaluated);
    }
};

TRAINYARD_APPLESS_TEST(SharingBaselinesTest)
#include "tst_sharing_baselines.moc"
