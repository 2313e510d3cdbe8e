#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A cell of two pipelines that take turns on one WAN track, and prefill in the gap of a stage, made by hand: 10 ns a
// unit.
//   lane 0 stage 0   F0 F1 .. .. .. .. .. ..
//   lane 1 stage 0   F0 F1 .. .. .. .. .. ..
//   wan, both        .. A0 B0 A1 B1 .. .. ..     A: of lane 0, B: of lane 1
//   lane 0 stage 1   .. .. F0 .. F1 P  P  ..     P: prefill in its gap
//   lane 1 stage 1   .. .. .. F0 .. F1 .. ..

#include "core/evaluation/evaluate/evaluation.h"

namespace trainyard::test {

class TurnsBuilder {
public:
    Timeline timeline;

    std::uint32_t track(Stream stream, int lane, int stage, int toStage = -1)
    {
        Track made;
        made.stream = stream;
        made.pipelineClass = lane;
        made.stage = stage;
        made.toStage = toStage;
        made.wanLink = stream == Stream::Wan ? 0 : -1;
        made.first = made.last = std::uint32_t(timeline.start.size());
        timeline.tracks.push_back(made);
        return std::uint32_t(timeline.tracks.size()) - 1;
    }

    std::uint32_t span(WorkKind kind, int from, int to, int microBatch, std::uint32_t origin = kNoSpan)
    {
        timeline.kind.push_back(kind);
        timeline.start.push_back(from * 10);
        timeline.end.push_back(to * 10);
        timeline.microBatch.push_back(microBatch);
        timeline.chunk.push_back(0);
        timeline.cause.push_back(origin);
        timeline.origin.push_back(origin);
        timeline.trackOf.push_back(std::uint32_t(timeline.tracks.size()) - 1);
        timeline.tracks.back().last = std::uint32_t(timeline.start.size());
        return std::uint32_t(timeline.start.size()) - 1;
    }
};

inline Evaluation turnsEvaluation()
{
    TurnsBuilder t;
    std::uint32_t forward[2][2];
    for (int lane = 0; lane < 2; ++lane) {
        t.track(Stream::Compute, lane, 0);
        forward[lane][0] = t.span(WorkKind::Forward, 0, 1, 0);
        forward[lane][1] = t.span(WorkKind::Forward, 1, 2, 1);
    }
    for (int lane = 0; lane < 2; ++lane) {
        t.track(Stream::Compute, lane, 1);
        t.span(WorkKind::Forward, 2 + lane, 3 + lane, 0);
        t.span(WorkKind::Forward, 4 + lane, 5 + lane, 1);
    }
    t.track(Stream::Wan, 0, 0, 1);
    for (int microBatch = 0; microBatch < 2; ++microBatch)
        for (int lane = 0; lane < 2; ++lane)
            t.span(WorkKind::WanTransfer, 1 + 2 * microBatch + lane, 2 + 2 * microBatch + lane, microBatch,
                forward[lane][microBatch]);
    t.track(Stream::Prefill, 0, 1);
    t.span(WorkKind::Prefill, 5, 7, -1);
    t.timeline.duration = 80;

    Plan plan;
    for (const char *name : { "Virginia", "Ohio" }) {
        Datacenter d;
        d.id = d.name = name;
        plan.cluster.datacenters.push_back(d);
    }
    WanLink link;
    link.between = { "Virginia", "Ohio" };
    link.rttMs = 20;
    plan.cluster.wanLinks = { link };
    plan.wan.sharing = WanSharing::Temporal;
    plan.bubbleFill.enabled = true;
    plan.bubbleFill.model = "llama-3-8b";

    Evaluation e;
    e.plan = std::make_shared<const Plan>(std::move(plan));
    for (int lane = 0; lane < 2; ++lane) {
        PipelineClass c;
        c.firstPipeline = lane;
        c.cellMember = lane;
        c.cellMembers = 2;
        c.microBatches = 2;
        c.locations.resize(2);
        c.locations[1].datacenter = 1;
        e.layout.classes.push_back(c);
    }
    e.timeline = std::move(t.timeline);
    WanLinkUse use;
    use.bytes = { 8e3, 0 };
    e.metrics.wanLinks = { use };
    e.metrics.wanBytesPerIteration = 8e3;
    e.metrics.iterationTime = 80e-9;
    return e;
}

} // namespace trainyard::test
