// SPDX-License-Identifier: GPL-3.0-or-later
// ZeRO-2 and ZeRO-3 in a pipeline: what exchanges cost adds up to runs times collectives, what may hide does, memory
// keeps the chunks that lie whole, and stacks that cannot do it say so.
#include "core/evaluation/evaluate/estimate.h"
#include "core/facts/network/collectives.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/cost/layer/layer_cost.h"
#include "core/iteration/cost/layer/shard_traffic.h"
#include "core/iteration/iteration_costs/iteration_costs.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/model_states/stage_parameters.h"
#include "core/iteration/model_states/stage_states.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include <QtTest>

#include <cmath>
#include <vector>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr int kPipeline = 4, kChunks = 4, kMicroBatches = 8;

/// Llama 3 8B on two nodes a stage, eight layers a stage in four chunks, eight replicas of tensor 2.
Plan interleaved(int zero)
{
    Plan plan = oneSite(8, kPipeline);
    plan.parallelism.tensor = 2;
    plan.parallelism.data = 8;
    plan.parallelism.virtualPipeline = kChunks;
    plan.parallelism.zeroStage = zero;
    plan.schedule = ScheduleKind::Interleaved;
    plan.stack.name = "fsdp";
    return plan;
}

Plan with(Plan plan, const char *habit, double value)
{
    plan.stack.overrides[habit] = value;
    return plan;
}

Workload placed(const Plan &plan)
{
    return test::placedWorkload(plan, PlacementMode::PipelineAcross);
}

Costs costed(const Workload &workload)
{
    auto costs = cost(workload);
    if (!costs)
        qFatal("%s", toString(costs.error()).c_str());
    return *costs;
}

double timeOf(const Plan &plan)
{
    return *evaluated(plan)->metrics.iterationTime;
}

double bufferOf(const StageStates &states, const std::string &name)
{
    for (const auto &[known, bytes] : states.buffers)
        if (known == name)
            return bytes;
    return 0;
}

} // namespace

class TestShardRuns : public QObject {
    Q_OBJECT

private slots:
    void exchangesAddUpToRunsTimesCollectives();
    void whatHidesCostsNothingOnAnIdealStack();
    void aRunExchangesOnceWhateverItsLength();
    void exchangesFitOnTheirWay_data();
    void exchangesFitOnTheirWay();
    void theClosedFormKnowsTheRuns();
    void deepSpeedGathersMatrixByMatrixAndOnceMoreToRecompute();
    void aGatherHidesBehindTheTurnBefore();
    void withOneChunkAStageShardedGradientsCostWhatShardedStatesDo();
    void gradientsOfTwoChunksLieWhole();
    void withOneChunkAStageTheFullGradientsStay();
    void deepSpeedRefusesAndOffersZeroOne();
    void megatronCoreSaysThatItShardsStatesAlone();
    void theLargestSampleOfShardedGradientsStaysNearItsSiblings();
};

/// Where nothing hides, M times what an operation shows, over all chunks, and the stage's own reduction at the end are
/// the M / P scatters of each chunk: Σ_c M·data_c + reduce = Σ_c (M / P)·scatter_c.
void TestShardRuns::exchangesAddUpToRunsTimesCollectives()
{
    const Workload work = placed(with(with(interleaved(2), "gradient_overlap", 0), "gradient_bucket", 0));
    const Costs costs = costed(work);
    const PipelineClass &pipelines = work.layout.classes.front();
    QCOMPARE(pipelines.microBatches, kMicroBatches);
    const LayerSite site = layerSite(work, rankSet(work, pipelines, 0));
    for (int stage = 0; stage < kPipeline; ++stage) {
        const StageCosts &of = costs.stages.front()[std::size_t(stage)];
        double shown = of.reduce.value, expected = 0;
        for (int c = 0; c < kChunks; ++c) {
            shown += kMicroBatches * of.chunks[std::size_t(c)].inputGrad.data.value;
            const Bytes gradient { work.stack.gradientBytes * chunkParameters(work, stage, c).dense };
            expected += double(kMicroBatches) / kPipeline * reduceScatterTime(gradient, site.data).value;
        }
        QVERIFY(std::abs(shown / expected - 1) < 1e-9);
    }
}

void TestShardRuns::whatHidesCostsNothingOnAnIdealStack()
{
    const auto hidden = [](double overlap) {
        const Costs costs =
            costed(placed(with(with(interleaved(2), "gradient_overlap", overlap), "overlap_slowdown", 0)));
        return costs.stages.front()[1].chunks[2].inputGrad.data.value;
    };
    QVERIFY(hidden(0) > hidden(0.05) && hidden(0.05) >= hidden(1));
    QCOMPARE(hidden(1), 0.0); // a run's compute is far longer than its scatter here
}

