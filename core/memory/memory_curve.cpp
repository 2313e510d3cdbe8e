// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ladder/recompute.h"
#include "core/memory/replay.h"
#include "core/memory/stage_memory.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

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
    CurveOf(const Timeline &timeline, Replay replay, std::vector<Evaluation::MemoryStep> &curve)
        : m_timeline(timeline), m_replay(std::move(replay)), m_curve(curve)
    {
        m_curve.push_back({0, 0});
    }

    void add(std::uint32_t span)
    {
        if (m_timeline.kind[span] == WorkKind::ForwardBackward)
            return addPair(span);
        const std::optional<OpKind> kind = opKind(m_timeline.kind[span]);
        if (!kind)
            return;
        if (*kind == OpKind::Recompute && !m_replay.hasRecomputeOps())
            return;                // part of the backward that follows, which counts the layer
        const double during = m_replay.run(*kind, m_timeline.chunk[span], m_timeline.microBatch[span]);
        m_highest = std::max({m_highest, during, m_replay.now()});
        step(m_timeline.start[span], during);
        step(m_timeline.end[span], m_replay.now());
    }

    /// Lifts the curve so that the most that the micro-batches of any class hold comes to lie at `device`.
    void close(std::int64_t device, double mostOfOtherClasses)
    {
        m_curve.push_back({m_timeline.duration, wholeBytes(m_replay.now())});
        const std::int64_t base = device - wholeBytes(std::max(m_highest, mostOfOtherClasses));
        for (Evaluation::MemoryStep &step : m_curve)
            step.bytes += base;
    }

private:
    void addPair(std::uint32_t span)
    {
        const double forward = m_replay.run(OpKind::Forward, m_timeline.chunk[span], m_timeline.microBatch[span]);
        const double backward = m_replay.run(OpKind::Backward, m_timeline.pairedChunk[span], m_timeline.pairedMicroBatch[span]);
        m_highest = std::max({m_highest, forward, backward});
        step(m_timeline.start[span], std::max(forward, backward));
        step(m_timeline.end[span], m_replay.now());
    }

    void step(Nanoseconds time, double live)
    {
        const std::int64_t bytes = wholeBytes(live);
        if (m_curve.back().bytes != bytes)
            m_curve.push_back({time, bytes});
    }

    const Timeline &m_timeline;
    Replay m_replay;
    double m_highest = 0;
    std::vector<Evaluation::MemoryStep> &m_curve;
};

} // namespace

OffloadCurves memoryCurves(const std::vector<StageMemory> &stages, const OffloadedMemory &offloaded)
{
    OffloadCurves curves;
    for (std::size_t stage = 0; stage < stages.size() && !offloaded.empty(); ++stage) {
        const LiveOverTime &live = offloaded.front()[stage];
        double peak = 0;
        for (const std::vector<LiveOverTime> &stagesOfClass : offloaded)
            peak = std::max(peak, stagesOfClass[stage].peak);
        const std::int64_t base = stages[stage].device - wholeBytes(peak);
        auto &with = curves.with.emplace_back(), &kept = curves.kept.emplace_back();
        const auto add = [&](auto &curve, Nanoseconds time, double bytes) {
            if (const std::int64_t whole = base + wholeBytes(bytes); curve.empty() || curve.back().bytes != whole)
                curve.push_back({time, whole});
        };
        for (const LiveOverTime::Step &step : live.steps) {
            add(with, step.time, step.with);
            add(kept, step.time, step.without);
        }
    }
    return curves;
}

std::vector<std::vector<Evaluation::MemoryStep>> memoryCurves(const Workload &workload, const Costs &costs,
                                                              const std::vector<StageMemory> &stages, const Timeline &timeline)
{
    std::vector<std::vector<Evaluation::MemoryStep>> curves(stages.size());
    if (stages.empty() || costs.iteration.classes.empty())
        return curves;
    const bool recomputes = recomputesAnything(*workload.plan);
    for (const Track &track : timeline.tracks) {
        if (track.stream != Stream::Compute || track.pipelineClass != 0 || std::size_t(track.stage) >= stages.size())
            continue;
        const StageMemory &memory = stages[std::size_t(track.stage)];
        const std::vector<ChunkMemory> chunks = chunkMemory(workload, track.stage);
        const std::vector<PipelineCosts> &classes = costs.iteration.classes;
        double others = 0;         // the stage's figure is that of its fullest class
        for (std::size_t c = 1; c < classes.size(); ++c)
            others = std::max(others, fullestMoment(classes[c].program, track.stage, chunks, recomputes).total);
        auto &curve = curves[std::size_t(track.stage)];
        curve.reserve(2 * std::size_t(track.last - track.first) + 2);
        CurveOf of(timeline, Replay(classes.front().program, track.stage, chunks, recomputes), curve);
        for (std::uint32_t span = track.first; span < track.last; ++span)
            of.add(span);
        of.close(memory.device, others);
    }
    return curves;
}

} // namespace trainyard
