#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluations with 1F1B timelines of any size for tests and benchmarks of views: stages spread over datacenters, WAN
// channels between them, reduction and optimizer at the end. Simulated here in a few lines, apart from the engine, so
// that views can be tested without it.

#include "core/evaluation/evaluate/evaluation.h"

#include <algorithm>
#include <array>
#include <string>

namespace trainyard::test {

struct SampleShape {
    int datacenters = 3;
    int stages = 12;
    int microBatches = 16;
    int classes = 1; // equal timelines one after the other
    int pipelines = 16; // that each class stands for
    bool recompute = true;
    Nanoseconds forward = 30'000'000, backward = 60'000'000, recomputing = 12'000'000;
    Nanoseconds wanHold = 22'000'000, wanLatency = 15'000'000;
};

namespace detail {

struct Span {
    Nanoseconds start = 0, end = 0;
    WorkKind kind = WorkKind::Forward;
    int microBatch = -1;
    int causeTrack = -1;
    std::uint32_t causeIndex = 0;
};

struct Ready {
    Nanoseconds at = -1;
    int track = -1;
    std::uint32_t index = 0;
};

class PipelineRun {
public:
    PipelineRun(const SampleShape &shape, int pipelineClass)
        : m_shape(shape)
        , m_class(pipelineClass)
    {
    }

    std::vector<Track> tracks;
    std::vector<std::vector<Span>> spans; // by track

    [[nodiscard]] int datacenter(int stage) const { return stage * m_shape.datacenters / m_shape.stages; }

    void run()
    {
        const int p = m_shape.stages, m = m_shape.microBatches;
        for (int s = 0; s < p; ++s)
            addTrack(Stream::Compute, s, -1);
        m_channel.assign(std::size_t(p), { -1, -1 });
        for (int s = 0; s + 1 < p; ++s) {
            if (datacenter(s) != datacenter(s + 1))
                m_channel[std::size_t(s)] = { addTrack(Stream::Wan, s, s + 1), addTrack(Stream::Wan, s + 1, s) };
        }
        for (auto *ready : { &m_forwardReady, &m_backwardReady })
            ready->assign(std::size_t(p), std::vector<Ready>(std::size_t(m)));
        for (int b = 0; b < m; ++b)
            m_forwardReady[0][std::size_t(b)].at = 0;
        std::vector<int> forwards(std::size_t(p), 0), backwards(std::size_t(p), 0);
        for (bool moved = true; moved;) {
            moved = false;
            for (int s = 0; s < p; ++s)
                moved |= advance(s, forwards[std::size_t(s)], backwards[std::size_t(s)]);
        }
        for (int s = 0; s < p; ++s) {
            work(s, WorkKind::GradientReduce, -1, m_shape.forward, {});
            work(s, WorkKind::Optimizer, -1, m_shape.forward / 3, {});
        }
    }

private:
    int addTrack(Stream stream, int stage, int toStage)
    {
        Track track;
        track.stream = stream;
        track.pipelineClass = m_class;
        track.stage = stage;
        track.toStage = toStage;
        track.wanLink = stream == Stream::Wan ? std::min(datacenter(stage), datacenter(toStage)) : -1;
        tracks.push_back(track);
        spans.emplace_back();
        return int(tracks.size()) - 1;
    }

    Ready work(int track, WorkKind kind, int microBatch, Nanoseconds length, Ready after)
    {
        auto &lane = spans[std::size_t(track)];
        Span span { 0, 0, kind, microBatch, -1, 0 };
        const Nanoseconds free = lane.empty() ? 0 : lane.back().end;
        if (!lane.empty())
            span.causeTrack = track, span.causeIndex = std::uint32_t(lane.size() - 1);
        if (after.track >= 0 && after.at > free)
            span.causeTrack = after.track, span.causeIndex = after.index;
        span.start = std::max(free, after.at);
        span.end = span.start + length;
        lane.push_back(span);
        return { span.end, track, std::uint32_t(lane.size() - 1) };
    }

    Ready send(int boundary, int direction, int microBatch, Ready from)
    {
        const int channel = m_channel[std::size_t(boundary)][std::size_t(direction)];
        if (channel < 0)
            return from;
        Ready arrived = work(channel, WorkKind::WanTransfer, microBatch, m_shape.wanHold, from);
        arrived.at += m_shape.wanLatency;
        return arrived;
    }

