// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/offload/rehearsal.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

constexpr std::uint32_t kNone = kNoSpan;
constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

class StagePlayer {
public:
    StagePlayer(const StageScript &script, const std::vector<std::vector<OffloadSegment>> &segments, const RehearsalRule &rule)
        : m_script(script), m_segments(segments), m_rule(rule), m_stored(segments.size() * std::size_t(script.microBatches))
    {
        number();
        for (std::size_t i = 0; i < m_placed.size(); ++i)
            if (isForward(m_placed[i].op->op.kind))
                findStores(i);
        for (std::size_t i = 0; i < m_placed.size(); ++i)
            if (makesGradient(m_placed[i].op->op.kind))
                findLoads(i);
        sortLoads();
    }

    Rehearsal run()
    {
        Rehearsal result;
        result.tasks = m_tasks.size() + 2 * m_stores.size();
        result.isLate = !play();
        if (!result.isLate && m_rule.keepsTimeline)
            result.timeline = timeline();
        return result;
    }

private:
    struct Task {
        WorkKind kind = WorkKind::Forward;
        const ScriptedOp *op = nullptr, *paired = nullptr;   // paired: the forward of a pair
        Nanoseconds time = 0, ready = 0, due = kNever, allowed = 0, end = 0;
        std::uint32_t load = kNone;   // that it waits for
    };
    struct Placed { const ScriptedOp *op; std::uint32_t task, last; bool isCut; };
    struct Store { std::uint32_t segment, made; const ScriptedOp *op; Nanoseconds time, start = 0, end = kNever; bool isDropped = false; };
    struct Load { std::uint32_t store, turn = kNone; bool atBegin = false; Nanoseconds gradient = 0, time = 0, start = 0, end = 0; };
    struct Stored { std::uint32_t first = 0, count = 0; };

    [[nodiscard]] std::size_t cell(const Op &op) const { return std::size_t(op.chunk) * std::size_t(m_script.microBatches) + std::size_t(op.microBatch); }
    [[nodiscard]] const std::vector<OffloadSegment> &segmentsOf(const Op &op) const { return m_segments[std::size_t(op.chunk)]; }
    [[nodiscard]] bool recomputes(const Op &op) const { return op.recomputes && m_script.times[std::size_t(op.chunk)].recompute > 0; }

    void add(WorkKind kind, const ScriptedOp &op, Nanoseconds time, const ScriptedOp *paired = nullptr)
    {
        m_tasks.push_back({kind, &op, paired, time});
    }

    void number()
    {
        const ScriptedOp *forward = nullptr;
        for (const ScriptedOp &scripted : m_script.ops) {
            const Op &op = scripted.op;
            if (op.kind == OpKind::PairedForward) {
                forward = &scripted;
                m_placed.push_back({&scripted, 0, 0, false});
                continue;
            }
            const auto first = std::uint32_t(m_tasks.size());
            const bool cutKind = op.kind == OpKind::Forward || op.kind == OpKind::InputGrad || op.kind == OpKind::Recompute
                || (op.kind == OpKind::Backward && !m_script.splitsBackward);
            const bool isCut = cutKind && !forward && !segmentsOf(op).empty();
            if (isCut)
                addSegments(scripted);
            else
                addWhole(scripted, forward);
            const auto end = std::uint32_t(m_tasks.size());
            if (end > first) {
                m_tasks[first].ready = scripted.ready;
                m_tasks.back().due = scripted.due;
                m_tasks.back().allowed = Nanoseconds(m_rule.tolerance * double(m_script.times[std::size_t(op.chunk)].backward));
                if (forward)
                    m_placed.back().task = m_placed.back().last = end - 1;
                m_placed.push_back({&scripted, first, end - 1, isCut});
            }
            forward = nullptr;
        }
    }

    void addWhole(const ScriptedOp &scripted, const ScriptedOp *forward)
    {
        const Op &op = scripted.op;
        const Nanoseconds recompute = m_script.times[std::size_t(op.chunk)].recompute;
        if (op.kind == OpKind::Recompute && recompute <= 0)
            return;
        const bool makesAnew = recomputes(op);
        if (makesAnew)
            add(WorkKind::Recompute, scripted, recompute);
        add(forward ? WorkKind::ForwardBackward : WorkKind(op.kind), scripted, scripted.due - scripted.ready - (makesAnew ? recompute : 0), forward);
    }

    void addSegments(const ScriptedOp &scripted)
    {
        const Op &op = scripted.op;
        const auto &segments = segmentsOf(op);
        if (op.kind == OpKind::Forward) {
            for (const OffloadSegment &segment : segments)
                add(WorkKind::Forward, scripted, segment.forward);
            return;
        }
        for (std::size_t k = segments.size(); k-- > 0;) {
            if (segments[k].recompute > 0 && (op.kind == OpKind::Recompute || recomputes(op)))
                add(WorkKind::Recompute, scripted, segments[k].recompute);
            if (op.kind != OpKind::Recompute)
                add(WorkKind(op.kind), scripted, segments[k].backward);
        }
    }

