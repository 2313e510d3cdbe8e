// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/score/uniform_plan.h"

#include "core/engine/schedule/traits.h"
#include "core/engine/timeline/graph_builder.h"
#include "core/facts/plan/key_list.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/cost/wan/wan_traffic.h"
#include "core/iteration/iteration_costs/iteration_costs.h"
#include "core/iteration/iteration_costs/stack_order.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/layouts/shares.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/shard_exchange.h"

#include <algorithm>

namespace trainyard {

const std::vector<std::function<bool(const Plan &)>> &neverPlain()
{
    static const auto kAll = [] {
        std::vector<std::function<bool(const Plan &)>> all {
            [](const Plan &plan) {
                const ScheduleTraits &schedule = traitsOf(plan);
                return schedule.orderedBy() != OrderedBy::Shape || schedule.room != RoomUse::None
                    || schedule.copies() > 1 || schedule.isSliced();
            },
            [](const Plan &plan) { return activationsLeaveTo(plan.memory) != ActivationOffload::None; },
            [](const Plan &plan) { return sharesOut(plan); },
        };
        for (const KeyRow &row : planKeys())
            if (row.key.hasOwnWork)
                all.emplace_back([&row](const Plan &plan) { return row.value(plan) != row.value(standardPlan()); });
        return all;
    }();
    return kAll;
}

std::vector<std::string> UniformFrame::ignoredKeys()
{
    return pathsOf(&Parallelism::zeroStage, &Parallelism::sequenceParallel, &MemoryStrategy::recompute);
}

namespace {

bool mayBePlain(const Requested &asked)
{
    const Plan &plan = *asked.plan;
    return asked.source.hasLayers && asked.source.hasMemory && asked.source.measured.empty()
        && asked.source.inFlight.empty() && !asked.calibrated
        && std::ranges::none_of(neverPlain(), [&](const auto &isNot) { return isNot(plan); });
}

/// Pipelines differ in their number of micro-batches alone, and no stage in where it lies.
bool areInOnePlace(const Layout &layout)
{
    if (layout.classes.empty() || layout.data < 1)
        return false;
    const StageLocation place = layout.classes.front().locations.front();
    return place.tensor == 0 && std::ranges::all_of(layout.classes, [&](const PipelineClass &pipelines) {
        return pipelines.cellMembers == 1 && pipelines.microBatch == 0 && pipelines.stateShare == 0
            && std::ranges::count(pipelines.locations, place) == std::ptrdiff_t(pipelines.locations.size());
    });
}

bool areAlikeRanks(const RankSet &a, const RankSet &b)
{
    return a.replicasHere == b.replicasHere && a.domain == b.domain && a.reduceDomain == b.reduceDomain
        && a.microBatch == b.microBatch && a.degrees == b.degrees && a.stateShare == b.stateShare
        && a.leastTensor == b.leastTensor && a.experts.isLike(b.experts);
}

bool areEqualRuns(const std::vector<ChunkRuns> &a, const std::vector<ChunkRuns> &b)
{
    return std::ranges::equal(
        a, b, [](ChunkRuns x, ChunkRuns y) { return x.forward == y.forward && x.backward == y.backward; });
}

/// `program`: where shards are exchanged in runs; else nullptr. False where classes are not alike.
bool findKinds(UniformFrame &frame, const Workload &workload, const Program *program)
{
    const PipelineClass &pipelines = workload.layout.classes.front();
    RankSet before;
    for (int stage = 0; stage < workload.degrees.pipeline; ++stage) {
        RankSet ranks = rankSet(workload, pipelines, stage);
        for (const PipelineClass &other : workload.layout.classes)
            if (&other != &pipelines && !areAlikeRanks(rankSet(workload, other, stage), ranks))
                return false;
        std::vector<ChunkRuns> runs = program ? chunkRuns(*program, stage) : std::vector<ChunkRuns> {};
        if (!isLikeStageBefore(workload, stage) || !areAlikeRanks(ranks, before)
            || (program && !areEqualRuns(runs, frame.runs.back()))) {
            frame.firstOf.push_back(static_cast<std::uint16_t>(stage));
            if (program)
                frame.runs.push_back(std::move(runs));
        }
        frame.kindOf.push_back(static_cast<std::uint16_t>(frame.firstOf.size() - 1));
        before = std::move(ranks);
    }
    return true;
}

/// Boundaries of one reach are alike, since every stage sits alike. False where classes are not.
bool findBoundaries(UniformFrame &frame, const Workload &workload)
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
        for (const PipelineClass &other : workload.layout.classes)
            if (reachBetween(workload, other, from, to) != reach)
                return false;
        const auto at = std::ranges::find(reached, reach);
        kind = static_cast<std::uint16_t>(at - reached.begin() + 1);
        if (at == reached.end()) {
            reached.push_back(reach);
            frame.boundaryOf.push_back({ from, to });
        }
        if (kept)
            *kept = kind;
    }
    return true;
}

