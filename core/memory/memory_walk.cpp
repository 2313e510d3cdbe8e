// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/memory_walk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace trainyard {

namespace {

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

/// wholeBytes() of what a GPU holds, inline: curves have many points.
std::int64_t rounded(double bytes)
{
    constexpr double kExact = 0x1p51;
    return std::abs(bytes) < kExact ? std::int64_t(bytes < 0 ? bytes - 0.5 : bytes + 0.5) : wholeBytes(bytes);
}

/// Sums, peaks and curves of changes as they come; what happens at one instant is one step of a curve.
class Sum {
public:
    Sum(LiveOverTime &result, bool keepsCurves) : m_result(result), m_keepsCurves(keepsCurves)
    {
        if (keepsCurves)
            result.gpu = result.whole = {{0, 0}};
    }

    void start(Nanoseconds time, const MemoryChange &change)
    {
        m_running += change.running;
        add(time, change.atStart);
    }
    void end(Nanoseconds time, const MemoryChange &change)
    {
        m_running -= change.running;
        add(time, change.atEnd);
    }

private:
    void add(Nanoseconds time, const PoolBytes &change)
    {
        m_now += change;
        const double gpu = m_now.gpu + m_running;
        if (gpu > m_result.peak) {
            m_result.peak = gpu;
            m_result.fullest = m_changes;
        }
        ++m_changes;
        const double whole = gpu + m_now.away + m_now.discarded;
        m_result.peakWhole = std::max(m_result.peakWhole, whole);
        m_result.mostAway = std::max(m_result.mostAway, m_now.away);
        if (!m_keepsCurves)
            return;
        step(m_result.gpu, time, gpu);
        step(m_result.whole, time, whole);
    }

    static void step(std::vector<MemoryStep> &curve, Nanoseconds time, double bytes)
    {
        if (curve.back().time == time && curve.size() > 1 && curve[curve.size() - 2].bytes == rounded(bytes))
            curve.pop_back();
        else if (curve.back().time == time)
            curve.back().bytes = rounded(bytes);
        else if (curve.back().bytes != rounded(bytes))
            curve.push_back({time, rounded(bytes)});
    }

    LiveOverTime &m_result;
    PoolBytes m_now;
    double m_running = 0;          // of what runs
    std::size_t m_changes = 0;
    bool m_keepsCurves;
};

/// The parts of what is held, up to the change that was the fullest.
class Parts {
public:
    Parts(const OpMemory &memory, std::size_t fullest) : m_memory(memory), m_left(fullest + 1) {}

    [[nodiscard]] bool isDone() const { return m_left == 0; }
    void start(const TaskClass &of)
    {
        m_beside += of.memoryParts == kNoSpan ? of.memory.running : 0;
        if (of.memoryParts == kNoSpan)
            return add({}, of.memory.atStart.gpu);
        const OpMemory::Effect &effect = m_memory.effect(of.memoryParts);
        m_running = effect.running;
        add(effect.atStart, -effect.returned.away - effect.returned.discarded);
    }
    void end(const TaskClass &of)
    {
        m_beside -= of.memoryParts == kNoSpan ? of.memory.running : 0;
        if (of.memoryParts == kNoSpan)
            return add({}, of.memory.atEnd.gpu);
        const OpMemory::Effect &effect = m_memory.effect(of.memoryParts);
        m_running = {};
        add(effect.atEnd, -effect.left.away - effect.left.discarded);
    }
    [[nodiscard]] const LiveBytes &live() const { return m_live; }

private:
    /// `onGpu`: what comes to the GPU or leaves it and no part tells of.
    void add(const LiveBytes &change, double onGpu)
    {
        m_live.add(change);
        m_live.activations += onGpu;
        if (--m_left > 0)
            return;
        m_live.add(m_running);
        m_live.activations += m_beside;
        m_live.workspace = m_running.workspace;
    }