    void findStores(std::size_t place)
    {
        const Placed &at = m_placed[place];
        const Op &op = at.op->op;
        const bool isTurn = m_script.isOrderKnown && place + 1 < m_placed.size() && makesGradient(m_placed[place + 1].op->op.kind)
            && cell(m_placed[place + 1].op->op) == cell(op);
        const auto &segments = segmentsOf(op);
        Stored &stored = m_stored[cell(op)];
        stored.first = std::uint32_t(m_stores.size());
        for (std::uint32_t k = 0; k < segments.size(); ++k)
            if (segments[k].store > 0 && !(isTurn && segments[k].staysAtTurn))
                m_stores.push_back({k, at.isCut ? at.task + k : at.last, at.op, segments[k].store});
        stored.count = std::uint32_t(m_stores.size()) - stored.first;
    }

    /// The recomputation of its own that makes a backward's activations anew.
    [[nodiscard]] const Placed *recomputationBefore(std::size_t place) const
    {
        const Op &op = m_placed[place].op->op;
        for (std::size_t i = place; i-- > 0;) {
            const Op &other = m_placed[i].op->op;
            if (other.kind == OpKind::Recompute && (m_script.isOrderKnown || cell(other) == cell(op)))
                return &m_placed[i];
            if (m_script.isOrderKnown || (isForward(other.kind) && cell(other) == cell(op)))
                return nullptr;
        }
        return nullptr;
    }

    void findLoads(std::size_t place)
    {
        const Placed &at = m_placed[place];
        const Stored &stored = m_stored[cell(at.op->op)];
        if (stored.count == 0)
            return;
        const auto &segments = segmentsOf(at.op->op);
        const Placed *recompute = recomputationBefore(place);
        const bool isFused = recomputes(at.op->op);
        std::vector<std::uint32_t> heads;
        std::vector<std::size_t> groupOf;
        std::uint32_t turn = kNone, task = at.task, anew = recompute ? recompute->task : kNone, left = stored.count;
        const auto firstLoad = m_loads.size();
        int last = -1;
        for (std::size_t k = segments.size(); k-- > 0;) {
            const bool makesAnew = segments[k].recompute > 0;
            const std::uint32_t user = recompute && makesAnew ? anew : task;
            if (at.isCut)
                task += isFused && makesAnew ? 2 : 1;
            if (recompute && makesAnew)
                ++anew;
            if (left == 0 || m_stores[stored.first + left - 1].segment != k) {
                turn = segments[k].staysAtTurn && segments[k].store > 0 ? user : turn;
                continue;
            }
            --left;
            if (heads.empty() || segments[k].group != last)
                heads.push_back(user);
            last = segments[k].group;
            groupOf.push_back(heads.size() - 1);
            m_tasks[at.isCut ? user : at.task].load = std::uint32_t(m_loads.size());   // of what is not cut, the last of all
            m_loads.push_back({.store = stored.first + left, .time = segments[k].load});
        }
        for (std::size_t g = heads.size(); g-- > 1;)
            heads[g - 1] = std::min(heads[g - 1], heads[g]);
        for (std::size_t i = 0; i < groupOf.size(); ++i)
            ask(m_loads[firstLoad + i], heads, groupOf[i], turn, place, recompute);
    }

    void ask(Load &load, const std::vector<std::uint32_t> &heads, std::size_t group, std::uint32_t turn, std::size_t place, const Placed *recompute) const
    {
        const Placed &at = m_placed[place];
        const auto ahead = std::size_t(m_rule.ahead);
        if (m_script.isOrderKnown) {
            std::uint32_t before = heads.front();
            if (!at.isCut) {
                std::size_t last = place;
                while (last > 0 && m_placed[last].last >= at.task)
                    --last;
                before = std::min(m_placed[last].task, at.task);
            } else if (group >= ahead)
                before = heads[group - ahead];
            else if (turn != kNone)
                before = turn;
            else {
                const Op *previous = place > 0 ? &m_placed[place - 1].op->op : nullptr;
                const bool isOwnForward = previous && isForward(previous->kind) && cell(*previous) == cell(at.op->op);
                before = at.task > 0 && !isOwnForward ? at.task - 1 : at.task;
            }
            load.turn = before > 0 ? before - 1 : kNone;
            return;
        }
        load.gradient = at.op->gradient;
        if (group >= ahead) {
            const std::uint32_t head = heads[group - ahead];
            load.atBegin = head == at.task || (recompute && head == recompute->task);
            load.turn = load.atBegin ? head : head - 1;
            return;
        }
        for (std::size_t i = place; i-- > 0;)
            if (makesGradient(m_placed[i].op->op.kind)) {
                load.turn = m_placed[i].last;
                load.atBegin = m_placed[i].isCut;
                return;
            }
    }