/// Twice the micro-batches are twice the runs of the same length, so that each operation shows the same.
void TestShardRuns::aRunExchangesOnceWhateverItsLength()
{
    Plan plan = with(interleaved(2), "gradient_overlap", 0), twice = plan;
    twice.workload.globalBatch *= 2;
    const double once = costed(placed(plan)).stages.front()[1].chunks[2].inputGrad.data.value;
    QVERIFY(once > 0);
    QCOMPARE(costed(placed(twice)).stages.front()[1].chunks[2].inputGrad.data.value, once);
    // Breadth-first has one run a chunk: a share of 1 / M for each.
    plan.schedule = ScheduleKind::BreadthFirst;
    const double broad = costed(placed(plan)).stages.front()[1].chunks[2].inputGrad.data.value;
    QVERIFY(std::abs(broad / once - double(kPipeline) / kMicroBatches) < 1e-9);
}

void TestShardRuns::exchangesFitOnTheirWay_data()
{
    QTest::addColumn<int>("zero");
    QTest::addColumn<double>("gbps");
    for (const int zero : { 2, 3 })
        for (const double gbps : { 2.0, 20.0, 400.0 })
            QTest::addRow("ZeRO-%d over %g Gb/s", zero, gbps) << zero << gbps;
}

/// However much hides, what the ranks of a stage exchange needs its time on their way: Σ_c runs·(scatter + 2·gather) ≤
/// iteration.
void TestShardRuns::exchangesFitOnTheirWay()
{
    QFETCH(int, zero);
    QFETCH(double, gbps);
    Plan plan = with(with(interleaved(zero), "gradient_overlap", 1), "parameter_overlap", 1);
    plan.cluster.datacenters.front().fabricGbpsPerGpu = gbps;
    const Workload work = placed(plan);
    const LayerSite site = layerSite(work, rankSet(work, work.layout.classes.front(), 0));
    double exchanged = 0;
    for (int c = 0; c < kChunks; ++c) {
        const double elements = chunkParameters(work, 1, c).dense, runs = double(kMicroBatches) / kPipeline;
        exchanged += runs * reduceScatterTime(Bytes { work.stack.gradientBytes * elements }, site.data).value;
        if (zero == 3)
            exchanged += 2 * runs * allGatherTime(Bytes { 2 * elements }, site.data).value;
    }
    QVERIFY(exchanged > 0);
    QVERIFY2(timeOf(plan) >= exchanged, qPrintable(QString::number(timeOf(plan) / exchanged)));
}

void TestShardRuns::theClosedFormKnowsTheRuns()
{
    for (const double gbps : { 20.0, 100.0 }) {
        double before = 0, simulatedBefore = 0;
        for (const int zero : { 1, 2, 3 }) {
            Plan plan = interleaved(zero);
            plan.cluster.datacenters.front().fabricGbpsPerGpu = gbps;
            const double closed = estimate(placed(plan)).iteration.value, simulated = timeOf(plan);
            QVERIFY2(std::abs(closed / simulated - 1) < 0.17,
                qPrintable(
                    QStringLiteral("%1 Gb/s ZeRO-%2: %3 s, %4 s").arg(gbps).arg(zero).arg(closed).arg(simulated)));
            // Exchanges once a run are more, and hide better: which of the two counts is the simulation's to say.
            if (simulated >= simulatedBefore)
                QVERIFY2(closed >= 0.98 * before, qPrintable(QString::number(closed / before)));
            before = closed;
            simulatedBefore = simulated;
        }
    }
}

/// Four collectives and four rounds of copies where FSDP has one of each; what is not recomputed is not gathered again.
void TestShardRuns::deepSpeedGathersMatrixByMatrixAndOnceMoreToRecompute()
{
    Plan plan = oneSite(8, 1);
    plan.parallelism.tensor = 1;
    plan.parallelism.zeroStage = 3;
    plan.stack.name = "deepspeed";
    plan = with(with(plan, "parameter_overlap", 0), "gradient_overlap", 0);
    const auto layer = [](const Plan &p) {
        const Workload work = placed(p);
        return layerCost(work, layerSite(work, rankSet(work, work.layout.classes.front(), 0)), false);
    };
    const double copies = layer(plan).forward.data.value - layer(with(plan, "rank_copy_us", 0)).forward.data.value;
    QVERIFY(std::abs(copies / (4 * 64 * 10e-6) - 1) < 1e-9);
    const double whole = layer(with(with(plan, "gathers_by_tensor", 0), "rank_copy_us", 0)).forward.data.value;
    QVERIFY(layer(with(plan, "rank_copy_us", 0)).forward.data.value > whole);
    QCOMPARE(layer(plan).recompute.data.value, 0.0);
    plan.memory.recompute = Recompute::Full;
    QCOMPARE(layer(plan).recompute.data.value, layer(plan).forward.data.value);
    // The matrix that backward begins with is there still, so its gather is saved: of a size where nothing may stay it
    // is not.
    QVERIFY(layer(with(plan, "live_parameters", 1)).inputGrad.data.value > layer(plan).inputGrad.data.value);
    QCOMPARE(layer(with(plan, "gathers_to_recompute", 0)).recompute.data.value, 0.0);
}

