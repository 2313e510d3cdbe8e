// SPDX-License-Identifier: GPL-3.0-or-later
// Micro-batches dealt to unequal pipelines: the least end there is, what is pinned, and what must not change.
#include "core/iteration/layouts/dealt_pipelines.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/most_replicas.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

double endOf(const std::vector<EqualPipelines> &groups, const std::vector<std::vector<DealtRun>> &dealt)
{
    double end = 0;
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (const DealtRun &run : dealt[g])
            end = std::max(end, groups[g].fill + run.microBatches * groups[g].each);
    return end;
}

/// Of every way there is.
double leastEnd(const std::vector<EqualPipelines> &groups, int samples)
{
    std::vector<const EqualPipelines *> each;
    for (const EqualPipelines &group : groups)
        each.insert(each.end(), std::size_t(group.pipelines), &group);
    double least = 1e300;
    const std::function<void(std::size_t, int, double)> deal = [&](std::size_t i, int left, double end) {
        if (i == each.size()) {
            least = left == 0 ? std::min(least, end) : least;
            return;
        }
        for (int n = 1; n <= left; ++n)
            deal(i + 1, left - n, std::max(end, each[i]->fill + n * each[i]->each));
    };
    deal(0, samples, 0);
    return least;
}

/// Samples of each GPU type's replicas.
std::map<std::string, int> samplesByGpu(const Evaluation &evaluation)
{
    const Plan &plan = *evaluation.plan;
    std::map<std::string, int> samples;
    for (const PipelineClass &c : evaluation.layout.classes) {
        const StageLocation at = c.locations.front();
        samples[plan.cluster.datacenters[std::size_t(at.datacenter)].pools[std::size_t(at.pool)].gpu] +=
            c.pipelines * c.microBatches * (c.microBatch > 0 ? c.microBatch : plan.workload.microBatch);
    }
    return samples;
}

const Problem *blocking(const Evaluation &evaluation)
{
    const auto found = std::ranges::find(evaluation.problems, Severity::Blocking, &Problem::severity);
    return found == evaluation.problems.end() ? nullptr : &*found;
}

} // namespace

class TestDealtPipelines : public QObject {
    Q_OBJECT

private slots:
    // max over pipelines of fill + n * each, the least of all ways with n >= 1 and sum n = T.
    void nobodyDealsSoThatTheSlowestEndsSooner()
    {
        std::mt19937 random(7);
        const auto draw = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
        for (int i = 0; i < 300; ++i) {
            std::vector<EqualPipelines> groups;
            int pipelines = 0;
            for (int g = draw(1, 3); g > 0; --g) {
                groups.push_back({ draw(1, 2), draw(0, 20) / 4.0, draw(1, 20) / 4.0 });
                pipelines += groups.back().pipelines;
            }
            const int samples = pipelines + draw(0, 7);
            const auto dealt = dealMicroBatches(groups, samples);
            int sum = 0;
            for (std::size_t g = 0; g < groups.size(); ++g) {
                int here = 0;
                for (const DealtRun &run : dealt[g]) {
                    QVERIFY(run.microBatches >= 1);
                    here += run.pipelines;
                    sum += run.pipelines * run.microBatches;
                }
                QCOMPARE(here, groups[g].pipelines);
            }
            QCOMPARE(sum, samples);
            QCOMPARE(endOf(groups, dealt), leastEnd(groups, samples));
        }
    }

    // A schedule that takes micro-batches by fours: 4 + 4 k each, 40 in all.
    void microBatchesComeInTheSchedulesSteps()
    {
        const EqualPipelines fast { 2, 0, 1, 1, 4, 4 }, slow { 1, 0, 3, 1, 4, 4 };
        for (const auto &runs : dealMicroBatches({ fast, slow }, 40))
            for (const DealtRun &run : runs)
                QCOMPARE(run.microBatches % 4, 0);
    }

