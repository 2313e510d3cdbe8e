// SPDX-License-Identifier: GPL-3.0-or-later
// The published shares of Cephalo's lab cluster (arXiv 2411.01075, the profile that its release ships), read off the
// product: from the sample's plan to its evaluation. Where collectives take no time, an iteration of layered
// accumulation is, of the slowest replica,
//   L · (2 F + R) − F,  F = l · f(m),  R = (l − 1) · δ + l · b(m),
// since the forward of the last layer runs inside its backward.
#include "core/evaluation/advice/evaluate.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <set>

using namespace trainyard;

namespace {

Plan lab()
{
    QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/cephalo-lab.trainyard.json"));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("the sample is gone");
    auto plan = parsePlan(file.readAll().toStdString(), "lab");
    if (!plan)
        qFatal("%s", toString(plan.error()[0]).c_str());
    return std::move(*plan);
}

EvaluationPtr evaluated(const Plan &plan)
{
    EvaluationWorkspace workspace;
    auto result = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, Depth::Spans);
    if (!result)
        qFatal("%s", toString(result.error()[0]).c_str());
    return *result;
}

Plan withCollectives(Plan plan, double gather, double scatter)
{
    plan.layerProfiles->allGatherMs = gather;
    plan.layerProfiles->reduceScatterMs = scatter;
    return plan;
}

std::vector<int> samplesOf(const Evaluation &evaluation)
{
    std::vector<int> samples;
    for (const ReplicaShare &share : evaluation.layout.shares.ranks)
        for (int i = 0; i < share.pipelines; ++i)
            samples.push_back(share.samples);
    return samples;
}

bool isNear(double a, double b, double error)
{
    return std::abs(a - b) <= error;
}

} // namespace

class TstMixedLab : public QObject {
    Q_OBJECT

private slots:
    void samplesAreDealtAsTheReleaseDealsThem()
    {
        const EvaluationPtr evaluation = evaluated(lab());
        QVERIFY(evaluation->feasible());
        QCOMPARE(samplesOf(*evaluation), (std::vector { 13, 12, 34, 5 }));
        int sum = 0;
        for (const PipelineClass &replicas : evaluation->layout.classes)
            sum += replicas.pipelines * replicas.microBatch;
        QCOMPARE(sum, 58); // of the plans that tie in time the one of the smallest sum of micro-batches
        QCOMPARE(evaluation->layout.shares.evenMicroBatch, (std::vector { 10, 10, 61, 10 }));
        QCOMPARE(evaluation->layout.shares.largestMicroBatch, (std::vector { 38, 38, 89, 38 }));
    }

    void aLayerTakesAsLongAsInTheReleaseAndTheIterationAllOfThem()
    {
        const EvaluationPtr evaluation = evaluated(lab());
        const SharedOut &shares = evaluation->layout.shares;
        QVERIFY(isNear(shares.layerTime, 0.342297, 5e-7));
        QVERIFY(isNear(shares.evenLayerTime, 0.979, 1e-4));
        QVERIFY(isNear(shares.evenLayerTime / shares.layerTime, 2.86, 0.005));
        // 32 layers of 342.297 ms, less one forward of the L4: 7.415036 · 13 + 1.181504 = 97.577 ms
        QVERIFY(isNear(*evaluation->metrics.iterationTime, 32 * 0.342296848 - 0.097576972, 1e-6));
        QVERIFY(isNear(*evaluation->metrics.iterationTime, 10.8559, 5e-5));
    }

    void statesGoWhereThereIsRoom()
    {
        const EvaluationPtr evaluation = evaluated(lab());
        std::vector<double> shares;
        double sum = 0;
        for (const ReplicaShare &share : evaluation->layout.shares.ranks)
            for (int i = 0; i < share.pipelines; ++i) {
                shares.push_back(share.stateShare);
                sum += share.stateShare;
            }
        QVERIFY(isNear(sum, 1, 1e-9));
        QVERIFY(isNear(shares[0], 0.2253, 5e-5)); // the L4 with 13 samples: what its 16.875 GiB leave
        for (std::size_t i = 1; i < shares.size(); ++i)
            QVERIFY(isNear(shares[i], 0.2582, 5e-5));
    }