/// Turns of 3, 1, 4 and 4 elements take g to gather and 1 to work, each element. Fetched ahead: min(3g, 4) behind the
/// last turn, min(g, 3), min(4g, 1) and min(4g, 4) behind the first three; launching always shows.
void TestShardRuns::aGatherHidesBehindTheTurnBefore()
{
    const auto shown = [](double g, double live) {
        std::vector<GatheredWeights> turns;
        for (const double elements : { 3.0, 1.0, 4.0, 4.0 })
            turns.push_back({ elements, Seconds { g * elements }, Seconds { 0.25 } });
        const GatherTimes times = gatherTimes(turns, Seconds { 12 }, live);
        return times.shown.value + times.hidden.value == 12 * g + 1 ? times.shown.value : -1; // nothing is lost
    };
    QCOMPARE(shown(0.25, 0), 1.0); // all fits behind the turn before
    QCOMPARE(shown(1, 0), 1 + 12 - (3 + 1 + 1 + 4.0));
    QCOMPARE(shown(10, 0), 1 + 120 - 12.0); // no more hides than there is work
    QCOMPARE(shown(1, 4), 1 + 12 - (1 + 1.0)); // beside four elements nothing is fetched
    QCOMPARE(shown(1, 1), 1 + 12.0);
}

void TestShardRuns::withOneChunkAStageShardedGradientsCostWhatShardedStatesDo()
{
    Plan two = interleaved(2);
    two.parallelism.virtualPipeline = 1;
    two.schedule = ScheduleKind::OneFOneB;
    Plan one = two;
    one.parallelism.zeroStage = 1;
    QCOMPARE(timeOf(two), timeOf(one));
}

/// Beside its shard of all gradients a rank holds those of the two largest of its four chunks whole.
void TestShardRuns::gradientsOfTwoChunksLieWhole()
{
    const Workload work = placed(interleaved(2));
    const StageStates states = stageStates(work, unlikeSets(work, 1).front());
    std::vector<double> chunks;
    for (int c = 0; c < kChunks; ++c)
        chunks.push_back(chunkParameters(work, 1, c).total());
    std::ranges::sort(chunks, std::greater {});
    QCOMPARE(bufferOf(states, "gradients before reduction"), work.stack.gradientBytes * (chunks[0] + chunks[1]));
    QCOMPARE(states.gradients, work.stack.gradientBytes * stageParameters(work, 1).total() / 8);
}

void TestShardRuns::withOneChunkAStageTheFullGradientsStay()
{
    Plan plan = interleaved(2);
    plan.parallelism.virtualPipeline = 1;
    plan.schedule = ScheduleKind::OneFOneB;
    const Workload work = placed(plan);
    QCOMPARE(bufferOf(stageStates(work, unlikeSets(work, 1).front()), "gradients before reduction"),
        work.stack.gradientBytes * stageParameters(work, 1).total());
}

void TestShardRuns::deepSpeedRefusesAndOffersZeroOne()
{
    Plan plan = interleaved(2);
    plan.stack.name = "deepspeed";
    const EvaluationPtr refused = evaluated(plan);
    QVERIFY(!refused->feasible());
    const auto found = std::ranges::find(refused->problems, "parallelism.zero_stage", &Problem::where);
    QVERIFY(found != refused->problems.end() && found->severity == Severity::Blocking && !found->fixes.empty());
    QCOMPARE(found->fixes.front().plan->parallelism.zeroStage, 1);
    QVERIFY(evaluated(*found->fixes.front().plan)->feasible());
    plan.parallelism.pipeline = 1; // without a pipeline it runs
    plan.parallelism.virtualPipeline = 1;
    plan.schedule = ScheduleKind::OneFOneB;
    QVERIFY(std::ranges::count(evaluated(plan)->problems, "parallelism.zero_stage", &Problem::where) == 0);
}

void TestShardRuns::megatronCoreSaysThatItShardsStatesAlone()
{
    Plan plan = interleaved(2);
    plan.stack.name = "megatron-core";
    const auto sharding = [](const EvaluationPtr &evaluation) {
        return std::ranges::find(evaluation->problems, "parallelism.zero_stage", &Problem::where);
    };
    const EvaluationPtr noted = evaluated(plan);
    QVERIFY(sharding(noted) != noted->problems.end());
    QCOMPARE(sharding(noted)->severity, Severity::Note);
    plan.stack.name = "fsdp";
    const EvaluationPtr plain = evaluated(plan);
    QVERIFY(sharding(plain) == plain->problems.end());
}

/// GPT-3 on 1,024 A100 with three chunks a stage: a scatter for every micro-batch took 2.7 times as long as one at the
/// end.
void TestShardRuns::theLargestSampleOfShardedGradientsStaysNearItsSiblings()
{
    const auto plan = readPlan(TRAINYARD_SOURCE_DIR "/samples/gpt3-175b-1024-a100.trainyard.json");
    QVERIFY(plan.has_value());
    Plan one = *plan, two = *plan;
    one.parallelism.zeroStage = 1;
    two.parallelism.zeroStage = 2;
    QVERIFY(timeOf(two) < 1.3 * timeOf(one));
    QVERIFY(timeOf(two) > timeOf(one));
}

TRAINYARD_APPLESS_TEST(TestShardRuns)
#include "tst_shard_runs.moc"
