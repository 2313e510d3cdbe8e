// SPDX-License-Identifier: GPL-3.0-or-later
// Schedules with two copies of the model, in waves, in slices and with opportunistic forwards, from plan to metrics.
#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/cost/layer/expert_layer_cost.h"
#include "core/iteration/cost/layer/token_slices.h"
#include "core/iteration/layouts/placements.h"
#include "tests/support/test_program.h"

#include <QTest>

#include "tests/support/plans.h"
#include "tests/support/workloads.h"

#include <cmath>
#include <numeric>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr ScheduleKind kKinds[] = { ScheduleKind::DualPipe, ScheduleKind::DualPipeV, ScheduleKind::Chimera,
    ScheduleKind::Hanayo, ScheduleKind::Varuna, ScheduleKind::TeraPipe };

Plan with(Plan plan, ScheduleKind schedule)
{
    plan.schedule = schedule;
    return plan;
}

Workload workloadOf(const Plan &plan)
{
    return test::placedWorkload(plan, PlacementMode::PipelineAcross);
}

} // namespace

class CopiesAndSlices : public QObject {
    Q_OBJECT
private slots:
    void everyScheduleRunsAndItsBreakdownAddsUp();
    void acrossDatacentersToo();
    void twoCopiesHoldTheLayersOfTheMirrorStageToo();
    void aPairHidesExpertTrafficOnly();
    void pairsShortenTheIterationOfAnExpertModel();
    void gradientsOfTwoCopiesMeetOverTheWan();
    void slicesTakeEquallyLongAndGetShorter();
    void moreSlicesShortenTheBubble();
    void shapesThatDoNotFitAreNamed();
};

void CopiesAndSlices::everyScheduleRunsAndItsBreakdownAddsUp()
{
    for (const Recompute recompute : { Recompute::None, Recompute::Full })
        for (const ScheduleKind kind : kKinds) {
            Plan plan = with(oneSite(8), kind);
            plan.memory.recompute = recompute;
            const auto evaluation = evaluated(plan);
            QVERIFY2(evaluation->metrics.iterationTime, toString(kind));
            double sum = 0;
            for (double Breakdown::*part : kBreakdownParts)
                sum += *evaluation->metrics.breakdown.*part;
            QVERIFY2(std::abs(sum - *evaluation->metrics.iterationTime) < 1e-6 * sum, toString(kind));
            QVERIFY(*evaluation->metrics.mfu > 0.05 && *evaluation->metrics.mfu < 1);
        }
}

void CopiesAndSlices::acrossDatacentersToo()
{
    for (const ScheduleKind kind : kKinds)
        QVERIFY2(evaluated(with(threeSites(8), kind))->metrics.iterationTime, toString(kind));
}

void CopiesAndSlices::twoCopiesHoldTheLayersOfTheMirrorStageToo()
{
    const auto one = evaluated(oneSite(8)), two = evaluated(with(oneSite(8), ScheduleKind::DualPipe));
    const auto &single = one->metrics.memory->perStage, &both = two->metrics.memory->perStage;
    for (std::size_t stage = 0; stage < 4; ++stage) {
        QVERIFY(std::abs(both[stage].weights - single[stage].weights - single[3 - stage].weights) <= 2);
        // sharded over the replicas of both copies
        QVERIFY(std::abs(both[stage].optimizer - (single[stage].optimizer + single[3 - stage].optimizer) / 2) <= 2);
    }
    QCOMPARE(two->layout.chunks[0][1], two->layout.chunks[3][0]);
    QCOMPARE(two->layout.chunks[1][0], two->layout.chunks[2][1]);
}

void CopiesAndSlices::aPairHidesExpertTrafficOnly()
{
    // pair = F + B - spared, spared = both layers alone - the pair of them, for each layer that both chunks have; at
    // most what nothing computes in them.
    const OpSplit forward { Seconds { 3 }, Seconds { 1 }, {}, Seconds { 2 }, {} },
        backward { Seconds { 6 }, Seconds { 1 }, {}, Seconds { 3 }, {} };
    ExpertLayerCost layer;
    layer.forwardTimes = { Seconds { 4 }, Seconds { 2 }, Seconds { 2 }, {}, {} };
    layer.backwardTimes = { Seconds { 8 }, Seconds { 5 }, Seconds { 3 }, {}, {} };
    QCOMPARE(together(forward, backward, 1, 1, &layer).total().value, 16.0); // no pair: one after the other
    layer.pair = PairWork {};
    layer.pairTotal = Seconds { 9 };
    QCOMPARE(together(forward, backward, 1, 1, &layer).total().value, 16.0 - (4 + 8 - 9));
    QCOMPARE(together(forward, backward, 1, 1, &layer).expert.value, 5.0 - 3);
    QCOMPARE(together(forward, backward, 1, 1, &layer).tensor.value, 2.0);
    QCOMPARE(together(forward, backward, 1, 0, &layer).total().value, 16.0); // no layer in common
    layer.pairTotal = Seconds { 1 }; // less than the kernels: nothing but exchanges hides
    QCOMPARE(together(forward, backward, 1, 1, &layer).expert.value, 0.0);
    QCOMPARE(together(forward, backward, 1, 1, nullptr).total().value, 16.0);
}

