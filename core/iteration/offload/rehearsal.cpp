// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/offload/rehearsal.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

constexpr std::uint32_t kNone = kNoSpan;
constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

class StagePlayer {
public:
    StagePlayer(
        const StageScript &script, const std::vector<std::vector<OffloadSegment>> &segments, const RehearsalRule &rule)
        : m_script(script)
        , m_segments(segments)
        , m_rule(rule)
    {
        number();
        m_moves = movesOf({ m_placed, script.times, segments, script.microBatches, rule.ahead, script.isOrderKnown });
        m_stores.resize(m_moves.stores.size());
        m_loads.resize(m_moves.loads.size());
        for (std::uint32_t i = 0; i < m_loads.size(); ++i)
            m_tasks[m_moves.loads[i].user].load = i; // of what is not cut, the last of all
    }

    Rehearsal run()
    {
        Rehearsal result;
        result.tasks = m_tasks.size() + 2 * m_stores.size();
        result.isLate = !play();
        if (!result.isLate && m_rule.memory)
            result.timeline = timeline();
        return result;
    }

private:
    struct Task {
        WorkKind kind = WorkKind::Forward;
        const ScriptedOp *op = nullptr, *paired = nullptr; // paired: the forward of a pair
        Nanoseconds time = 0, ready = 0, due = kNever, allowed = 0, end = 0;
        std::uint32_t load = kNone; // that it waits for
        std::uint32_t effect = 0; // on memory
    };
    struct Store {
        Nanoseconds start = 0, end = kNever;
        bool isDropped = false, isVoid = false;
    };
    struct Load {
        Nanoseconds start = 0, end = 0;
    };

    [[nodiscard]] const std::vector<OffloadSegment> &segmentsOf(const Op &op) const
    {
        return m_segments[std::size_t(op.chunk)];
    }
    [[nodiscard]] bool recomputes(const Op &op) const
    {
        return op.recomputes && m_script.times[std::size_t(op.chunk)].recompute > 0;
    }

    void add(
        WorkKind kind, const ScriptedOp &op, Nanoseconds time, std::uint32_t effect, const ScriptedOp *paired = nullptr)
    {
        m_tasks.push_back({ kind, &op, paired, time });
        m_tasks.back().effect = effect;
    }
    // Effects on memory, where it is counted
    [[nodiscard]] std::uint32_t effectOf(const Op &op, OpWork work) const
    {
        return m_rule.memory ? m_rule.memory->op(op.chunk, work) : 0;
    }
    [[nodiscard]] std::uint32_t effectOf(const Op &op, std::size_t segment, SegmentWork work) const
    {
        return m_rule.memory ? m_rule.memory->segment(op.chunk, segment, work) : 0;
    }
    [[nodiscard]] bool isWhole(const Op &op) const { return m_rule.kept && m_rule.kept->isWhole(op); }

    void number()
    {
        const ScriptedOp *forward = nullptr;
        for (const ScriptedOp &scripted : m_script.ops) {
            const Op &op = scripted.op;
            if (op.kind == OpKind::PairedForward) {
                forward = &scripted;
                m_placed.push_back({ &op, std::size_t(op.chunk), 0, 0, false });
                continue;
            }
            const auto first = std::uint32_t(m_tasks.size());
            const bool isCut = mayBeCut(op.kind, m_script.splitsBackward) && !forward && !segmentsOf(op).empty();
            const bool wasWhole = isWhole(op);
            const OpWork work = m_rule.kept ? m_rule.kept->workOf(op) : OpWork::Forward;
            if (isCut)
                addSegments(scripted, wasWhole);
            else
                addWhole(scripted, forward, work);
            const auto end = std::uint32_t(m_tasks.size());
            if (end > first) {
                m_tasks[first].ready = scripted.ready;
                m_tasks.back().due = scripted.due;
                m_tasks.back().allowed =
                    Nanoseconds(m_rule.tolerance * double(m_script.times[std::size_t(op.chunk)].backward));
                if (forward)
                    m_placed.back().task = m_placed.back().last = end - 1;
                m_placed.push_back({ &op, std::size_t(op.chunk), first, end - 1, isCut });
            }
            forward = nullptr;
        }
    }

    void addWhole(const ScriptedOp &scripted, const ScriptedOp *forward, OpWork work)
    {
        const Op &op = scripted.op;
        const Nanoseconds recompute = m_script.times[std::size_t(op.chunk)].recompute;
        if (op.kind == OpKind::Recompute && recompute <= 0)
            return;
        const bool makesAnew = recomputes(op);
        if (makesAnew)
            add(WorkKind::Recompute, scripted, recompute,
                effectOf(op, op.kind == OpKind::InputGrad ? OpWork::RecomputeInput : OpWork::RecomputeWithin));
        const std::uint32_t effect = forward && m_rule.memory
            ? m_rule.memory->pair(forward->op.chunk, isWhole(forward->op), op.chunk, isWhole(op))
            : effectOf(op, work);
        add(forward ? WorkKind::ForwardBackward : WorkKind(op.kind), scripted,
            scripted.due - scripted.ready - (makesAnew ? recompute : 0), effect, forward);
    }

    void addSegments(const ScriptedOp &scripted, bool isKeptWhole)
    {
        const Op &op = scripted.op;
        const auto &segments = segmentsOf(op);
        eachSegment(op, segments, recomputes(op), isKeptWhole, [&](std::size_t k, SegmentWork work) {
            const WorkKind kind = isRecomputation(work) ? WorkKind::Recompute : WorkKind(op.kind);
            add(kind, scripted, timeOf(segments[k], work), effectOf(op, k, work));
        });
    }

