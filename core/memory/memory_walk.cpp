// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/memory_walk.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace trainyard {

namespace {

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

/// Sums, peaks and steps of changes as they come.
class Sum {
public:
    Sum(LiveOverTime &result, bool keepsSteps, bool mergesInstants) : m_result(result), m_keepsSteps(keepsSteps), m_mergesInstants(mergesInstants)
    {
        if (keepsSteps)
            result.steps.push_back({0, 0, 0});
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
        if (!m_keepsSteps)
            return;
        LiveOverTime::Step &last = m_result.steps.back();
        if (m_mergesInstants && last.time == time)
            last = {time, gpu, whole};
        else if (last.gpu != gpu || last.whole != whole)
            m_result.steps.push_back({time, gpu, whole});
    }

    LiveOverTime &m_result;
    PoolBytes m_now;
    double m_running = 0;          // of what runs
    std::size_t m_changes = 0;
    bool m_keepsSteps, m_mergesInstants;
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
                if (track.pipelineClass == pipelineClass && track.stage == stage && track.first < track.last && isOne(track))
                    m_rows.push_back({track.first, track.last, false, timeline.start[track.first]});
        };
        add([](const Track &track) { return track.stream == Stream::Store; });
        add([](const Track &track) { return track.stream == Stream::Load; });
        add([&](const Track &track) { return isOfOthers(track); });
        add([](const Track &track) { return track.stream == Stream::Compute; });
    }

    [[nodiscard]] std::size_t size() const { return m_rows.size(); }

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

} // namespace

LiveOverTime liveOverTime(const Timeline &timeline, int pipelineClass, int stage, bool keepsSteps)
{
    LiveOverTime result;
    Rows rows(timeline, pipelineClass, stage);
    Sum sum(result, keepsSteps, rows.size() > 1);
    rows.each(
        [&](std::uint32_t span) {
            sum.start(timeline.start[span], effective(timeline, span).memory);
            return true;
        },
        [&](std::uint32_t span) {
            sum.end(timeline.end[span], effective(timeline, span).memory);
            return true;
        });
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
    Sum sum(result, false, false);
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