    void theReleasedFillShipsEvenSharesOfWhichOneDoesNotFit()
    {
        // It reads C at l instead of m: at 1 sample instead of 13 an L4 seems to have room for a quarter.
        Plan plan = lab();
        plan.heterogeneity.releasedStateFill = true;
        plan.parallelism.data = 4;
        const EvaluationPtr evaluation = evaluated(plan);
        QCOMPARE(samplesOf(*evaluation), (std::vector { 13, 12, 34, 5 }));
        for (const ReplicaShare &share : evaluation->layout.shares.ranks)
            QCOMPARE(share.stateShare, 0.25);
        QVERIFY(!evaluation->feasible());
    }

    void collectivesHideUntilTheyTakeLongerThanALayer_data()
    {
        QTest::addColumn<double>("gather");
        QTest::addColumn<double>("scatter");
        QTest::addColumn<double>("layerMs");
        QTest::newRow("20/40") << 20.0 << 40.0 << 342.297;
        QTest::newRow("60/120") << 60.0 << 120.0 << 342.297;
        QTest::newRow("120/240: 2 AG + RS") << 120.0 << 240.0 << 480.0;
    }

    void collectivesHideUntilTheyTakeLongerThanALayer()
    {
        QFETCH(double, gather);
        QFETCH(double, scatter);
        QFETCH(double, layerMs);
        const EvaluationPtr evaluation = evaluated(withCollectives(lab(), gather, scatter));
        QVERIFY(isNear(1000 * evaluation->layout.shares.layerTime, layerMs, 0.001));
        if (layerMs < 400) // hidden but for the first gather and the last reduction
            QVERIFY(isNear(*evaluation->metrics.iterationTime, 10.855922 + (gather + scatter) / 1000, 1e-5));
    }

    void anEvenBatchWaitsForTheP40()
    {
        Plan plan = lab();
        plan.heterogeneity.compute = ComputeSharing::Even;
        plan.heterogeneity.state = StateSharing::Even;
        const EvaluationPtr evaluation = evaluated(plan);
        QCOMPARE(samplesOf(*evaluation), (std::vector { 16, 16, 16, 16 }));
        // 2 · 8: F = 2 · (15.637328 · 8 + 4.132932), R = 10 + 2 · (28.016862 · 8 + 1.877118)
        QVERIFY(isNear(1000 * evaluation->layout.shares.layerTime, 978.950, 0.001));
        QVERIFY(isNear(64 / (32 * evaluation->layout.shares.layerTime), 2.04, 0.005)); // samples/s
    }

    void rankSetsWaitForEachOther()
    {
        // Every collective joins all ranks, so each set is done with a layer when the slowest is: all last compute
        // spans of the iteration end within one layer of each other.
        const EvaluationPtr evaluation = evaluated(withCollectives(lab(), 20, 40));
        const Timeline &timeline = evaluation->timeline;
        std::vector<Nanoseconds> gathers;
        for (const Track &track : timeline.tracks) {
            if (track.stream != Stream::Collective)
                continue;
            std::vector<Nanoseconds> starts;
            for (std::uint32_t span = track.first; span < track.last; ++span)
                if (timeline.kind[span] != WorkKind::Collective) // the exchange of the gradients' norm is the first's
                    starts.push_back(timeline.start[span]);
            QCOMPARE(
                starts.size(), std::size_t(63 + 32)); // a gather a pass and layer, but one in the last; 32 reductions
            if (gathers.empty())
                gathers = starts;
            QCOMPARE(starts, gathers);
        }
        QVERIFY(!gathers.empty());
    }

    void accumulationAblationOnlyGains()
    {
        // naive → layered → overlapped, with collectives that take a sixth of a layer; boundaries that leave cost no
        // time here and free memory, where nobody measured it.
        Plan plan = withCollectives(lab(), 40, 80);
        const double overlapped = *evaluated(plan)->metrics.iterationTime;
        plan.heterogeneity.gatherPrefetch = false;
        const double layered = *evaluated(plan)->metrics.iterationTime;
        QVERIFY(overlapped < layered);
        Plan own = lab();
        own.layerProfiles.reset();
        const EvaluationPtr offloaded = evaluated(own);
        own.heterogeneity.boundaryOffload = false;
        const EvaluationPtr kept = evaluated(own);
        QVERIFY(offloaded->metrics.iterationTime <= *kept->metrics.iterationTime * (1 + 1e-9));
        QVERIFY(offloaded->metrics.offload && !kept->metrics.offload);
    }

