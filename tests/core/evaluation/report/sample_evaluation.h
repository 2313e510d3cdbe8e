#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A small evaluation put together by hand, so that reports are tested without the rooms below them: two stages in two
// datacenters, two micro-batches, one WAN link, one plan that does not fit.

#include "core/evaluation/evaluate/evaluation.h"

namespace trainyard::test {

inline Plan samplePlan()
{
    Plan plan;
    plan.name = "Two sites <& \"quotes\">";
    Datacenter a, b;
    a.id = "oslo";
    a.name = "Oslo";
    b.id = "bergen";
    for (Datacenter *d : { &a, &b }) {
        Pool pool;
        pool.id = d->id + "-a100";
        pool.gpu = "a100-sxm-80gb";
        pool.nodes = 1;
        d->pools.push_back(pool);
    }
    plan.cluster.datacenters = { a, b };
    WanLink link;
    link.between = { "oslo", "bergen" };
    link.rttMs = 10;
    plan.cluster.wanLinks = { link };
    plan.workload.globalBatch = 2;
    plan.parallelism.pipeline = 2;
    return plan;
}

/// Adds a span and returns its number.
inline std::uint32_t addSpan(Timeline &t, std::uint32_t track, WorkKind kind, int microBatch, Nanoseconds start,
    Nanoseconds end, std::uint32_t cause = kNoSpan)
{
    t.kind.push_back(kind);
    t.microBatch.push_back(microBatch);
    t.chunk.push_back(0);
    t.start.push_back(start);
    t.end.push_back(end);
    t.cause.push_back(cause);
    t.trackOf.push_back(track);
    t.duration = std::max(t.duration, end);
    return std::uint32_t(t.start.size() - 1);
}

/// Stage 0 computes 0..1000 and 5000..7001 ns, the WAN carries 1000..2000, stage 1 computes 2500..4000.
inline Timeline sampleTimeline()
{
    Timeline t;
    addSpan(t, 0, WorkKind::Forward, 0, 0, 1000);
    addSpan(t, 0, WorkKind::Backward, 0, 5000, 7001, 2);
    addSpan(t, 1, WorkKind::Backward, 0, 2500, 4000, 3);
    addSpan(t, 2, WorkKind::WanTransfer, 0, 1000, 2000, 0);
    t.tracks = { { Stream::Compute, 0, 0, -1, -1, 0, 2 }, { Stream::Compute, 0, 1, -1, -1, 2, 3 },
        { Stream::Wan, 0, 0, 1, 0, 3, 4 } };
    return t;
}

inline std::shared_ptr<Evaluation> sampleEvaluation()
{
    auto e = std::make_shared<Evaluation>();
    e->plan = std::make_shared<const Plan>(samplePlan());
    e->timeline = sampleTimeline();
    e->layout.mode = PlacementMode::PipelineAcross;
    e->layout.data = 1;
    PipelineClass c;
    c.microBatches = 2;
    c.locations = { { 0, 0 }, { 1, 0 } };
    e->layout.classes = { c };
    e->layout.idle = { { 1, 0, 4, "a stage needs 8" } };
    Metrics &m = e->metrics;
    m.iterationTime = 7.001e-6;
    m.gpusUsed = 12;
    m.gpusTotal = 16;
    m.breakdown = Breakdown { .compute = 3e-6, .bubble = 3.001e-6, .wan = 1e-6 };
    m.bubbleFraction = 3.001 / 7.001;
    MemoryMetrics memory;
    StageMemory full;
    full.stage = 1;
    full.weights = 60'000'000'000;
    full.activations = 25'000'000'000;
    full.peak = 85'000'000'000;
    full.reserved = 86'000'000'000;
    full.device = 88'000'000'000;
    full.capacity = 80'000'000'000;
    StageMemory light = full;
    light.stage = 0;
    light.activations = 5'000'000'000;
    light.peak = 65'000'000'000;
    light.device = 68'000'000'000;
    memory.perStage = { light, full };
    memory.peak = full.peak;
    memory.capacity = full.capacity;
    memory.fullestStage = 1;
    memory.fits = false;
    m.memory = memory;
    m.wanBytesPerIteration = 3e9;
    m.wanLinks = { { 0, { 1e9, 2e9 }, 0.25, 4, 5 } };
    m.confidence.label = "spec sheet";
    m.spans = 4;
    e->problems = { { Severity::Blocking, "Stage 1 needs 88 GB of 80 GB.", "memory", {} } };
    e->feasibility.fitsGpus = false;
    return e;
}

} // namespace trainyard::test
