// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/replay.h"
#include "core/memory/stage_memory.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace trainyard {

namespace {

std::optional<OpKind> opKind(WorkKind kind)
{
    switch (kind) {
    case WorkKind::Forward: return OpKind::Forward;
    case WorkKind::Backward: return OpKind::Backward;
    case WorkKind::InputGrad: return OpKind::InputGrad;
    case WorkKind::WeightGrad: return OpKind::WeightGrad;
    case WorkKind::Recompute: return OpKind::Recompute;
    default: return std::nullopt;
    }
}

class CurveOf {
public:
    CurveOf(const Timeline &timeline, Replay &replay, double base, std::vector<Evaluation::MemoryStep> &curve)
        : m_timeline(timeline), m_replay(replay), m_base(base), m_curve(curve)
    {
        m_curve.push_back({0, at(replay.now())});
    }

    void add(std::uint32_t span)
    {
        const std::optional<OpKind> kind = opKind(m_timeline.kind[span]);
        if (!kind)
            return;
        if (*kind == OpKind::Recompute && !m_replay.hasRecomputeOps())
            return;                // part of the backward that follows, which counts the layer
        const Held during = m_replay.run(*kind, m_timeline.chunk[span], m_timeline.microBatch[span]);
        step(m_timeline.start[span], at(during));
        step(m_timeline.end[span], at(m_replay.now()));
    }

    void close() { m_curve.push_back({m_timeline.duration, at(m_replay.now())}); }

private:
    [[nodiscard]] std::int64_t at(const Held &held) const { return std::llround(m_base + held.total()); }

    void step(Nanoseconds time, std::int64_t bytes)
    {
        if (m_curve.back().bytes != bytes)
            m_curve.push_back({time, bytes});
    }

    const Timeline &m_timeline;
    Replay &m_replay;
    double m_base;                 // everything but what the micro-batches hold
    std::vector<Evaluation::MemoryStep> &m_curve;
};

} // namespace

std::vector<std::vector<Evaluation::MemoryStep>> memoryCurves(const Workload &workload, const Costs &costs,
                                                              const std::vector<StageMemory> &stages, const Timeline &timeline)
{
    std::vector<std::vector<Evaluation::MemoryStep>> curves(stages.size());
    if (stages.empty() || costs.iteration.classes.empty())
        return curves;
    const bool recomputes = workload.plan->memory.recompute != Recompute::None;
    for (const Track &track : timeline.tracks) {
        if (track.stream != Stream::Compute || track.pipelineClass != 0 || std::size_t(track.stage) >= stages.size())
            continue;
        const StageMemory &memory = stages[std::size_t(track.stage)];
        const std::vector<ChunkMemory> chunks = chunkMemory(workload, track.stage);
        double peak = 0;           // the stage's figure is that of its fullest class
        for (const PipelineCosts &c : costs.iteration.classes)
            peak = std::max(peak, fullestMoment(c.program, track.stage, chunks, recomputes).total());
        Replay replay(costs.iteration.classes.front().program, track.stage, chunks, recomputes);
        auto &curve = curves[std::size_t(track.stage)];
        curve.reserve(2 * std::size_t(track.last - track.first) + 2);
        CurveOf of(timeline, replay, double(memory.device) - peak, curve);
        for (std::uint32_t span = track.first; span < track.last; ++span)
            of.add(span);
        of.close();
    }
    return curves;
}

} // namespace trainyard
