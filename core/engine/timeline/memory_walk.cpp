// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/memory_walk.h"

#include <optional>
#include <utility>

namespace trainyard {

namespace {

/// wholeBytes() of what a GPU holds, inline: curves have many points.
std::int64_t rounded(double bytes)
{
    constexpr double kExact = 0x1p51;
    return bytes >= 0 && bytes < kExact ? std::int64_t(bytes + 0.5) : wholeBytes(bytes);
}

/// A curve under way. What happens at one instant is one step of it.
class Steps {
public:
    Steps(std::vector<MemoryStep> &curve, std::size_t changes)
        : m_curve(curve)
    {
        m_curve.reserve(changes);
        m_curve.push_back({ 0, 0 });
    }

    void add(Nanoseconds time, double bytes)
    {
        if (const std::int64_t now = rounded(bytes); now != m_last.bytes)
            change(time, now);
    }

private:
    void change(Nanoseconds time, std::int64_t bytes)
    {
        if (m_last.time != time)
            m_curve.push_back({ time, bytes });
        else if (m_curve.size() > 1 && m_curve[m_curve.size() - 2].bytes == bytes)
            m_curve.pop_back();
        else
            m_curve.back().bytes = bytes;
        m_last = m_curve.back();
    }

    std::vector<MemoryStep> &m_curve;
    MemoryStep m_last { 0, 0 };
};

/// Of a store or a load, also of what no memory is counted for (gradients between the layers of a layer loop).
void addMove(OffloadUse &use, const Timeline &timeline, std::uint32_t span)
{
    const TaskClass &move = timeline.classOf(span);
    if (move.kind == WorkKind::OffloadLoad)
        use.read += timeline.bytesMoved(span);
    if (move.kind != WorkKind::OffloadStore)
        return;
    const double moved = timeline.bytesMoved(span);
    use.written += moved;
    use.dropped += move.bytes - moved;
    if (timeline.isInVain(span))
        use.forwarded += moved;
}

/// Of a stage that has nothing but its operations: nothing leaves, and there is nothing to put in order. Plain
/// variables: long pipelines have many spans.
template <bool keepsCurve>
void walkOne(const Timeline &timeline, std::uint32_t first, std::uint32_t last, LiveOverTime &result)
{
    const TaskClass *const classes = timeline.classes.data();
    const std::uint32_t *const taskClass = timeline.taskClass.data();
    if constexpr (keepsCurve) {
        result.gpu.reserve(2 * std::size_t(last - first) + 2);
        result.gpu.push_back({ 0, 0 });
    }
    const Nanoseconds *const start = timeline.start.data(), *const end = timeline.end.data();
    double now = 0, peak = 0;
    std::int64_t shown = 0;
    std::uint32_t fullest = 0;
    bool isAfter = false;
    for (std::uint32_t span = first; span < last; ++span) {
        const MemoryChange &change = classes[taskClass[span]].memory;
        now += change.atStart.gpu;
        const double during = now + change.running;
        now += change.atEnd.gpu;
        if (during > peak || now > peak) {
            fullest = span - first;
            isAfter = now > during;
            peak = isAfter ? now : during;
        }
        if constexpr (keepsCurve) {
            if (const std::int64_t bytes = rounded(during); bytes != shown)
                result.gpu.push_back({ start[span], shown = bytes });
            if (const std::int64_t bytes = rounded(now); bytes != shown)
                result.gpu.push_back({ end[span], shown = bytes });
        }
    }
    result.peak = result.peakWhole = peak;
    result.fullest = 2 * std::size_t(fullest) + (isAfter ? 1 : 0);
}

/// Of a stage on which several rows change memory.
template <bool keepsCurves> void walkRows(const Timeline &timeline, MemoryRows &rows, LiveOverTime &result)
{
    const Nanoseconds *const start = timeline.start.data(), *const end = timeline.end.data();
    std::optional<Steps> gpu, whole;
    if constexpr (keepsCurves) {
        gpu.emplace(result.gpu, 2 * rows.spans() + 2);
        whole.emplace(result.whole, rows.spans() + 2); // where nothing leaves, the two agree
    }
    MemorySum sum;
    rows.each([&](std::uint32_t span, bool ends) {
        const MemoryChange &change = rows.effectOf(span).memory;
        ends ? sum.end(change) : sum.start(change);
        if (ends && timeline.classOf(span).bytes != 0)
            addMove(result.use, timeline, span);
        if constexpr (keepsCurves) {
            if (change.running == 0 && (ends ? change.atEnd : change.atStart) == PoolBytes {})
                return true; // every second one of a move
            const Nanoseconds time = ends ? end[span] : start[span];
            gpu->add(time, sum.gpu());
            whole->add(time, sum.whole());
        }
        return true;
    });
    sum.tell(result);
}

} // namespace

MemoryRows::MemoryRows(const Timeline &timeline, int pipelineClass, int stage)
    : m_start(timeline.start.data())
    , m_end(timeline.end.data())
    , m_classes(timeline.classes)
    , m_taskClass(timeline.taskClass.data())
    , m_isVoid(timeline.isVoid.empty() ? nullptr : timeline.isVoid.data())
{
    if (timeline.taskClass.empty())
        return; // nothing is known of its spans
    const auto changes = [&](const Track &track) {
        if (track.stream == Stream::Compute)
            return true;
        std::uint32_t last = kNoSpan; // mostly the same class all along
        for (std::uint32_t span = track.first; span < track.last; ++span)
            if (const std::uint32_t taskClass = timeline.taskClass[span];
                taskClass != std::exchange(last, taskClass) && timeline.classOf(span).memory != MemoryChange {})
                return true;
        return false;
    };
    for (const bool operations : { false, true })
        for (const Track &track : timeline.tracks)
            if (track.pipelineClass == pipelineClass && track.stage == stage && track.first < track.last
                && (track.stream == Stream::Compute) == operations && changes(track))
                m_rows.push_back({ track.first, track.last, false, 2 * timeline.start[track.first] + 1 });
}

LiveOverTime liveOverTime(const Timeline &timeline, int pipelineClass, int stage, bool leaves, bool keepsCurves)
{
    LiveOverTime result;
    result.isFromSpans = true;
    MemoryRows rows(timeline, pipelineClass, stage);
    if (const auto [first, last] = rows.only(); first < last && !leaves) {
        keepsCurves ? walkOne<true>(timeline, first, last, result) : walkOne<false>(timeline, first, last, result);
        return result;
    }
    keepsCurves ? walkRows<true>(timeline, rows, result) : walkRows<false>(timeline, rows, result);
    return result;
}

} // namespace trainyard
