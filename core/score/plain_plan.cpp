// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/score/plain_plan.h"

#include "core/assembly/iteration_costs.h"
#include "core/assembly/task_count.h"
#include "core/cost/stage_coster.h"
#include "core/cost/wan/wan_traffic.h"
#include "core/layouts/placements.h"
#include "core/layouts/shares.h"
#include "core/placement/activations_leave.h"
#include "core/placement/recompute.h"
#include "core/placement/shard_exchange.h"
#include "core/schedule/traits.h"
#include "core/timeline/graph_builder.h"

#include <algorithm>

namespace trainyard {

namespace {

bool keepsEverythingOnGpus(const MemoryStrategy &memory)
{
    return activationsLeaveTo(memory) == ActivationOffload::None && memory.optimizerOffload == OptimizerOffload::None
        && memory.parameterOffload == ParameterOffload::None;
}

bool isOrderedByShape(const ScheduleTraits &schedule)
{
    return schedule.orderedBy() == OrderedBy::Shape && schedule.room == RoomUse::None && !schedule.pairs
        && schedule.copies() == 1 && !schedule.isSliced();
}

bool mayBePlain(const Workload &workload)
{
    const Plan &plan = *workload.plan;
    return workload.source.hasLayers && workload.source.hasMemory && workload.source.measured.empty()
        && workload.source.inFlight.empty() && !workload.calibrated && !plan.bubbleFill.enabled
        && !plan.heterogeneity.isLayered() && !sharesOut(plan) && plan.wan.sharing == WanSharing::Spatial
        && keepsEverythingOnGpus(plan.memory) && isOrderedByShape(traitsOf(plan));
}

bool isOneClassInOnePlace(const Layout &layout)
{
    if (layout.classes.size() != 1 || layout.data < 1)
        return false;
    const PipelineClass &only = layout.classes.front();
    return only.cellMembers == 1 && only.microBatch == 0 && only.stateShare == 0 && only.locations.front().tensor == 0
        && std::ranges::all_of(only.locations, [&](const StageLocation &at) { return at == only.locations.front(); });
}

bool areAlikeRanks(const RankSet &a, const RankSet &b)
{
    return a.replicasHere == b.replicasHere && a.domain == b.domain && a.reduceDomain == b.reduceDomain
        && a.microBatch == b.microBatch && a.degrees == b.degrees && a.stateShare == b.stateShare
        && a.leastTensor == b.leastTensor && a.experts.isLike(b.experts);
}

void findKinds(PlainFrame &frame, const Workload &workload)
{
    const PipelineClass &pipelines = workload.layout.classes.front();
    RankSet before;
    for (int stage = 0; stage < workload.degrees.pipeline; ++stage) {
        RankSet ranks = rankSet(workload, pipelines, stage);
        if (!isLikeStageBefore(workload, stage) || !areAlikeRanks(ranks, before))
            frame.firstOf.push_back(static_cast<std::uint16_t>(stage));
        frame.kindOf.push_back(static_cast<std::uint16_t>(frame.firstOf.size() - 1));
        before = std::move(ranks);
    }
}

/// Boundaries of one reach are alike, since every stage sits alike.
void findBoundaries(PlainFrame &frame, const Workload &workload)
{
    const PipelineClass &pipelines = workload.layout.classes.front();
    const ChunkPlacement placement = traitsOf(*workload.plan).placement;
    const int devices = workload.degrees.pipeline, chunks = workload.degrees.programChunks();
    const int inChain = stagesInChain(placement, devices, chunks);
    std::vector<Reach> reached; // [kind]
    std::vector<std::uint16_t> known(std::size_t(devices) * std::size_t(devices < 256 ? devices : 0), 0);
    for (int q = 0; q + 1 < devices * chunks; ++q) {
        const int from = deviceAt(placement, devices, q), to = deviceAt(placement, devices, q + 1);
        std::uint16_t &kind = frame.boundaryKind.emplace_back(std::uint16_t(0));
        if (from == to || (q + 1) % inChain == 0)
            continue;
        std::uint16_t *const kept = known.empty() ? nullptr : &known[std::size_t(from * devices + to)];
        if (kept && *kept > 0) {
            kind = *kept;
            continue;
        }
        const Reach reach = reachBetween(workload, pipelines, from, to);
        const auto at = std::ranges::find(reached, reach);
        kind = static_cast<std::uint16_t>(at - reached.begin() + 1);
        if (at == reached.end()) {
            reached.push_back(reach);
            frame.boundaryOf.push_back({ from, to });
        }
        if (kept)
            *kept = kind;
    }
}

std::uint64_t shapePrint(const PlainFrame &frame, const Workload &workload)
{
    Fingerprint print;
    print.add(std::uint64_t(workload.plan->schedule) << 32 | std::uint64_t(workload.degrees.pipeline));
    print.add(std::uint64_t(workload.degrees.programChunks()) << 32
        | std::uint64_t(workload.layout.classes.front().microBatches));
    for (const std::uint16_t kind : frame.kindOf)
        print.add(kind);
    for (const std::uint16_t kind : frame.boundaryKind)
        print.add(kind);
    return print.value();
}

} // namespace

PlainFrame plainFrame(Workload &workload)
{
    PlainFrame frame;
    if (!mayBePlain(workload))
        return frame;
    Placements placed = placements(workload);
    if (placed.found.size() != 1 || !isOneClassInOnePlace(placed.found.front().layout))
        return frame;
    frame.layout = std::move(placed.found.front().layout);
    std::swap(frame.layout, workload.layout);
    findKinds(frame, workload);
    findBoundaries(frame, workload);
    frame.print = shapePrint(frame, workload);
    std::swap(frame.layout, workload.layout);
    frame.isPlain = true;
    return frame;
}

bool isPlain(const Workload &workload)
{
    const ShardExchange exchange = shardExchange(*workload.plan, workload.stack);
    return exchange != ShardExchange::InRuns && exchange != ShardExchange::ByLayers
        && simulatedTasks(workload) <= kMostTasks;
}

bool plainTimes(const Workload &workload, const PlainFrame &frame, PlainTimes &times)
{
    const PipelineClass &pipelines = workload.layout.classes.front();
    StageCoster coster(workload);
    times.ops.clear();
    times.syncAndStep.clear();
    times.boundaries.clear();
    times.isRecomputing = recomputesAnything(*workload.plan);
    times.optimizerBarrier = workload.stack.gradientNormBarrier;
    times.overhead = toNanoseconds(iterationOverhead(workload));
    double longest = 0, ends = 0; // bounds of what the iteration adds up
    Fingerprint print;
    for (const std::uint16_t stage : frame.firstOf) {
        const StageCosts costs = coster.stage(pipelines, stage);
        for (const ChunkCost &chunk : costs.chunks) {
            const OpTimes &made = times.ops.emplace_back(opTimes(chunk));
            longest = std::max(longest, double(made.forward) + double(made.backward) + double(made.recompute));
            print.add(made.recompute > 0);
        }
        const SyncAndStepTimes &end = times.syncAndStep.emplace_back(syncAndStepTimes(workload, costs));
        ends = std::max(ends, double(end.reduce) + double(end.optimizer) + double(end.gather));
        print.add((end.reduce > 0 ? 1u : 0u) | (end.optimizer > 0 ? 2u : 0u) | (end.gather > 0 ? 4u : 0u));
    }
    std::vector<WanLinkUse> links;
    for (const std::array<int, 2> &between : frame.boundaryOf) {
        const BoundaryTimes &made = times.boundaries.emplace_back(boundaryTimes(
            workload, pipelines, between[0], between[1], coster.site(pipelines, between[0]), links, { 1, 1 }));
        longest = std::max(longest, double(made.serialization[0]) + double(made.serialization[1]));
    }
    print.add((times.isRecomputing ? 1u : 0u) | (times.optimizerBarrier ? 2u : 0u) | (times.overhead > 0 ? 4u : 0u));
    times.print = print.value();
    times.list();
    const double stages = double(workload.degrees.pipeline) * workload.degrees.programChunks();
    return 2 * longest * stages * pipelines.microBatches + ends * stages + double(times.overhead)
        < double(kLongestTime) / 4;
}

void PlainTimes::list()
{
    durations.assign(1, 0);
    lags.assign(1, 0);
    for (const OpTimes &op : ops)
        durations.insert(durations.end(),
            { op.forward, op.backward - op.recompute, op.inputGrad - op.recompute, op.weightGrad, op.recompute });
    for (const SyncAndStepTimes &end : syncAndStep) {
        durations.insert(durations.end(), { end.reduce, end.optimizer, end.gather });
        lags.push_back(-std::min(end.reduceEarly, end.reduce));
    }
    durations.push_back(overhead);
    for (const BoundaryTimes &boundary : boundaries)
        lags.insert(lags.end(), { boundary.serialization[0], boundary.serialization[1] });
}

} // namespace trainyard