std::uint64_t familyPrint(const UniformFrame &frame, const Workload &workload)
{
    Fingerprint print;
    print.add(std::uint64_t(workload.plan->schedule) << 32 | std::uint64_t(workload.degrees.pipeline));
    print.add(std::uint64_t(workload.degrees.programChunks()) << 32 | std::uint64_t(frame.firstOf.size()) << 1
        | (traitsOf(*workload.plan).pairs ? 1u : 0u));
    for (const std::uint16_t first : frame.firstOf)
        print.add(first);
    for (const std::uint16_t kind : frame.boundaryKind)
        print.add(kind);
    return print.value();
}

} // namespace

ScheduleShape uniformShape(const Workload &workload, int microBatches)
{
    return { workload.degrees.pipeline, microBatches, workload.degrees.programChunks(), {} };
}

UniformFrame uniformFrame(WorkloadInTurn &turns, bool inRuns)
{
    UniformFrame frame;
    if (!mayBePlain(turns.asked()))
        return frame;
    Placements placed = placements(turns.asked());
    frame.isRefused = placed.found.empty();
    if (placed.found.size() != 1 || !areInOnePlace(placed.found.front().layout))
        return frame;
    frame.layout = std::move(placed.found.front().layout);
    for (const PipelineClass &pipelines : frame.layout.classes)
        frame.microBatches.push_back(pipelines.microBatches);
    if (inRuns && frame.microBatches.size() > 1) // the runs of a stage are those of one program
        return frame;
    const Workload &workload = turns.at(std::move(frame.layout));
    std::optional<Program> program;
    if (inRuns) {
        auto made = programOf(workload, uniformShape(workload, frame.microBatches.front()));
        frame.isRefused = !made;
        if (made)
            program = *std::move(made);
    }
    if (!frame.isRefused) {
        frame.isUniform = findKinds(frame, workload, inRuns ? &*program : nullptr) && findBoundaries(frame, workload);
        frame.familyPrint = familyPrint(frame, workload);
    }
    frame.layout = turns.takeLayout();
    return frame;
}

void uniformTimes(const Workload &workload, const UniformFrame &frame, UniformTimes &times)
{
    const PipelineClass &pipelines = workload.layout.classes.front();
    StageCoster coster(workload);
    times.ops.clear();
    times.syncAndStep.clear();
    times.boundaries.clear();
    times.overhead = toNanoseconds(iterationOverhead(workload));
    const bool pairs = traitsOf(*workload.plan).pairs;
    times.pairs.clear();
    double longest = 0, ends = 0;
    for (std::size_t kind = 0; kind < frame.firstOf.size(); ++kind) {
        const int stage = frame.firstOf[kind];
        StageCosts costs = coster.stage(pipelines, stage);
        const SyncAndStepTimes &end = times.syncAndStep.emplace_back(syncAndStepTimes(workload, costs));
        ends = std::max(ends, double(end.reduce) + double(end.optimizer) + double(end.gather));
        if (!frame.runs.empty())
            coster.addShardRuns(pipelines, stage, frame.runs[kind], costs.chunks);
        for (const ChunkCost &chunk : costs.chunks) {
            const OpTimes &made = times.ops.emplace_back(opTimes(chunk));
            longest = std::max(longest, double(made.forward) + double(made.backward) + double(made.recompute));
        }
        if (pairs)
            addPairTimes(times.pairs, workload, costs, stage);
    }
    for (const Nanoseconds pair : times.pairs)
        longest = std::max(longest, double(pair));
    std::vector<WanLinkUse> links;
    for (const std::array<int, 2> &between : frame.boundaryOf) {
        const BoundaryTimes &made = times.boundaries.emplace_back(boundaryTimes(
            workload, pipelines, between[0], between[1], coster.site(pipelines, between[0]), links, { 1, 1 }));
        longest = std::max(longest, double(made.serialization[0]) + double(made.serialization[1]));
    }
    times.longest = longest;
    times.ends = ends;
    times.list();
}

UniformTimes UniformTimes::listed() const
{
    UniformTimes left;
    left.overhead = overhead;
    left.longest = longest;
    left.ends = ends;
    left.durations = durations;
    left.lags = lags;
    return left;
}

bool UniformTimes::areShort(const Workload &workload, const UniformFrame &frame) const
{
    const double stages = double(workload.degrees.pipeline) * workload.degrees.programChunks();
    const int most = *std::ranges::max_element(frame.microBatches);
    return 2 * longest * stages * most * double(frame.microBatches.size()) + ends * stages + double(overhead)
        < double(kLongestTime) / 4;
}

void UniformTimes::list()
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
    durations.insert(durations.end(), pairs.begin(), pairs.end());
    for (const BoundaryTimes &boundary : boundaries)
        lags.insert(lags.end(), { boundary.serialization[0], boundary.serialization[1] });
}

} // namespace trainyard