    // end = max over groups of fill + n each: whoever is named first.
    void theOrderOfGroupsMovesNoEnd()
    {
        const auto endOf = [](const std::vector<EqualPipelines> &groups, int samples) {
            const auto dealt = dealMicroBatches(groups, samples);
            double end = 0;
            for (std::size_t g = 0; g < dealt.size(); ++g)
                for (const DealtRun &run : dealt[g])
                    end = std::max(end, groups[g].fill + run.microBatches * groups[g].each);
            return end;
        };
        for (int samples = 8; samples < 60; ++samples)
            for (const int step : { 1, 2, 4 }) {
                const EqualPipelines fast { 2, 0.5, 1, 1, step, step }, slow { 1, 0.1, 2.5, 1, step, step },
                    middle { 1, 0.3, 1.7, 1, step, step };
                const double one = endOf({ fast, middle, slow }, samples);
                QCOMPARE(endOf({ slow, middle, fast }, samples), one);
                QCOMPARE(endOf({ middle, slow, fast }, samples), one);
            }
    }

    // 67 samples on eight replicas: the odd ones go where they end soonest, whichever pool stands first.
    void theOrderOfPoolsChangesNothing()
    {
        for (const int batch : { 65, 66, 67 })
            for (const bool isPinned : { false, true }) {
                Plan plan = balanced(mixedReplicas());
                plan.workload.globalBatch = batch;
                if (isPinned) {
                    RankPin pin;
                    pin.datacenter = "a";
                    pin.pool = "fast";
                    pin.gpus = 1;
                    pin.microBatches = 9;
                    plan.heterogeneity.assign = { pin };
                }
                Plan swapped = plan;
                std::swap(swapped.cluster.datacenters.front().pools[0], swapped.cluster.datacenters.front().pools[1]);
                QCOMPARE(*evaluatedWithMost(swapped)->metrics.iterationTime,
                    *evaluatedWithMost(plan)->metrics.iterationTime);
            }
    }

    void tooFewForEveryoneIsNoDeal() { QVERIFY(dealMicroBatches({ { 3, 0, 1 } }, 2).empty()); }

    // sum over replicas of m * l = B, the faster ones have more, and the iteration is shorter than evenly dealt.
    void fasterReplicasGetMoreAndNobodyWaitsAsLong()
    {
        const auto even = evaluatedWithMost(mixedReplicas()), dealt = evaluatedWithMost(balanced(mixedReplicas()));
        auto samples = samplesByGpu(*dealt);
        QCOMPARE(samples["h100-sxm-80gb"] + samples["a100-sxm-80gb"], 64);
        QVERIFY(samples["h100-sxm-80gb"] > samples["a100-sxm-80gb"]);
        QVERIFY(*dealt->metrics.iterationTime < *even->metrics.iterationTime);
        QVERIFY(dealt->feasible());
        int noted = 0;
        for (const ReplicaShare &share : dealt->layout.shares.ranks) {
            noted += share.pipelines * share.samples;
            QVERIFY(!share.why.empty());
        }
        QCOMPARE(noted, 64);
    }

    // Equal GPUs: the balanced deal is the even one.
    void equalReplicasAreDealtEvenly()
    {
        for (const int batch : { 64, 61 }) {
            Plan plan = mixedReplicas();
            plan.cluster.datacenters.front().pools.pop_back();
            plan.workload.globalBatch = batch;
            const auto even = evaluatedWithMost(plan), dealt = evaluatedWithMost(balanced(plan));
            QCOMPARE(dealt->layout.classes, even->layout.classes);
            QCOMPARE(*dealt->metrics.iterationTime, *even->metrics.iterationTime);
        }
    }

    void twoPoolsSplitFromOneAreDealtAsOne()
    {
        Plan whole = balanced(mixedReplicas()), split = whole;
        auto &pools = split.cluster.datacenters.front().pools;
        whole.cluster.datacenters.front().pools[1] = pool("slow", "a100-sxm-80gb", 2, 2);
        pools[1] = pool("slow", "a100-sxm-80gb", 1, 2);
        pools.push_back(pool("slower", "a100-sxm-80gb", 1, 2));
        const auto one = evaluatedWithMost(whole), two = evaluatedWithMost(split);
        QCOMPARE(*two->metrics.iterationTime, *one->metrics.iterationTime);
        QCOMPARE(samplesByGpu(*two), samplesByGpu(*one));
    }

