#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A pipeline whose stages offload, as a direct input of the engine: equal modules on every stage, any schedule,
// boundaries inside a datacenter or across a WAN. Bytes and times in plain whole numbers.

#include "core/engine/timeline/simulator.h"
#include "core/iteration/graph/pipeline_graph.h"
#include "core/iteration/memory/live_memory.h"
#include "tests/core/iteration/offload/curves.h"

#include <QTest>

#include <algorithm>
#include <random>

namespace offload {

using namespace trainyard;

struct PipelineCase {
    ScheduleKind schedule = ScheduleKind::Atlas;
    int devices = 4, microBatches = 8, chunks = 1;
    int modules = 6; // two a layer
    int leaving = 6; // modules that leave, from the first on
    Nanoseconds forward = 1000; // of a module; its backward takes twice as long, its recomputation as long
    bool recomputes = false;
    Nanoseconds store = 500, load = 500;
    Nanoseconds serialization = 300, latency = 700;
    int wanAfter = -1; // the stage whose boundary to the next crosses the WAN
    int limit = 0; // micro-batches in flight; 0: none
    int cellMembers = 1;
    int ahead = 1;
    bool offloads = true;
};

struct PipelineRun {
    IterationCosts costs;
    Timeline timeline;
    std::vector<std::vector<LiveOverTime>> live; // [class][stage]
};

inline constexpr double kModuleBytes = 100;

inline bool hasKind(const Program &program, OpKind kind)
{
    return std::ranges::any_of(
        program.order, [&](const auto &order) { return std::ranges::find(order, kind, &Op::kind) != order.end(); });
}

inline StageOffload bytesOf(const PipelineCase &c)
{
    StageOffload bytes;
    bytes.chunks.resize(std::size_t(c.chunks));
    for (auto &chunk : bytes.chunks)
        for (int k = 0; k < c.modules; ++k)
            chunk.push_back(k < c.leaving ? SegmentBytes { kModuleBytes, 0, false, true, false }
                                          : SegmentBytes { 0, kModuleBytes, false, true, false });
    return bytes;
}

/// What the operations of each stage do to its memory.
inline std::shared_ptr<const OpMemory> memoryOf(const PipelineCase &c, const Program &program)
{
    ChunkMemory chunk;
    chunk.kept = kModuleBytes * c.modules;
    chunk.whole = (c.recomputes ? 10 : 1) * chunk.kept;
    chunk.atLayers.recomputed = c.recomputes ? chunk.whole / c.modules : 0;
    chunk.backward = chunk.atLayers;
    const StageOffload bytes = bytesOf(c);
    return std::make_shared<const OpMemory>(std::vector(std::size_t(c.chunks), chunk), &bytes,
        OpMemory::Program { splitsBackward(program), hasKind(program, OpKind::PairedForward) });
}

inline PipelineCosts pipelineOf(const PipelineCase &c)
{
    PipelineCosts pipeline;
    ScheduleShape shape { c.devices, c.microBatches, c.chunks, {} };
    if (c.limit > 0)
        shape.inFlightLimit = { c.limit };
    auto program = makeProgram(c.schedule, shape);
    if (!program)
        qFatal("%s", toString(program.error()).c_str());
    pipeline.program = std::move(*program);
    const bool isSplit = hasKind(pipeline.program, OpKind::InputGrad);
    const auto stages = std::size_t(c.devices * c.chunks);
    OpTimes op;
    op.forward = c.forward * c.modules;
    op.recompute = c.recomputes ? op.forward : 0;
    op.weightGrad = op.forward;
    op.inputGrad = op.forward + op.recompute;
    op.backward = op.inputGrad + op.weightGrad;
    pipeline.ops.assign(stages, op);
    if (hasKind(pipeline.program, OpKind::PairedForward))
        pipeline.pairs.assign(stages * std::size_t(c.chunks), 3 * op.forward);
    BoundaryTimes boundary { .serialization = { c.serialization, c.serialization } };
    pipeline.boundaries.assign(stages - 1, boundary);
    if (c.wanAfter >= 0) {
        boundary.isWan = true;
        boundary.wanLink = 0;
        boundary.latency[0] = boundary.latency[1] = c.latency;
        pipeline.boundaries[std::size_t(c.wanAfter)] = boundary;
    }
    pipeline.syncAndStep.resize(std::size_t(c.devices));
    if (!c.offloads)
        return pipeline;
    std::vector<OffloadSegment> segments;
    for (int k = 0; k < c.modules; ++k) {
        const bool leaves = k < c.leaving;
        segments.push_back({ c.forward, c.recomputes ? c.forward : 0, (isSplit ? 1 : 2) * c.forward,
            leaves ? c.store : 0, leaves ? c.load : 0, k + 1 == c.modules, k / 2, -1, leaves ? kModuleBytes : 0 });
    }
    pipeline.offload.ops.assign(stages, segments);
    pipeline.offload.paths.assign(std::size_t(c.devices), OffloadPath { 1e9, 1e9, 1, {}, {} });
    pipeline.offload.ahead.assign(std::size_t(c.devices), c.ahead);
    pipeline.memory.assign(std::size_t(c.devices), memoryOf(c, pipeline.program));
    return pipeline;
}

inline PipelineRun run(const PipelineCase &c)
{
    PipelineRun result;
    result.costs.isRecomputing = c.recomputes;
    for (int lane = 0; lane < c.cellMembers; ++lane) {
        result.costs.classes.push_back(pipelineOf(c));
        result.costs.classes.back().cellMember = lane;
        result.costs.classes.back().cellMembers = c.cellMembers;
    }
    const auto graph = buildPipelineGraph(result.costs);
    if (!graph)
        qFatal("%s", toString(graph.error()).c_str());
    SimulationWorkspace workspace;
    auto timeline = simulate(*graph, workspace);
    if (!timeline)
        qFatal("%s", toString(timeline.error()).c_str());
    result.timeline = std::move(*timeline);
    recordExecutedOrder(result.costs, result.timeline);
    if (!c.offloads)
        return result;
    for (int lane = 0; lane < c.cellMembers; ++lane) {
        auto &stages = result.live.emplace_back();
        for (int stage = 0; stage < c.devices; ++stage)
            stages.push_back(liveOverTime(result.timeline, lane, stage, true, true));
    }
    return result;
}

/// Of any schedule that the tests ask for.
inline PipelineCase randomPipeline(std::mt19937 &random, ScheduleKind schedule)
{
    const auto whole = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
    PipelineCase c;
    c.schedule = schedule;
    c.devices = whole(1, 5);
    c.microBatches = whole(1, 12);
    c.modules = whole(1, 8);
    c.leaving = whole(0, c.modules);
    c.forward = whole(200, 2000);
    c.recomputes = whole(0, 1) == 1;
    c.store = whole(1, 6000);
    c.load = whole(1, 6000);
    c.serialization = whole(0, 3000);
    c.latency = whole(0, 8000);
    c.ahead = whole(1, 3);
    if (schedule == ScheduleKind::DualPipe || schedule == ScheduleKind::DualPipeV) {
        c.devices = 2 * whole(1, 3);
        c.chunks = 2;
        c.microBatches = 2 * c.devices + 2 * whole(0, 4);
    }
    if (schedule == ScheduleKind::TeraPipe)
        c.chunks = whole(1, 4);
    if (schedule == ScheduleKind::Atlas) {
        c.limit = whole(0, 6);
        c.wanAfter = c.devices > 1 ? whole(-1, c.devices - 2) : -1;
        c.cellMembers = c.wanAfter >= 0 ? whole(1, 3) : 1;
    }
    return c;
}

} // namespace offload