    /// First come, first served.
    void sortLoads()
    {
        std::vector<std::uint32_t> order(m_loads.size());
        for (std::uint32_t i = 0; i < order.size(); ++i)
            order[i] = i;
        if (m_script.isOrderKnown)
            std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return m_loads[i].turn == kNone ? 0 : m_loads[i].turn + 1; });
        std::vector<Load> sorted;
        std::vector<std::uint32_t> place(order.size());
        for (const std::uint32_t i : order) {
            place[i] = std::uint32_t(sorted.size());
            sorted.push_back(m_loads[i]);
        }
        m_loads = std::move(sorted);
        for (Task &task : m_tasks)
            if (task.load != kNone)
                task.load = place[task.load];
    }

    bool play()
    {
        Nanoseconds now = 0;
        for (; m_done < m_tasks.size(); ++m_done) {
            Task &task = m_tasks[m_done];
            now = std::max(now, task.ready);
            if (task.load != kNone) {
                while (m_nextLoad <= task.load)
                    bring(m_loads[m_nextLoad++]);
                now = std::max(now, m_loads[task.load].end);
            }
            task.end = now += task.time;
            if (task.due != kNever && now > task.due + task.allowed)
                return false;
        }
        storeUntil(kNever);
        return true;
    }

    void bring(Load &load)
    {
        Store &store = m_stores[load.store];
        const Nanoseconds made = m_tasks[store.made].end;
        Nanoseconds asked = std::max(made, load.gradient);
        if (load.turn != kNone)
            asked = std::max(asked, m_tasks[load.turn].end - (load.atBegin ? m_tasks[load.turn].time : 0));
        load.start = load.end = std::max(asked, m_loadsFree);
        storeUntil(load.start);
        if (store.end <= load.start)
            load.end += load.time;
        else if (store.end == kNever)  // not begun
            store.isDropped = true;
        else                           // it runs, and ends here: nobody will read it
            m_storesFree = store.end = load.start;
        m_loadsFree = load.end;
    }

    /// Begins the stores whose turn comes before `time`.
    void storeUntil(Nanoseconds time)
    {
        for (; m_nextStore < m_stores.size(); ++m_nextStore) {
            Store &store = m_stores[m_nextStore];
            if (store.made >= m_done)
                return;
            const Nanoseconds start = std::max(m_storesFree, m_tasks[store.made].end);
            if (start >= time)
                return;
            store.start = start;
            store.end = m_storesFree = store.isDropped ? start : start + store.time;
        }
    }

    void addSpan(Timeline &t, WorkKind kind, const Op &op, Nanoseconds start, Nanoseconds end, const ScriptedOp *paired = nullptr) const
    {
        const Op &first = paired ? paired->op : op;
        t.kind.push_back(kind);
        t.microBatch.push_back(first.microBatch);
        t.chunk.push_back(std::uint16_t(first.chunk));
        t.pairedMicroBatch.push_back(op.microBatch);
        t.pairedChunk.push_back(std::uint16_t(op.chunk));
        t.start.push_back(start);
        t.end.push_back(end);
        t.trackOf.push_back(std::uint32_t(t.tracks.size()));
    }

    [[nodiscard]] Timeline timeline() const
    {
        Timeline t;
        std::uint32_t first = 0;
        const auto close = [&](Stream stream) {
            const auto last = std::uint32_t(t.spanCount());
            t.tracks.push_back({.stream = stream, .first = first, .last = last});
            first = last;
        };
        for (const Task &task : m_tasks)
            addSpan(t, task.kind, task.op->op, task.end - task.time, task.end, task.paired);
        close(Stream::Compute);
        for (const Store &store : m_stores)
            addSpan(t, WorkKind::OffloadStore, store.op->op, store.start, store.end);
        close(Stream::Store);
        for (const Load &load : m_loads)
            addSpan(t, WorkKind::OffloadLoad, m_stores[load.store].op->op, load.start, load.end);
        close(Stream::Load);
        return t;
    }

    const StageScript &m_script;
    const std::vector<std::vector<OffloadSegment>> &m_segments;
    RehearsalRule m_rule;
    std::vector<Stored> m_stored;                 // [chunk * micro-batches + micro-batch]
    std::vector<Task> m_tasks;
    std::vector<Placed> m_placed;
    std::vector<Store> m_stores;
    std::vector<Load> m_loads;
    std::size_t m_done = 0, m_nextLoad = 0, m_nextStore = 0;
    Nanoseconds m_loadsFree = 0, m_storesFree = 0;
};

} // namespace

Rehearsal rehearse(const StageScript &script, const std::vector<std::vector<OffloadSegment>> &segments, const RehearsalRule &rule)
{
    return StagePlayer(script, segments, rule).run();
}

} // namespace trainyard
