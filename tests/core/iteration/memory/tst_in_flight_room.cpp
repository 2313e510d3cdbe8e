// SPDX-License-Identifier: GPL-3.0-or-later
// How many micro-batches fit between forward and backward.
#include "core/iteration/memory/in_flight_room.h"
#include "tests/support/test_program.h"

#include "core/iteration/layouts/placements.h"
#include "core/iteration/memory/live_memory.h"
#include "tests/support/plans.h"
#include "tests/support/workloads.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

using namespace trainyard;

namespace {

InFlightRoom roomOf(ScheduleKind schedule, Recompute recompute)
{
    Plan plan = test::oneSite(4);
    plan.schedule = schedule;
    plan.memory.recompute = recompute;
    const Workload workload = test::placedWorkload(plan, PlacementMode::PipelineAcross);
    return inFlightRoom(workload, 0.95);
}

constexpr ScheduleKind kStrict[] = { ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::Interleaved,
    ScheduleKind::BreadthFirst, ScheduleKind::ZbH1, ScheduleKind::ZbH2, ScheduleKind::ZbV, ScheduleKind::DualPipe,
    ScheduleKind::DualPipeV, ScheduleKind::Chimera, ScheduleKind::Hanayo, ScheduleKind::TeraPipe };

/// Micro-batches of one chunk between forward and the end of their backward, at most.
int mostInFlight(const Program &program, int device)
{
    std::vector<int> now(std::size_t(program.shape.chunks));
    int most = 0;
    for (const Op &op : program.order[std::size_t(device)]) {
        int &of = now[std::size_t(op.chunk)];
        of += isForward(op.kind) ? 1 : 0;
        most = std::max(most, of);
        of -= op.kind == OpKind::WeightGrad || op.kind == OpKind::Backward ? 1 : 0;
    }
    return most;
}

ChunkMemory anyChunk(std::mt19937 &random)
{
    const auto bytes = [&] { return double(random() % 1000); };
    ChunkMemory chunk { .kept = bytes(), .whole = 0, .ends = bytes(), .loss = bytes(), .forWeightGrads = bytes() };
    chunk.whole = chunk.kept + bytes();
    for (Workspace *part : { &chunk.forward, &chunk.backward, &chunk.sparedBackward, &chunk.atLayers })
        *part = { 0, bytes(), bytes(), bytes(), bytes() };
    return chunk;
}

} // namespace

class InFlightRoomTest : public QObject {
    Q_OBJECT
private slots:
    /// bound(n in flight) >= walk, whatever the order and the bytes of its chunks, recomputed or not.
    void theBoundIsNeverBelowTheWalk()
    {
        std::mt19937 random(61);
        int compared = 0;
        for (const ScheduleKind schedule : kStrict)
            for (const int devices : { 1, 2, 4 })
                for (const int microBatches : { 1, 4, 8, 11 })
                    for (const int chunks : { 1, 2, 3 })
                        for (const bool isRecomputing : { false, true }) {
                            const auto program = makeProgram(schedule, { devices, microBatches, chunks, {} });
                            for (int device = 0; program && device < devices; ++device) {
                                std::vector<ChunkMemory> of;
                                for (int c = 0; c < chunks; ++c)
                                    of.push_back(anyChunk(random));
                                const bool isSplit = splitsBackward(*program);
                                const int most = mostInFlight(*program, device);
                                const double walk = liveInOrder(
                                    *program, device, OpMemory(of, nullptr, { isSplit, true }), isRecomputing)
                                                        .peak;
                                QVERIFY(
                                    liveBound(of, isSplit).of(most, isRecomputing ? most : 0) >= walk * (1 - 1e-12));
                                ++compared;
                            }
                        }
        QVERIFY(compared > 300);
    }

    /// 1f1b fills stage i with min(m, p - i) micro-batches and gpipe with all before the first backward: bound = walk.
    void theBoundIsTheWalkWhereTheWarmUpEndsWithAllInFlight()
    {
        std::mt19937 random(62);
        for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::GPipe })
            for (const int p : { 1, 2, 5 })
                for (const int m : { 1, 3, 8 })
                    for (int stage = 0; stage < p; ++stage) {
                        ChunkMemory chunk = anyChunk(random);
                        chunk.whole = chunk.kept;
                        chunk.sparedBackward = chunk.backward;
                        const double walk = liveInOrder(
                            *makeProgram(schedule, { p, m, 1, {} }), stage, OpMemory({ chunk }, nullptr, {}), false)
                                                .peak;
                        QVERIFY(std::abs(liveBound({ &chunk, 1 }, false)
                                             .of(schedule == ScheduleKind::GPipe ? m : std::min(m, p - stage), 0)
                                    - walk)
                            < 1e-9 * walk);
                    }
    }

    /// A micro-batch of which only layer inputs stay takes less room, so more of them fit: room / kept.
    void recomputationLeavesRoomForMore()
    {
        for (const ScheduleKind schedule : { ScheduleKind::Atlas, ScheduleKind::Varuna }) {
            const InFlightRoom none = roomOf(schedule, Recompute::None), full = roomOf(schedule, Recompute::Full);
            for (std::size_t stage = 0; stage < none.microBatches.size(); ++stage)
                QVERIFY(full.microBatches[stage] > 4 * none.microBatches[stage]);
        }
    }

    /// Where weight gradients are operations of their own, what they need stays for them whatever was recomputed.
    void whatWeightGradientsNeedCountsWhereTheyAreSplitOff()
    {
        const InFlightRoom split = roomOf(ScheduleKind::ZbH1, Recompute::Full),
                           whole = roomOf(ScheduleKind::OneFOneB, Recompute::Full);
        for (std::size_t stage = 0; stage < split.microBatches.size(); ++stage)
            QVERIFY(split.microBatches[stage] < whole.microBatches[stage]);
    }
};

TRAINYARD_APPLESS_TEST(InFlightRoomTest)
#include "tst_in_flight_room.moc"