    const OpMemory &m_memory;
    std::size_t m_left;
    LiveBytes m_live, m_running;
    double m_beside = 0;           // of what runs beside the operation
};

/// The rows of one GPU that change its memory, and which of their spans does next. At one instant what ends comes before what starts,
/// moves before what other systems do, and that before operations.
class Rows {
public:
    Rows(const Timeline &timeline, int pipelineClass, int stage) : m_timeline(timeline)
    {
        const auto add = [&](auto isOne) {
            for (const Track &track : timeline.tracks)
                if (track.pipelineClass == pipelineClass && track.stage == stage && isOne(track) && track.first < track.last)
                    m_rows.push_back({track.first, track.last, false, timeline.start[track.first]});
        };
        add([&](const Track &track) {
            m_mayLeave |= track.stream == Stream::Store;
            return track.stream == Stream::Store;
        });
        add([](const Track &track) { return track.stream == Stream::Load; });
        add([&](const Track &track) { return isOfOthers(track); });
        add([](const Track &track) { return track.stream == Stream::Compute; });
    }

    [[nodiscard]] std::size_t size() const { return m_rows.size(); }
    /// The spans of the one row, if there is one and the stage has no queues of moves, which may be empty where all that leaves
    /// is thrown away.
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> only() const
    {
        return m_rows.size() == 1 && !m_mayLeave ? std::pair(m_rows.front().span, m_rows.front().last) : std::pair(0u, 0u);
    }

    /// Calls start(span) and end(span) until one of them returns false.
    template <class Start, class End>
    void each(Start start, End end)
    {
        while (!m_rows.empty()) {
            Row *next = &m_rows.front();
            for (Row &row : m_rows)
                if (row.time < next->time || (row.time == next->time && row.isRunning && !next->isRunning))
                    next = &row;
            if (next->time == kNever)
                return;
            if (!(next->isRunning ? end(next->span) : start(next->span)))
                return;
            advance(*next);
        }
    }

private:
    struct Row { std::uint32_t span, last; bool isRunning; Nanoseconds time; };

    /// Neither of operations nor of moves, and a span of it changes memory.
    [[nodiscard]] bool isOfOthers(const Track &track) const
    {
        if (track.stream == Stream::Compute || track.stream == Stream::Store || track.stream == Stream::Load)
            return false;
        std::uint32_t last = kNoSpan;      // mostly the same class all along
        for (std::uint32_t span = track.first; span < track.last; ++span)
            if (const std::uint32_t taskClass = m_timeline.taskClass[span]; taskClass != std::exchange(last, taskClass) && m_timeline.classOf(span).memory != MemoryChange{})
                return true;
        return false;
    }

    void advance(Row &row) const
    {
        row.isRunning = !row.isRunning;
        if (!row.isRunning && ++row.span == row.last)
            row.time = kNever;
        else
            row.time = row.isRunning ? m_timeline.end[row.span] : m_timeline.start[row.span];
    }

    const Timeline &m_timeline;
    std::vector<Row> m_rows;
    bool m_mayLeave = false;
};

/// Loads and stores in vain leave everything as it is.
const TaskClass &effective(const Timeline &timeline, std::uint32_t span)
{
    static const TaskClass kNothing;
    return timeline.isVoid.empty() || timeline.isVoid[span] == 0 ? timeline.classes[timeline.taskClass[span]] : kNothing;
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
            if (!timeline.isVoid.empty() && timeline.isVoid[span] != 0)
                use.forwarded += moved;
        }
    }
    return use;
}

std::vector<Op> fullestOrder(const Program &program, int device)
{
    std::vector<Op> order = program.order[std::size_t(device)];
    if (program.rule == OrderRule::OpportunisticForward && device + 1 < program.shape.devices)
        std::ranges::stable_partition(order, isForward, &Op::kind);
    return order;
}

