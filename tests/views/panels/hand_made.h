#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A small plan and an evaluation of it with round numbers, so that a test can state what must appear on screen.

#include "core/evaluation/evaluate/evaluation.h"
#include "models/effects.h"

#include <memory>

namespace trainyard::handmade {

inline Plan plan()
{
    Plan p;
    p.name = "hand made";
    for (const char *id : { "oregon", "iowa" }) {
        Datacenter d;
        d.id = id;
        d.name = id[0] == 'o' ? "Oregon" : "Iowa";
        Pool pool;
        pool.id = std::string(id) + "-h100";
        pool.gpu = "h100-sxm-80gb";
        pool.nodes = 4;
        d.pools = { pool };
        p.cluster.datacenters.push_back(d);
    }
    WanLink link;
    link.between = { "oregon", "iowa" };
    link.rttMs = 36;
    link.capacityGbps = 40;
    p.cluster.wanLinks = { link };
    p.workload.model = "llama-3-70b";
    p.workload.sequenceLength = 8192;
    p.workload.globalBatch = 128;
    p.workload.trainingTokens = 1.5e13;
    p.parallelism.tensor = 8;
    p.parallelism.pipeline = 2;
    return p;
}

inline OffloadMetrics offload()
{
    return { .bytesPerGpu = 24e9,
        .bytesRead = 20e9,
        .bytesForwarded = 4e9,
        .requiredWriteGBps = 12,
        .stall = 0.25,
        .activationPeakReduction = 0.4,
        .ssdLifetimeYears = 3.24,
        .ssdUsdPerGpu = 360 };
}

inline PlanPtr shared(Plan p)
{
    return std::make_shared<const Plan>(std::move(p));
}

/// Two stages, one pipeline class of two pipelines. 10 ns a unit; stage 1 follows stage 0 over the WAN:
///   stage 0   F0 F1 .. .. B0 B1     F [0,10) [10,20)   B [60,80) [80,100)
///   wan       .. T0 T1              T [10,20) [20,30)
///   stage 1   .. .. F0 B0 ..        F [20,30)          B [30,50)
inline Timeline timeline()
{
    Timeline t;
    const auto track = [&](Stream stream, int stage) {
        Track made;
        made.stream = stream;
        made.stage = stage;
        made.first = made.last = std::uint32_t(t.start.size());
        t.tracks.push_back(made);
    };
    const auto span = [&](WorkKind kind, Nanoseconds from, Nanoseconds to, int microBatch, std::uint32_t cause) {
        t.kind.push_back(kind);
        t.start.push_back(from);
        t.end.push_back(to);
        t.microBatch.push_back(microBatch);
        t.chunk.push_back(0);
        t.cause.push_back(cause);
        t.trackOf.push_back(std::uint32_t(t.tracks.size()) - 1);
        t.tracks.back().last = std::uint32_t(t.start.size());
    };
    track(Stream::Compute, 0);
    span(WorkKind::Forward, 0, 10, 0, kNoSpan);
    span(WorkKind::Forward, 10, 20, 1, 0);
    span(WorkKind::Backward, 60, 80, 0, 5);
    span(WorkKind::Backward, 80, 100, 1, 2);
    track(Stream::Compute, 1);
    span(WorkKind::Forward, 20, 30, 0, 6);
    span(WorkKind::Backward, 30, 50, 0, 4);
    track(Stream::Wan, 0);
    t.tracks.back().toStage = 1;
    t.tracks.back().wanLink = 0;
    span(WorkKind::WanTransfer, 10, 20, 0, 0);
    span(WorkKind::WanTransfer, 20, 30, 1, 1);
    t.duration = 100;
    return t;
}

inline StageMemory memory(int stage, std::int64_t gb)
{
    StageMemory m;
    m.stage = stage;
    const std::int64_t unit = 1'000'000'000;
    m.weights = 10 * unit;
    m.gradients = 20 * unit;
    m.optimizer = 5 * unit;
    m.buffers = 1 * unit;
    m.peak = m.reserved = (gb - 2) * unit;
    m.activations = m.peak - 36 * unit;
    m.device = gb * unit;
    m.capacity = 80 * unit;
    m.parts = { { "gradients", m.gradients }, { "activations", m.activations }, { "weights", m.weights } };
    return m;
}

inline Evaluation evaluation(double iteration = 12.5)
{
    Evaluation e;
    e.plan = shared(plan());
    e.timeline = timeline();
    PipelineClass c;
    c.pipelines = 2;
    c.microBatches = 2;
    c.locations = { { 0, 0 }, { 1, 0 } };
    e.layout.classes = { c };
    e.layout.data = 4;
    e.layout.gpusUsed = e.layout.gpusTotal = 64;
    Metrics &m = e.metrics;
    m.iterationTime = iteration;
    m.tokensPerSecond = 128.0 * 8192 / iteration;
    m.mfu = 0.431;
    m.gpuUtilization = 0.78;
    Breakdown b;
    b.compute = iteration * 0.6;
    b.bubble = iteration * 0.2;
    b.wan = iteration * 0.2;
    m.breakdown = b;
    MemoryMetrics memoryMetrics;
    memoryMetrics.perStage = { memory(0, 71), memory(1, 60) };
    memoryMetrics.peak = memoryMetrics.perStage[0].peak;
    memoryMetrics.capacity = 80'000'000'000;
    m.memory = memoryMetrics;
    WanLinkUse use;
    use.bytes = { 4000, 0 };
    use.utilization = 0.31;
    use.usableUtilization = 0.62;
    use.limit = WanLimit::NodePair;
    use.limitGbps = 5;
    use.tcpConnections = 16;
    m.wanLinks = { use };
    m.wanBytesPerIteration = 4000;
    m.cost.usdPerMillionTokens = 0.92;
    m.cost.daysTotal = 38;
    m.confidence = { "same family", iteration * 0.94, iteration * 1.06 };
    e.memoryCurves = { { { 0, 36'000'000'000 }, { 10, 50'000'000'000 }, { 60, 69'000'000'000 },
                           { 100, 36'000'000'000 } },
        { { 0, 36'000'000'000 }, { 20, 58'000'000'000 } } };
    return e;
}

inline EvaluationPtr shared(Evaluation e)
{
    return std::make_shared<const Evaluation>(std::move(e));
}

} // namespace trainyard::handmade