    bool play()
    {
        Nanoseconds now = 0;
        for (; m_done < m_tasks.size(); ++m_done) {
            Task &task = m_tasks[m_done];
            now = std::max(now, task.ready);
            if (task.load != kNone) {
                while (m_nextLoad <= task.load)
                    bring(m_nextLoad++);
                now = std::max(now, m_loads[task.load].end);
            }
            task.end = now += task.time;
            if (task.due != kNever && now > task.due + task.allowed)
                return false;
        }
        storeUntil(kNever);
        return true;
    }

    [[nodiscard]] const OffloadSegment &segmentOf(const DeviceMoves::Store &store) const
    {
        return segmentsOf(*m_placed[store.forward].op)[store.segment];
    }

    void bring(std::size_t index)
    {
        const DeviceMoves::Load &move = m_moves.loads[index];
        Load &load = m_loads[index];
        Store &store = m_stores[move.store];
        Nanoseconds asked =
            std::max(m_tasks[m_moves.stores[move.store].made].end, m_script.ops[move.backward].gradient);
        if (move.turn.task != kNone)
            asked =
                std::max(asked, m_tasks[move.turn.task].end - (move.turn.isStart ? m_tasks[move.turn.task].time : 0));
        load.start = load.end = std::max(asked, m_loadsFree);
        storeUntil(load.start);
        store.isVoid = store.end > load.start;
        if (!store.isVoid)
            load.end += segmentOf(m_moves.stores[move.store]).load;
        else if (store.end == kNever) // not begun
            store.isDropped = true;
        else // it runs, and ends here: nobody will read it
            m_storesFree = store.end = load.start;
        m_loadsFree = load.end;
    }

    /// Begins the stores whose turn comes before `time`.
    void storeUntil(Nanoseconds time)
    {
        for (; m_nextStore < m_stores.size(); ++m_nextStore) {
            const DeviceMoves::Store &move = m_moves.stores[m_nextStore];
            if (move.made >= m_done)
                return;
            const Nanoseconds start = std::max(m_storesFree, m_tasks[move.made].end);
            if (start >= time)
                return;
            Store &store = m_stores[m_nextStore];
            store.start = start;
            store.end = m_storesFree = store.isDropped ? start : start + segmentOf(move).store;
        }
    }

    void addSpan(Timeline &t, WorkKind kind, std::uint32_t taskClass, const Op &op, Nanoseconds start, Nanoseconds end,
        bool isVoid) const
    {
        t.kind.push_back(kind);
        t.taskClass.push_back(taskClass);
        t.microBatch.push_back(op.microBatch);
        t.chunk.push_back(std::uint16_t(op.chunk));
        t.start.push_back(start);
        t.end.push_back(end);
        t.trackOf.push_back(std::uint32_t(t.tracks.size()));
        t.isVoid.push_back(isVoid ? 1 : 0);
    }

    /// Classes: the effects on memory, then a store and a load of each segment.
    [[nodiscard]] Timeline timeline() const
    {
        Timeline t;
        for (std::uint32_t effect = 0; effect < m_rule.memory->effects(); ++effect)
            m_rule.memory->tell(t.classes.emplace_back(), effect);
        std::vector<std::uint32_t> firstMove;
        for (const std::vector<OffloadSegment> &segments : m_segments) {
            firstMove.push_back(std::uint32_t(t.classes.size()));
            for (const OffloadSegment &segment : segments)
                for (const bool isStore : { true, false })
                    t.classes.push_back({ isStore ? WorkKind::OffloadStore : WorkKind::OffloadLoad, kNoSpan,
                        segment.bytes, OpMemory::moved(segment.bytes, isStore), {} });
        }
        std::uint32_t first = 0;
        const auto close = [&](Stream stream) {
            const auto last = std::uint32_t(t.spanCount());
            t.tracks.push_back({ .stream = stream, .first = first, .last = last });
            first = last;
        };
        for (const Task &task : m_tasks)
            addSpan(t, task.kind, task.effect, task.paired ? task.paired->op : task.op->op, task.end - task.time,
                task.end, false);
        close(Stream::Compute);
        const auto addMove = [&](std::uint32_t store, bool loads, Nanoseconds start, Nanoseconds end, bool isVoid) {
            const DeviceMoves::Store &move = m_moves.stores[store];
            const Op &op = *m_placed[move.forward].op;
            const std::uint32_t made = firstMove[std::size_t(op.chunk)] + 2 * move.segment + (loads ? 1 : 0);
            addSpan(t, t.classes[made].kind, made, op, start, end, isVoid);
        };
        for (std::uint32_t i = 0; i < m_stores.size(); ++i)
            addMove(i, false, m_stores[i].start, m_stores[i].end, m_stores[i].isVoid || m_stores[i].isDropped);
        close(Stream::Store);
        for (std::uint32_t i = 0; i < m_loads.size(); ++i)
            addMove(m_moves.loads[i].store, true, m_loads[i].start, m_loads[i].end,
                m_stores[m_moves.loads[i].store].isVoid);
        close(Stream::Load);
        return t;
    }

    const StageScript &m_script;
    const std::vector<std::vector<OffloadSegment>> &m_segments;
    RehearsalRule m_rule;
    std::vector<Task> m_tasks;
    std::vector<PlacedOp> m_placed; // as StageScript::ops
    DeviceMoves m_moves;
    std::vector<Store> m_stores; // as DeviceMoves::stores
    std::vector<Load> m_loads; // as DeviceMoves::loads
    std::size_t m_done = 0, m_nextLoad = 0, m_nextStore = 0;
    Nanoseconds m_loadsFree = 0, m_storesFree = 0;
};

} // namespace

Rehearsal rehearse(
    const StageScript &script, const std::vector<std::vector<OffloadSegment>> &segments, const RehearsalRule &rule)
{
    return StagePlayer(script, segments, rule).run();
}

} // namespace trainyard