    void memoryThatWasMeasuredWithRecomputationHoldsForNoOther()
    {
        Plan plan = lab();
        plan.workload.globalBatch = 4; // of a sample each
        const auto isMeasured = [](const Evaluation &evaluation) {
            const auto &parts = evaluation.metrics.memory->perStage.front().parts;
            return std::ranges::any_of(parts, [](const auto &part) { return part.first.starts_with("measured"); });
        };
        const EvaluationPtr with = evaluated(plan);
        plan.memory.recompute = Recompute::None;
        const EvaluationPtr without = evaluated(plan);
        QVERIFY(isMeasured(*with) && !isMeasured(*without));
        // The table has 1.12 GiB for a sample; whole activations of 32 layers are more.
        QVERIFY(without->metrics.memory->perStage.front().activations > std::int64_t(1.12 * (1 << 30)));
    }

    void inputsOfLayersThatStayAreToldWhereMemoryWasMeasuredWithoutThem()
    {
        const auto isTold = [](const Evaluation &evaluation) {
            return std::ranges::any_of(evaluation.problems,
                [](const Problem &p) { return p.text.find("inputs of layers") != std::string::npos; });
        };
        Plan plan = lab();
        QVERIFY(!isTold(*evaluated(plan)));
        plan.heterogeneity.boundaryOffload = false;
        QVERIFY(isTold(*evaluated(plan)));
    }

    void aPinnedShareIsKept()
    {
        Plan plan = lab();
        plan.heterogeneity.assign = {
            { .datacenter = "lab", .pool = "lab-p40", .microBatch = 4, .microBatches = 2, .stateShare = 0.3 }
        };
        const EvaluationPtr evaluation = evaluated(plan);
        int all = 0;
        for (const ReplicaShare &share : evaluation->layout.shares.ranks) {
            all += share.pipelines * share.samples;
            if (share.at.pool != 2)
                continue;
            QCOMPARE(share.samples, 8);
            QCOMPARE(share.stateShare, 0.3);
        }
        QCOMPARE(all, 64);
        QVERIFY(*evaluation->metrics.iterationTime > 10.8559);
    }

    void namesAndOrderOfPoolsChangeNothing()
    {
        const double before = *evaluated(lab())->metrics.iterationTime;
        Plan plan = lab();
        auto &pools = plan.cluster.datacenters[0].pools;
        std::ranges::reverse(pools);
        for (Pool &pool : pools)
            pool.id = "renamed-" + pool.id;
        const EvaluationPtr evaluation = evaluated(plan);
        QCOMPARE(*evaluation->metrics.iterationTime, before);
        std::vector<int> samples = samplesOf(*evaluation);
        std::ranges::sort(samples);
        QCOMPARE(samples, (std::vector { 5, 12, 13, 34 }));
    }

    void aPoolThatIsSplitInTwoGetsTheSame()
    {
        Plan plan = lab();
        auto &pools = plan.cluster.datacenters[0].pools;
        pools[0].gpusPerNode = 1;
        Pool other = pools[0];
        other.id = "lab-l4-too";
        pools.insert(pools.begin() + 1, other);
        const EvaluationPtr evaluation = evaluated(plan);
        QCOMPARE(*evaluation->metrics.iterationTime, *evaluated(lab())->metrics.iterationTime);
        QCOMPARE(samplesOf(*evaluation), (std::vector { 13, 12, 34, 5 }));
    }

    void whatFitsTheSharesFitsTheEvaluation()
    {
        // The room that shares are dealt by is the one that the evaluation judges: whatever is dealt, fits.
        Plan plan = lab();
        plan.layerProfiles.reset();
        plan.heterogeneity.commBufferGib.reset();
        int dealt = 0;
        for (const bool leaves : { false, true })
            for (const double fraction : { 0.7, 0.8, 0.9, 1.0 })
                for (const int sequence : { 256, 512, 1024, 2048 }) {
                    plan.heterogeneity.boundaryOffload = leaves;
                    plan.heterogeneity.memoryFraction = fraction;
                    plan.workload.sequenceLength = sequence;
                    const EvaluationPtr evaluation = evaluated(plan);
                    if (!evaluation->layout.shares.why.empty())
                        continue;
                    ++dealt;
                    QVERIFY2(evaluation->feasible(),
                        qPrintable(QStringLiteral("%1 %2 %3").arg(leaves).arg(fraction).arg(sequence)));
                }
        QVERIFY2(dealt > 16, qPrintable(QString::number(dealt)));
    }
};

TRAINYARD_GUILESS_TEST(TstMixedLab)
#include "tst_mixed_lab.moc"