void CopiesAndSlices::pairsShortenTheIterationOfAnExpertModel()
{
    Plan plan = oneSite(32, 4);
    plan.workload.model = "mixtral-8x7b";
    plan.workload.globalBatch = 512;
    plan.parallelism.tensor = 1;
    plan.parallelism.expert = 8;
    const double alone = *evaluated(with(plan, ScheduleKind::Chimera))->metrics.iterationTime;
    const auto paired = evaluated(with(plan, ScheduleKind::DualPipe));
    QVERIFY(*paired->metrics.iterationTime < alone);
    QVERIFY(!paired->timeline.pairedMicroBatch.empty());
    QVERIFY(paired->metrics.breakdown->expertParallel >= 0);
}

void CopiesAndSlices::gradientsOfTwoCopiesMeetOverTheWan()
{
    const auto one = evaluated(threeSites(8)), two = evaluated(with(threeSites(8), ScheduleKind::DualPipe));
    // Activations cross as often; the outer datacenters hold copies of each other's stages.
    const auto between = [](const EvaluationPtr &evaluation, std::size_t link) {
        return evaluation->metrics.wanLinks[link].totalBytes();
    };
    const double added = evaluated(with(threeSites(8), ScheduleKind::DualPipe))->metrics.wanBytesPerIteration
        - one->metrics.wanBytesPerIteration;
    QVERIFY(added > 0);
    QCOMPARE(between(two, 0), between(one, 0));
    QVERIFY(between(two, 2) > between(one, 2));
    Plan unlinked = with(threeSites(8), ScheduleKind::DualPipe);
    unlinked.cluster.wanLinks.pop_back();
    unlinked.parallelism.data = two->layout.data;
    const auto refused = evaluated(unlinked);
    QVERIFY(!refused->feasible());
    QVERIFY(refused->problems.front().text.find("no WAN link joins") != std::string::npos);
}

void CopiesAndSlices::slicesTakeEquallyLongAndGetShorter()
{
    Plan plan = with(oneSite(8), ScheduleKind::TeraPipe);
    plan.workload.sequenceLength = 65536;
    plan.workload.globalBatch = 8;
    plan.parallelism.tokenSlices = 8;
    const Workload workload = workloadOf(plan);
    const LayerSite site = layerSite(workload, rankSet(workload, workload.layout.classes.front(), 0));
    const std::vector<int> lengths = sliceLengths(workload, site);
    QCOMPARE(lengths.size(), std::size_t(8));
    QCOMPARE(std::accumulate(lengths.begin(), lengths.end(), 0), 65536);
    QVERIFY(std::ranges::is_sorted(lengths, std::greater {}));
    QVERIFY(lengths.front() > lengths.back());
    double shortest = 1e9, longest = 0;
    int before = 0;
    for (const int tokens : lengths) {
        const Workload slice = ofSlice(workload, tokens);
        const double time =
            (layerCost(slice, site, false).forward.compute + attentionToEarlier(slice, site, before).forward.compute)
                .value;
        shortest = std::min(shortest, time);
        longest = std::max(longest, time);
        before += tokens;
    }
    // Equal where time is linear and quadratic in tokens; products and attention come in whole tiles and waves, and
    // launches take the host as long for the shortest as for the longest.
    QVERIFY2(longest < 1.3 * shortest, qPrintable(QString::number(longest / shortest)));
}

void CopiesAndSlices::moreSlicesShortenTheBubble()
{
    Plan plan = with(oneSite(16, 8), ScheduleKind::TeraPipe);
    plan.workload.sequenceLength = 65536;
    plan.workload.globalBatch = 8;
    double before = 1;
    for (const int slices : { 1, 2, 4, 8 }) {
        plan.parallelism.tokenSlices = slices;
        const double bubble = *evaluated(plan)->metrics.bubbleFraction;
        QVERIFY(bubble < before);
        before = bubble;
    }
}

void CopiesAndSlices::shapesThatDoNotFitAreNamed()
{
    Plan few = with(oneSite(8), ScheduleKind::DualPipe);
    few.workload.globalBatch = 8; // 4 micro-batches for each of two pipelines of 4 stages
    few.parallelism.data = 2;
    const auto refused = evaluated(few);
    QVERIFY(!refused->feasible());
    QVERIFY(refused->problems.front().text.find("8 micro-batches") != std::string::npos);
    Plan sliced = with(oneSite(8), ScheduleKind::TeraPipe);
    sliced.parallelism.virtualPipeline = 2;
    QVERIFY(evaluated(sliced)->problems.front().text.find("one chunk of layers") != std::string::npos);
}

TRAINYARD_APPLESS_TEST(CopiesAndSlices)
#include "tst_copies_and_slices.moc"
