// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/memory/bounded_memory.h"

#include "core/engine/schedule/traits.h"
#include "core/iteration/memory/in_flight_room.h"
#include "core/iteration/memory/layered_memory.h"
#include "core/iteration/memory/stage_memory.h"
#include "core/iteration/placement/class_workload.h"
#include "core/iteration/placement/layer_facts.h"
#include "core/iteration/placement/recompute.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Per stage, micro-batches that the pipelines have in flight at most, chunks counted as fractions; all of them where
/// the schedule says nothing.
std::vector<int> mostInFlight(const Workload &workload, const PipelineClass &pipelines)
{
    const ScheduleTraits &schedule = traitsOf(*workload.plan);
    const int stages = workload.degrees.pipeline;
    std::vector<int> most(std::size_t(stages), pipelines.microBatches);
    const auto limit = [&](const std::vector<int> &by) {
        for (std::size_t i = 0; i < most.size() && !by.empty(); ++i)
            most[i] = std::min(most[i], std::max(1, by[by.size() == 1 ? 0 : i]));
    };
    limit(workload.source.inFlight);
    if (schedule.room == RoomUse::RunTime && workload.source.hasMemory)
        limit(inFlightRoom(workload, kWorkConservingShare).microBatches);
    else if (schedule.splitsBackward || schedule.room != RoomUse::None)
        return most; // more may wait for their weight gradients, or use room
    else if (schedule.inFlight)
        limit(schedule.inFlight({ stages, pipelines.microBatches, workload.degrees.programChunks(), {} }));
    else if (schedule.holdsStagesBehind)
        for (int i = 0; i < stages; ++i)
            most[std::size_t(i)] = std::min(most[std::size_t(i)], stages - i);
    return most;
}

/// Of ranks whose micro-batches hold nothing yet.
StageMemory holding(StageMemory m, double live, const StackSpec &stack)
{
    const std::int64_t beside = m.device - m.reserved;
    m.activations += wholeBytes(live);
    m.peak += wholeBytes(live);
    m.device = deviceBytes(m.peak, beside, stack);
    m.reserved = m.device - beside;
    return m;
}

/// As the class that has most of its kind's micro-batches says.
std::vector<StageMemory> boundedLayeredMemory(const Workload &workload)
{
    ClassWorkloads views(workload);
    std::vector<StageMemory> memory;
    for (const PipelineClass &pipelines : workload.layout.classes) {
        const Workload &view = views.of(pipelines, 0);
        const std::vector<ChunkMemory> chunks = chunkMemory(view, 0);
        const StageMemory empty = stageMemory(view, rankSet(workload, pipelines, 0), {}, chunks, false);
        const bool isMeasured = empty.activations > 0;
        memory.push_back(isMeasured
                ? empty
                : holding(empty, layeredWork(view) + pipelines.microBatches * layeredKept(view), view.stack));
        memory.back().inFlight = pipelines.microBatches;
    }
    return { *std::ranges::max_element(memory, {},
        [](const StageMemory &m) { return double(m.device) / double(std::max<std::int64_t>(1, m.capacity)); }) };
}

/// What `inFlight` micro-batches of such chunks hold at most.
double boundedLive(const Workload &workload, const std::vector<ChunkMemory> &chunks, int inFlight, bool isLast)
{
    const bool splits = traitsOf(*workload.plan).splitsBackward, recomputes = recomputesAnything(*workload.plan);
    // The chunks of a stage may be in flight unequally often: as if all that are were of the one that keeps most.
    const double count = double(inFlight) * double(chunks.size());
    const bool staysWhole = isLast && !workload.stack.recomputesLastStage;
    double live = 0;
    for (const ChunkMemory &chunk : chunks)
        live = std::max(live, liveBound({ &chunk, 1 }, splits).of(count, !recomputes ? 0 : staysWhole ? count : 1));
    return live;
}

/// Micro-batches of their own size, or tensor groups.
bool haveOwnShapes(const Workload &workload)
{
    return std::ranges::any_of(workload.layout.classes, [](const PipelineClass &c) {
        return c.microBatch > 0 || std::ranges::any_of(c.locations, [](StageLocation at) { return at.tensor > 0; });
    });
}

double fillOf(const StageMemory &m)
{
    return double(m.device) / double(std::max<std::int64_t>(1, m.capacity));
}

/// Of replicas that differ so: of each stage the class that fills its GPU most.
std::vector<StageMemory> fullestOfClasses(const Workload &workload)
{
    std::vector<StageMemory> stages;
    for (const PipelineClass &pipelines : workload.layout.classes) {
        std::vector<StageMemory> own = boundedMemory(workload, pipelines);
        if (stages.empty())
            stages = std::move(own);
        else
            for (std::size_t stage = 0; stage < own.size(); ++stage)
                if (fillOf(own[stage]) > fillOf(stages[stage]))
                    stages[stage] = std::move(own[stage]);
    }
    return stages;
}

} // namespace

std::vector<StageMemory> boundedMemory(const Workload &workload, const PipelineClass &pipelines)
{
    ClassWorkloads views(workload);
    const Workload &own = views.of(pipelines);
    std::vector<StageMemory> stages;
    if (!workload.source.hasMemory)
        return stages;
    const std::vector<int> inFlight = mostInFlight(own, pipelines);
    std::vector<ChunkMemory> chunks;
    StageMemory empty;
    for (std::size_t stage = 0; stage < inFlight.size(); ++stage) {
        if (!isLikeStageBefore(workload, int(stage))) {
            const Workload &there = views.of(pipelines, int(stage));
            chunks = chunkMemory(there, int(stage));
            empty = stageMemory(there, rankSet(workload, pipelines, int(stage)), {}, chunks, false);
        }
        const double live = boundedLive(own, chunks, inFlight[stage], stage + 1 == inFlight.size());
        stages.push_back(holding(empty, live, workload.stack));
        stages.back().stage = int(stage);
        stages.back().inFlight = double(inFlight[stage]);
    }
    return stages;
}

std::vector<StageMemory> boundedStageMemory(const Workload &workload)
{
    std::vector<StageMemory> stages;
    const auto &classes = workload.layout.classes;
    if (!workload.source.hasMemory || classes.empty())
        return stages;
    if (workload.plan->heterogeneity.isLayered())
        return boundedLayeredMemory(workload);
    if (haveOwnShapes(workload))
        return fullestOfClasses(workload);
    const std::vector<int> inFlight =
        mostInFlight(workload, *std::ranges::max_element(classes, {}, &PipelineClass::microBatches));
    std::vector<ChunkMemory> chunks;
    std::vector<StageMemory> empty; // a set of ranks each
    stages.reserve(inFlight.size());
    for (std::size_t stage = 0; stage < inFlight.size(); ++stage) {
        if (!isLikeStageBefore(workload, int(stage))) {
            chunks = chunkMemory(workload, int(stage));
            empty.clear();
            for (const RankSet &ranks : unlikeSets(workload, int(stage)))
                empty.push_back(stageMemory(workload, ranks, {}, chunks, false));
        }
        const double live = boundedLive(workload, chunks, inFlight[stage], stage + 1 == inFlight.size());
        for (std::size_t i = 0; i < empty.size(); ++i) {
            StageMemory memory = holding(empty[i], live, workload.stack);
            if (i == 0)
                stages.push_back(std::move(memory));
            else if (fillOf(memory) > fillOf(stages.back()))
                stages.back() = std::move(memory);
        }
        stages.back().stage = int(stage);
        stages.back().inFlight = double(inFlight[stage]);
    }
    return stages;
}

} // namespace trainyard
