// SPDX-License-Identifier: GPL-3.0-or-later
// Micro-batches of sizes of their own for unequal GPUs, micro-batch by micro-batch: against every pin of two pools'
// sizes, evaluated whole.
#include "tests/core/evaluation/evaluate/random_valid_plans.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include <QTest>

#include <algorithm>
#include <limits>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// One sequence of 256 tokens is too little to fill an H100.
Plan shortSequences()
{
    Plan plan = balanced(mixedReplicas());
    plan.workload.sequenceLength = 256;
    return plan;
}

/// Every replica on the pools of the first datacenter has micro-batches of these sizes.
Plan pinned(Plan plan, const std::vector<int> &sizes)
{
    const Datacenter &site = plan.cluster.datacenters.front();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        RankPin pin;
        pin.datacenter = site.id;
        pin.pool = site.pools[i].id;
        pin.microBatch = sizes[i];
        plan.heterogeneity.assign.push_back(std::move(pin));
    }
    return plan;
}

int sizeOf(const PipelineClass &c, const Plan &plan)
{
    return c.microBatch > 0 ? c.microBatch : plan.workload.microBatch;
}

double secondsOf(const Evaluation &evaluation)
{
    return evaluation.feasible() && evaluation.metrics.iterationTime ? *evaluation.metrics.iterationTime
                                                                     : std::numeric_limits<double>::infinity();
}

/// Two pools of unlike GPUs, each with whole replicas.
Plan drawn(unsigned seed)
{
    PortableDraws draws(seed);
    const auto one = [&]<class T>(std::initializer_list<T> values) {
        return values.begin()[draws.whole(0, int(values.size()) - 1)];
    };
    Plan plan;
    plan.cluster.datacenters = { site("a", 1) };
    plan.cluster.datacenters.front().pools = { pool("one", one({ "h100-sxm-80gb", "a100-sxm-80gb" }), 1, one({ 2, 4 })),
        pool("other", one({ "a6000-48gb", "l4-24gb", "t4-16gb" }), 1, one({ 2, 4 })) };
    plan.workload.model = one({ "gpt-3-1.3b", "opt-1.3b" });
    plan.workload.sequenceLength = one({ 128, 256, 512, 2048 });
    plan.workload.globalBatch = one({ 64, 96, 256 });
    plan.workload.microBatch = one({ 1, 2, 4 });
    plan.parallelism.zeroStage = one({ 1, 2, 3 });
    plan.parallelism.data = plan.cluster.datacenters.front().gpus();
    plan.heterogeneity.state = one({ StateSharing::Even, StateSharing::MinParams });
    return balanced(std::move(plan));
}

} // namespace

class TestOwnSizes : public QObject {
    Q_OBJECT

private slots:
    void unequalGpusGetSizesOfTheirOwnWhereThatIsFaster()
    {
        const Plan plan = shortSequences();
        const EvaluationPtr dealt = evaluated(plan), sameSize = evaluated(pinned(plan, { 1, 1 }));
        QVERIFY(dealt->feasible());
        QVERIFY(*dealt->metrics.iterationTime < 0.99 * *sameSize->metrics.iterationTime);
        QVERIFY(
            std::ranges::any_of(dealt->layout.classes, [&](const PipelineClass &c) { return sizeOf(c, plan) > 1; }));
        const auto &ranks = dealt->layout.shares.ranks;
        QVERIFY(std::ranges::any_of(ranks,
            [](const ReplicaShare &share) { return share.why.find(", in micro-batches of ") != std::string::npos; }));
    }

    void everySampleIsDealtOnce()
    {
        for (const int batch : { 64, 65, 97 }) {
            Plan plan = shortSequences();
            plan.workload.globalBatch = batch;
            const EvaluationPtr dealt = evaluated(plan);
            int samples = 0;
            for (const PipelineClass &c : dealt->layout.classes)
                samples += c.pipelines * c.microBatches * sizeOf(c, plan);
            QCOMPARE(samples, batch);
        }
    }

    void whatIsPinnedAndWhatIsEvenKeepsItsSize()
    {
        const Plan plan = shortSequences();
        for (const PipelineClass &c : evaluated(pinned(plan, { 1, 1 }))->layout.classes)
            QCOMPARE(sizeOf(c, plan), 1);
        Plan even = plan;
        even.heterogeneity.compute = ComputeSharing::Even;
        for (const PipelineClass &c : evaluated(even)->layout.classes)
            QCOMPARE(sizeOf(c, even), 1);
    }

    void equalGpusKeepThePlansSize()
    {
        Plan plan = shortSequences();
        for (Pool &pool : plan.cluster.datacenters.front().pools)
            pool.gpu = "h100-sxm-80gb";
        for (const PipelineClass &c : evaluated(plan)->layout.classes)
            QCOMPARE(sizeOf(c, plan), 1);
    }

    /// A size that does not fit is not taken: GPT-3 1.3B and its activations fill a T4.
    void sizesThatDoNotFitAreNotTaken()
    {
        Plan plan = shortSequences();
        plan.workload.sequenceLength = 2048;
        plan.parallelism.zeroStage = 3;
        plan.cluster.datacenters.front().pools.back().gpu = "t4-16gb";
        const EvaluationPtr dealt = evaluated(plan), sameSize = evaluated(pinned(plan, { 1, 1 }));
        QVERIFY(sameSize->feasible());
        QVERIFY(dealt->feasible());
        QVERIFY(*dealt->metrics.iterationTime <= *sameSize->metrics.iterationTime);
    }

    /// Every pair of sizes, evaluated. Dealing estimates, and simulates three pairs.
    void noPinnedPairOfSizesIsMuchFaster()
    {
        int compared = 0, gained = 0;
        QString slower;
        for (int seed = 0; seed < trials(30); ++seed) {
            const Plan plan = drawn(unsigned(seed));
            const double dealt = secondsOf(*evaluated(plan));
            double best = std::numeric_limits<double>::infinity();
            const int now = plan.workload.microBatch;
            for (const int one : { now / 4, now / 2, now, 2 * now, 4 * now, 8 * now })
                for (const int other : { now / 4, now / 2, now, 2 * now, 4 * now, 8 * now })
                    if (one > 0 && other > 0)
                        best = std::min(best, secondsOf(*evaluated(pinned(plan, { one, other }))));
            if (best == std::numeric_limits<double>::infinity())
                continue;
            ++compared;
            const double same = secondsOf(*evaluated(pinned(plan, { now, now })));
            QVERIFY2(
                dealt <= same * (1 + 1e-9), qPrintable(QStringLiteral("%1: %2 of %3").arg(seed).arg(dealt).arg(same)));
            gained += dealt < 0.99 * same;
            QVERIFY2(dealt <= 1.15 * best, qPrintable(QStringLiteral("%1: %2 of %3").arg(seed).arg(dealt).arg(best)));
            if (dealt > 1.03 * best)
                slower += QStringLiteral("\n%1: %2 of %3").arg(seed).arg(dealt).arg(best);
        }
        QVERIFY2(slower.count(u'\n') <= compared / 50, qPrintable(slower));
        QVERIFY2(compared > trials(20) && gained > trials(5),
            qPrintable(QStringLiteral("%1 compared, %2 gained").arg(compared).arg(gained)));
    }
};

TRAINYARD_APPLESS_TEST(TestOwnSizes)
#include "tst_own_sizes.moc"