    bool advance(int s, int &forwards, int &backwards)
    {
        const int p = m_shape.stages, m = m_shape.microBatches;
        bool moved = false;
        for (;;) {
            const bool forward = forwards < m && forwards - backwards < std::min(m, p - s);
            auto &ready = (forward ? m_forwardReady : m_backwardReady)[std::size_t(s)];
            const int b = forward ? forwards : backwards;
            if (b >= m || ready[std::size_t(b)].at < 0)
                return moved;
            moved = true;
            if (forward) {
                const Ready done = work(s, WorkKind::Forward, b, m_shape.forward, ready[std::size_t(b)]);
                (s + 1 < p ? m_forwardReady[std::size_t(s + 1)] : m_backwardReady[std::size_t(s)])[std::size_t(b)] =
                    s + 1 < p ? send(s, 0, b, done) : done;
                ++forwards;
            } else {
                if (m_shape.recompute)
                    work(s, WorkKind::Recompute, b, m_shape.recomputing, ready[std::size_t(b)]);
                const Ready done = work(s, WorkKind::Backward, b, m_shape.backward, ready[std::size_t(b)]);
                if (s > 0)
                    m_backwardReady[std::size_t(s - 1)][std::size_t(b)] = send(s - 1, 1, b, done);
                ++backwards;
            }
        }
    }

    const SampleShape &m_shape;
    int m_class;
    std::vector<std::array<int, 2>> m_channel; // track by boundary and direction
    std::vector<std::vector<Ready>> m_forwardReady, m_backwardReady;
};

inline void append(Timeline &timeline, const PipelineRun &run)
{
    std::vector<std::uint32_t> first;
    std::uint32_t next = std::uint32_t(timeline.spanCount());
    for (const auto &lane : run.spans) {
        first.push_back(next);
        next += std::uint32_t(lane.size());
    }
    for (std::size_t t = 0; t < run.tracks.size(); ++t) {
        Track track = run.tracks[t];
        track.first = first[t];
        track.last = first[t] + std::uint32_t(run.spans[t].size());
        for (const Span &span : run.spans[t]) {
            timeline.start.push_back(span.start);
            timeline.end.push_back(span.end);
            timeline.kind.push_back(span.kind);
            timeline.microBatch.push_back(span.microBatch);
            timeline.chunk.push_back(0);
            timeline.cause.push_back(
                span.causeTrack < 0 ? kNoSpan : first[std::size_t(span.causeTrack)] + span.causeIndex);
            timeline.trackOf.push_back(std::uint32_t(timeline.tracks.size()));
            timeline.duration = std::max(timeline.duration, span.end);
        }
        timeline.tracks.push_back(track);
    }
}

} // namespace detail

inline EvaluationPtr sampleEvaluation(const SampleShape &shape = {})
{
    static constexpr std::array<const char *, 6> names { "Virginia", "Iowa", "Oregon", "Ireland", "Frankfurt",
        "Tokyo" };
    auto plan = std::make_shared<Plan>();
    for (int d = 0; d < shape.datacenters; ++d) {
        Datacenter datacenter;
        datacenter.name = names[std::size_t(d) % names.size()];
        datacenter.id = "dc" + std::to_string(d);
        plan->cluster.datacenters.push_back(datacenter);
    }
    auto evaluation = std::make_shared<Evaluation>();
    evaluation->plan = plan;
    for (int c = 0; c < shape.classes; ++c) {
        detail::PipelineRun run(shape, c);
        run.run();
        detail::append(evaluation->timeline, run);
        PipelineClass pipelines;
        pipelines.firstPipeline = c * shape.pipelines;
        pipelines.pipelines = shape.pipelines;
        pipelines.microBatches = shape.microBatches;
        for (int s = 0; s < shape.stages; ++s)
            pipelines.locations.push_back({ run.datacenter(s), 0 });
        evaluation->layout.classes.push_back(pipelines);
    }
    evaluation->layout.chunks.assign(std::size_t(shape.stages), { StageChunk {} });
    evaluation->metrics.spans = evaluation->timeline.spanCount();
    return evaluation;
}

/// About `spans` spans on 64 stages: the sizes of the repaint benchmark.
inline EvaluationPtr sampleOfSize(std::size_t spans)
{
    SampleShape shape;
    shape.datacenters = 4;
    shape.stages = 64;
    shape.recompute = false;
    shape.microBatches = std::max(1, int(spans / 134)); // 2 ops on each stage, 2 transfers on each of 3 boundaries
    return sampleEvaluation(shape);
}

} // namespace trainyard::test
