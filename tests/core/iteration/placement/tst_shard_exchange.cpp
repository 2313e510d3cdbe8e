// SPDX-License-Identifier: GPL-3.0-or-later
// When ZeRO-2 and ZeRO-3 exchange in a pipeline: runs counted in the programs themselves, buffers by the rule of two.
#include "core/iteration/placement/shard_exchange.h"
#include "tests/support/test_program.h"

#include "core/facts/catalogue/catalogue.h"

#include <QtTest>

using namespace trainyard;

namespace {

Plan planOf(int pipeline, ScheduleKind schedule, int chunks, int zero)
{
    Plan plan;
    plan.parallelism.pipeline = pipeline;
    plan.parallelism.virtualPipeline = chunks;
    plan.parallelism.zeroStage = zero;
    plan.schedule = schedule;
    return plan;
}

const StackSpec &stack(const char *id)
{
    return *builtinCatalogue().stack(id);
}

} // namespace

class TestShardExchange : public QObject {
    Q_OBJECT

private slots:
    void withoutAPipelineEveryMicroBatchExchanges();
    void oneChunkAStageKeepsItsGradientsUntilTheEnd();
    void moreChunksThanBuffersExchangeInRuns();
    void aStackMayKeepEverythingWhole();
    void schedulesWithoutRunsKeepEverythingWhole();
    void layersFetchOnTheirOwnWhereWeightsLieElsewhere();
    void interleavedRunsAreAsLongAsThePipeline();
    void breadthFirstHasOneRunAChunk();
    void onlyDeepSpeedRefuses();
};

void TestShardExchange::withoutAPipelineEveryMicroBatchExchanges()
{
    const Plan plan = planOf(1, ScheduleKind::OneFOneB, 1, 3);
    QCOMPARE(shardExchange(plan, stack("fsdp")), ShardExchange::InLayers);
    QCOMPARE(chunksWithWholeGradients(plan, stack("fsdp")), 0);
    QCOMPARE(chunksWithWholeWeights(plan, stack("fsdp")), 0);
    QCOMPARE(shardExchange(planOf(1, ScheduleKind::OneFOneB, 1, 1), stack("fsdp")), ShardExchange::Once);
}

void TestShardExchange::oneChunkAStageKeepsItsGradientsUntilTheEnd()
{
    for (const int chunks : { 1, 2 }) {
        const Plan plan = planOf(8, chunks == 1 ? ScheduleKind::OneFOneB : ScheduleKind::Interleaved, chunks, 3);
        QCOMPARE(shardExchange(plan, stack("fsdp")), ShardExchange::Once);
        QCOMPARE(chunksWithWholeGradients(plan, stack("fsdp")), chunks);
        QCOMPARE(chunksWithWholeWeights(plan, stack("fsdp")), chunks);
    }
    QCOMPARE(chunksWithWholeGradients(planOf(8, ScheduleKind::OneFOneB, 1, 1), stack("fsdp")),
        0); // not sharded: no second copy
}

void TestShardExchange::moreChunksThanBuffersExchangeInRuns()
{
    const Plan plan = planOf(8, ScheduleKind::Interleaved, 6, 3);
    QCOMPARE(shardExchange(plan, stack("fsdp")), ShardExchange::InRuns);
    QCOMPARE(chunksWithWholeGradients(plan, stack("fsdp")), 2); // at work, and being scattered
    QCOMPARE(chunksWithWholeWeights(plan, stack("fsdp")), 4); // the same for forwards and for backwards
    QCOMPARE(chunksWithWholeWeights(planOf(8, ScheduleKind::Interleaved, 6, 2), stack("fsdp")),
        0); // weights are not sharded
}

void TestShardExchange::aStackMayKeepEverythingWhole()
{
    StackSpec keeps = stack("fsdp");
    keeps.pipelineKeepsGathered = true;
    const Plan plan = planOf(8, ScheduleKind::Interleaved, 6, 3);
    QCOMPARE(shardExchange(plan, keeps), ShardExchange::Once);
    QCOMPARE(chunksWithWholeGradients(plan, keeps), 6);
}

void TestShardExchange::schedulesWithoutRunsKeepEverythingWhole()
{
    // Waves turn to another chunk with every micro-batch.
    QCOMPARE(shardExchange(planOf(4, ScheduleKind::Hanayo, 4, 2), stack("fsdp")), ShardExchange::Once);
    QCOMPARE(shardExchange(planOf(4, ScheduleKind::BreadthFirst, 4, 2), stack("fsdp")), ShardExchange::InRuns);
}

void TestShardExchange::layersFetchOnTheirOwnWhereWeightsLieElsewhere()
{
    Plan plan = planOf(8, ScheduleKind::OneFOneB, 1, 3);
    plan.memory.parameterOffload = ParameterOffload::Host;
    QCOMPARE(shardExchange(plan, stack("fsdp")), ShardExchange::InLayers);
    QCOMPARE(chunksWithWholeWeights(plan, stack("fsdp")), 0);
}

/// Megatron's order deals P micro-batches to a chunk before it turns to the next: M / P runs of each chunk, on every
/// device.
void TestShardExchange::interleavedRunsAreAsLongAsThePipeline()
{
    constexpr int kDevices = 4, kMicroBatches = 16, kChunks = 3;
    const auto program = makeProgram(ScheduleKind::Interleaved, { kDevices, kMicroBatches, kChunks, {} });
    QVERIFY(program.has_value());
    for (int device = 0; device < kDevices; ++device) {
        for (const ChunkRuns &runs : chunkRuns(*program, device)) {
            QCOMPARE(runs.forward, kMicroBatches / kDevices);
            QCOMPARE(runs.backward, kMicroBatches / kDevices);
            QCOMPARE(runs.backward,
                expectedRuns(planOf(kDevices, ScheduleKind::Interleaved, kChunks, 2), kMicroBatches).backward);
        }
    }
}

void TestShardExchange::breadthFirstHasOneRunAChunk()
{
    const auto program = makeProgram(ScheduleKind::BreadthFirst, { 4, 16, 3, {} });
    QVERIFY(program.has_value());
    for (const ChunkRuns &runs : chunkRuns(*program, 2)) {
        QCOMPARE(runs.forward, 1);
        QCOMPARE(runs.backward, 1);
    }
}

void TestShardExchange::onlyDeepSpeedRefuses()
{
    for (const StackSpec &known : builtinCatalogue().stacks) {
        const bool isDeepSpeed = known.id.ends_with("deepspeed");
        QCOMPARE(refusesSharding(planOf(4, ScheduleKind::OneFOneB, 1, 2), known), isDeepSpeed);
        QVERIFY(!refusesSharding(planOf(4, ScheduleKind::OneFOneB, 1, 1), known));
        QVERIFY(!refusesSharding(planOf(1, ScheduleKind::OneFOneB, 1, 3), known));
    }
}

TRAINYARD_APPLESS_TEST(TestShardExchange)
#include "core/iteration/placement/shard_exchange.h"
#include "tst_shard_exchange.moc"