    void namesOfPoolsChangeNothing()
    {
        Plan named = balanced(mixedReplicas());
        auto &pools = named.cluster.datacenters.front().pools;
        std::swap(pools[0].id, pools[1].id);
        QCOMPARE(*evaluatedWithMost(named)->metrics.iterationTime,
            *evaluatedWithMost(balanced(mixedReplicas()))->metrics.iterationTime);
    }

    // Layer time of the deal: a faster GPU in a pool's place, with as much memory, never makes it longer. Where larger
    // micro-batches would spread what the host takes, unequal GPUs get them and equal ones do not.
    void aFasterGpuNeverSlowsTheDeal()
    {
        Plan plan = balanced(mixedReplicas());
        plan.stack.overrides["host_us_per_kernel"] = 1;
        const double before = evaluatedWithMost(plan)->layout.shares.layerTime;
        plan.cluster.datacenters.front().pools[1].gpu = "h100-sxm-80gb";
        QVERIFY(evaluatedWithMost(plan)->layout.shares.layerTime <= before);
    }

    void whatIsPinnedIsKeptAndTheRestIsDealt()
    {
        Plan plan = balanced(mixedReplicas());
        RankPin pin;
        pin.datacenter = "a";
        pin.pool = "slow";
        pin.gpus = 1;
        pin.microBatch = 2;
        pin.microBatches = 3;
        plan.heterogeneity.assign = { pin };
        const auto evaluation = evaluatedWithMost(plan);
        QVERIFY(evaluation->feasible());
        int samples = 0, pinned = 0;
        for (const PipelineClass &c : evaluation->layout.classes) {
            samples += c.pipelines * c.microBatches * std::max(1, c.microBatch);
            pinned += c.microBatch == 2 && c.microBatches == 3 ? c.pipelines : 0;
        }
        QCOMPARE(samples, 64);
        QCOMPARE(pinned, 1);
    }

    // 4 * 2 * 3 + 4 * 11 = 68 of 64.
    void pinsThatMissTheBatchSayByHowMuch()
    {
        Plan plan = mixedReplicas();
        RankPin slow, fast;
        slow.datacenter = fast.datacenter = "a";
        slow.pool = "slow";
        slow.microBatch = 2;
        slow.microBatches = 3;
        fast.pool = "fast";
        fast.microBatches = 11;
        plan.heterogeneity.assign = { slow, fast };
        const auto evaluation = evaluatedWithMost(plan);
        QVERIFY(!evaluation->feasible());
        QVERIFY(blocking(*evaluation));
        QVERIFY2(blocking(*evaluation)->text.find("68 samples") != std::string::npos
                && blocking(*evaluation)->text.find("4 more") != std::string::npos,
            blocking(*evaluation)->text.c_str());
        plan.heterogeneity.assign[1].microBatches = 10; // 24 + 40 = 64
        QVERIFY(evaluatedWithMost(plan)->feasible());
    }

    // bytes = 2 B A over all pipelines, however they are dealt, in turns or not.
    void whatCrossesTheWanIsTheSameHoweverItIsDealt()
    {
        Plan plan = mixedReplicas();
        plan.cluster.datacenters = { site("a", 1), site("b", 1) };
        for (Datacenter &datacenter : plan.cluster.datacenters)
            datacenter.pools = { pool(datacenter.id + "1", "h100-sxm-80gb", 2, 1),
                pool(datacenter.id + "2", "a100-sxm-80gb", 2, 1) };
        plan.cluster.wanLinks = { wanLink("a", "b") };
        plan.placement.stages = { { "a", 1, {} }, { "b", 1, {} } };
        plan.parallelism.pipeline = 2;
        plan.parallelism.data = 4;
        const double even = evaluatedWithMost(plan)->metrics.wanBytesPerIteration;
        for (const WanSharing sharing : { WanSharing::Spatial, WanSharing::Temporal }) {
            plan.wan.sharing = sharing;
            const auto dealt = evaluatedWithMost(balanced(plan));
            QVERIFY(dealt->feasible());
            QVERIFY(dealt->layout.classes.size() > 1);
            QVERIFY(samplesByGpu(*dealt)["h100-sxm-80gb"] > 32);
            QCOMPARE(dealt->metrics.wanBytesPerIteration, even);
        }
    }
};

TRAINYARD_APPLESS_TEST(TestDealtPipelines)
#include "tst_dealt_pipelines.moc"
