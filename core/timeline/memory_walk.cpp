// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/timeline/memory_walk.h"

#include <utility>

namespace trainyard {

namespace {

/// wholeBytes() of what a GPU holds, inline: curves have many points.
std::int64_t rounded(double bytes)
{
    constexpr double kExact = 0x1p51;
    return bytes >= 0 && bytes < kExact ? std::int64_t(bytes + 0.5) : wholeBytes(bytes);
}

/// What happens at one instant is one step of a curve.
void step(std::vector<MemoryStep> &curve, Nanoseconds time, double bytes)
{
    const std::int64_t whole = rounded(bytes);
    MemoryStep &last = curve.back();
    if (last.bytes == whole)
        return;                    // also where the step before it held another number: each changes it
    if (last.time != time)
        curve.push_back({time, whole});
    else if (curve.size() > 1 && (&last)[-1].bytes == whole)
        curve.pop_back();
    else
        last.bytes = whole;
}

OffloadUse useOf(const Timeline &timeline, int pipelineClass, int stage)
{
    OffloadUse use;
    for (const Track &track : timeline.tracks) {
        if (track.pipelineClass != pipelineClass || track.stage != stage || (track.stream != Stream::Store && track.stream != Stream::Load))
            continue;
        for (std::uint32_t span = track.first; span < track.last; ++span) {
            const double bytes = timeline.classOf(span).bytes, moved = timeline.bytesMoved(span);
            if (track.stream == Stream::Load) {
                use.read += moved;
                continue;
            }
            use.written += moved;
            use.dropped += bytes - moved;
            if (timeline.isInVain(span))
                use.forwarded += moved;
        }
    }
    return use;
}

/// Of a stage that has nothing but its operations: nothing leaves, and there is nothing to put in order. Plain variables: long
/// pipelines have many spans.
template <bool keepsCurve>
void walkOne(const Timeline &timeline, std::uint32_t first, std::uint32_t last, LiveOverTime &result)
{
    const TaskClass *const classes = timeline.classes.data();
    const std::uint32_t *const taskClass = timeline.taskClass.data();
    if constexpr (keepsCurve) {
        result.gpu.reserve(2 * std::size_t(last - first) + 2);
        result.gpu.push_back({0, 0});
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
                result.gpu.push_back({start[span], shown = bytes});
            if (const std::int64_t bytes = rounded(now); bytes != shown)
                result.gpu.push_back({end[span], shown = bytes});
        }
    }
    result.peak = result.peakWhole = peak;
    result.fullest = 2 * std::size_t(fullest) + (isAfter ? 1 : 0);
}

} // namespace

MemoryRows::MemoryRows(const Timeline &timeline, int pipelineClass, int stage) : m_timeline(timeline)
{
    if (timeline.taskClass.empty())
        return;                    // nothing is known of its spans
    const auto changes = [&](const Track &track) {
        if (track.stream == Stream::Compute)
            return true;
        std::uint32_t last = kNoSpan;      // mostly the same class all along
        for (std::uint32_t span = track.first; span < track.last; ++span)
            if (const std::uint32_t taskClass = timeline.taskClass[span]; taskClass != std::exchange(last, taskClass) && timeline.classOf(span).memory != MemoryChange{})
                return true;
        return false;
    };
    for (const bool operations : {false, true})
        for (const Track &track : timeline.tracks)
            if (track.pipelineClass == pipelineClass && track.stage == stage && track.first < track.last && (track.stream == Stream::Compute) == operations && changes(track))
                m_rows.push_back({track.first, track.last, false, 2 * timeline.start[track.first] + 1});
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
    if (keepsCurves)
        result.gpu = result.whole = {{0, 0}};   // where nothing leaves, the two agree
    MemorySum sum(result);
    rows.each([&](std::uint32_t span, bool ends) {
        const MemoryChange &change = effectOf(timeline, span).memory;
        ends ? sum.end(change) : sum.start(change);
        if (keepsCurves) {
            const Nanoseconds time = ends ? timeline.end[span] : timeline.start[span];
            step(result.gpu, time, sum.gpu());
            step(result.whole, time, sum.whole());
        }
        return true;
    });
    result.use = useOf(timeline, pipelineClass, stage);
    return result;
}

} // namespace trainyard