/// Calls visit(effect) for each operation, a pair as one.
template <class Visit>
void eachOp(const Program &program, int device, const OpMemory &memory, bool isRecomputing, Visit visit)
{
    KeptWhole kept(program, device, isRecomputing);
    const bool isAsWritten = program.rule != OrderRule::OpportunisticForward;
    const std::vector<Op> reordered = isAsWritten ? std::vector<Op>{} : fullestOrder(program, device);
    const Op *paired = nullptr;
    for (const Op &op : isAsWritten ? program.order[std::size_t(device)] : reordered) {
        if (op.kind == OpKind::PairedForward) {
            paired = &op;
            continue;
        }
        const std::uint32_t effect = paired ? memory.pair(paired->chunk, kept.isWhole(*paired), op.chunk, kept.isWhole(op)) : memory.op(op.chunk, kept.workOf(op));
        paired = nullptr;
        if (!visit(effect))
            return;
    }
}

/// Of a stage that has nothing but its operations: nothing leaves, and there is nothing to put in order. Plain variables: long
/// pipelines have many spans.
template <bool keepsCurve>
void walkOne(const Timeline &timeline, std::uint32_t first, std::uint32_t last, LiveOverTime &result)
{
    const TaskClass *const classes = timeline.classes.data();
    const std::uint32_t *const taskClass = timeline.taskClass.data();
    if constexpr (keepsCurve)
        result.gpu.resize(2 * std::size_t(last - first) + 1);
    MemoryStep *step = result.gpu.data();
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
            for (const auto &[time, bytes] : {std::pair(timeline.start[span], rounded(during)), std::pair(timeline.end[span], rounded(now))})
                if (bytes != shown)
                    *++step = {time, shown = bytes};
        }
    }
    if constexpr (keepsCurve)
        result.gpu.resize(std::size_t(step - result.gpu.data()) + 1);
    result.peak = result.peakWhole = peak;
    result.fullest = 2 * std::size_t(fullest) + (isAfter ? 1 : 0);
}

} // namespace

LiveOverTime liveOverTime(const Timeline &timeline, int pipelineClass, int stage, bool keepsCurves)
{
    LiveOverTime result;
    result.isFromSpans = true;
    Rows rows(timeline, pipelineClass, stage);
    Sum sum(result, keepsCurves);
    const auto start = [&](std::uint32_t span) { sum.start(timeline.start[span], effective(timeline, span).memory); };
    const auto end = [&](std::uint32_t span) { sum.end(timeline.end[span], effective(timeline, span).memory); };
    if (const auto [first, last] = rows.only(); first < last) {
        keepsCurves ? walkOne<true>(timeline, first, last, result) : walkOne<false>(timeline, first, last, result);
        return result;
    }
    rows.each([&](std::uint32_t span) { return start(span), true; }, [&](std::uint32_t span) { return end(span), true; });
    result.use = useOf(timeline, pipelineClass, stage);
    return result;
}

LiveBytes fullestMoment(const LiveOverTime &live, const Timeline &timeline, int pipelineClass, int stage, const OpMemory &memory)
{
    Parts parts(memory, live.fullest);
    Rows(timeline, pipelineClass, stage).each(
        [&](std::uint32_t span) {
            parts.start(effective(timeline, span));
            return !parts.isDone();
        },
        [&](std::uint32_t span) {
            parts.end(effective(timeline, span));
            return !parts.isDone();
        });
    return parts.live();
}

LiveOverTime liveInOrder(const Program &program, int device, const OpMemory &memory, bool isRecomputing)
{
    LiveOverTime result;
    Sum sum(result, false);
    eachOp(program, device, memory, isRecomputing, [&](std::uint32_t effect) {
        sum.start(0, memory.change(effect));
        sum.end(0, memory.change(effect));
        return true;
    });
    return result;
}

LiveBytes fullestMoment(const LiveOverTime &live, const Program &program, int device, const OpMemory &memory, bool isRecomputing)
{
    Parts parts(memory, live.fullest);
    eachOp(program, device, memory, isRecomputing, [&](std::uint32_t effect) {
        TaskClass of;
        memory.tell(of, effect);
        parts.start(of);
        if (!parts.isDone())
            parts.end(of);
        return !parts.isDone();
    });
    return parts.live();
}

double liveBound(const Program &program, int device, const OpMemory &memory)
{
    (void)program; (void)device; (void)memory;
    return 0;
}

} // namespace trainyard
