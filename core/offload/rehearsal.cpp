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
        if (!result.isLate && m_rule.memory)
            result.timeline = timeline();
        return result;
    }

private:
    struct Task {
        WorkKind kind = WorkKind::Forward;
        const ScriptedOp *op = nullptr, *paired = nullptr;   // paired: the forward of a pair
        Nanoseconds time = 0, ready = 0, due = kNever, allowed = 0, end = 0;
        std::uint32_t load = kNone;   // that it waits for
        std::uint32_t effect = 0;     // on memory
    };
    struct Placed { const ScriptedOp *op; std::uint32_t task, last; bool isCut; };
    struct Store { std::uint32_t segment, made; const ScriptedOp *op; Nanoseconds time, start = 0, end = kNever; bool isDropped = false, isVoid = false; };
    struct Load { std::uint32_t store, turn = kNone; bool atBegin = false; Nanoseconds gradient = 0, time = 0, start = 0, end = 0; };
    struct Stored { std::uint32_t first = 0, count = 0; };

    [[nodiscard]] std::size_t cell(const Op &op) const { return std::size_t(op.chunk) * std::size_t(m_script.microBatches) + std::size_t(op.microBatch); }
    [[nodiscard]] const std::vector<OffloadSegment> &segmentsOf(const Op &op) const { return m_segments[std::size_t(op.chunk)]; }
    [[nodiscard]] bool recomputes(const Op &op) const { return op.recomputes && m_script.times[std::size_t(op.chunk)].recompute > 0; }

    void add(WorkKind kind, const ScriptedOp &op, Nanoseconds time, std::uint32_t effect, const ScriptedOp *paired = nullptr)
    {
        m_tasks.push_back({kind, &op, paired, time});
        m_tasks.back().effect = effect;
    }
    // Effects on memory, where it is counted
    [[nodiscard]] std::uint32_t effectOf(const Op &op, OpWork work) const { return m_rule.memory ? m_rule.memory->op(op.chunk, work) : 0; }
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
                m_placed.push_back({&scripted, 0, 0, false});
                continue;
            }
            const auto first = std::uint32_t(m_tasks.size());
            const bool cutKind = op.kind == OpKind::Forward || op.kind == OpKind::InputGrad || op.kind == OpKind::Recompute
                || (op.kind == OpKind::Backward && !m_script.splitsBackward);
            const bool isCut = cutKind && !forward && !segmentsOf(op).empty();
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
                m_tasks.back().allowed = Nanoseconds(m_rule.tolerance * double(m_script.times[std::size_t(op.chunk)].backward));
                if (forward)
                    m_placed.back().task = m_placed.back().last = end - 1;
                m_placed.push_back({&scripted, first, end - 1, isCut});
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
            add(WorkKind::Recompute, scripted, recompute, effectOf(op, op.kind == OpKind::InputGrad ? OpWork::RecomputeInput : OpWork::RecomputeWithin));
        const std::uint32_t effect = forward && m_rule.memory ? m_rule.memory->pair(forward->op.chunk, isWhole(forward->op), op.chunk, isWhole(op)) : effectOf(op, work);
        add(forward ? WorkKind::ForwardBackward : WorkKind(op.kind), scripted, scripted.due - scripted.ready - (makesAnew ? recompute : 0), effect, forward);
    }

    void addSegments(const ScriptedOp &scripted, bool isKeptWhole)
    {
        const Op &op = scripted.op;
        const auto &segments = segmentsOf(op);
        const std::size_t first = m_tasks.size();
        for (std::size_t k = 0; op.kind == OpKind::Forward && k < segments.size(); ++k)
            add(WorkKind::Forward, scripted, segments[k].forward, effectOf(op, k, isKeptWhole ? SegmentWork::ForwardWhole : SegmentWork::Forward));
        for (std::size_t k = segments.size(); op.kind != OpKind::Forward && k-- > 0;) {
            const bool makesAnew = segments[k].recompute > 0 && (op.kind == OpKind::Recompute || recomputes(op));
            const bool begins = op.kind == OpKind::Recompute && !isKeptWhole && m_tasks.size() == first;
            if (makesAnew)
                add(WorkKind::Recompute, scripted, segments[k].recompute,
                    effectOf(op, k, op.kind != OpKind::Recompute ? SegmentWork::RecomputeWithin : begins ? SegmentWork::Recompute : SegmentWork::RecomputeRest));
            if (op.kind != OpKind::Recompute)
                add(WorkKind(op.kind), scripted, segments[k].backward,
                    effectOf(op, k, isKeptWhole ? SegmentWork::BackwardWhole : makesAnew ? SegmentWork::BackwardAnew : SegmentWork::Backward));
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
            heads.back() = std::min(heads.back(), user);   // a recomputation comes before the backwards
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
            const bool begins = head == at.task || (recompute && head == recompute->task);
            if (!begins || head != heads[group]) {   // else it would wait for itself
                load.atBegin = begins;
                load.turn = begins ? head : head - 1;
                return;
            }
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
        store.isVoid = store.end > load.start;
        if (!store.isVoid)
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

    void addSpan(Timeline &t, WorkKind kind, std::uint32_t taskClass, const Op &op, Nanoseconds start, Nanoseconds end, bool isVoid) const
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
                for (const bool isStore : {true, false})
                    t.classes.push_back({isStore ? WorkKind::OffloadStore : WorkKind::OffloadLoad, kNoSpan, segment.bytes, OpMemory::moved(segment.bytes, isStore)});
        }
        const auto moveOf = [&](const Store &store) { return firstMove[std::size_t(store.op->op.chunk)] + 2 * store.segment; };
        std::uint32_t first = 0;
        const auto close = [&](Stream stream) {
            const auto last = std::uint32_t(t.spanCount());
            t.tracks.push_back({.stream = stream, .first = first, .last = last});
            first = last;
        };
        for (const Task &task : m_tasks)
            addSpan(t, task.kind, task.effect, task.paired ? task.paired->op : task.op->op, task.end - task.time, task.end, false);
        close(Stream::Compute);
        for (const Store &store : m_stores)
            addSpan(t, WorkKind::OffloadStore, moveOf(store), store.op->op, store.start, store.end, store.isVoid || store.isDropped);
        close(Stream::Store);
        for (const Load &load : m_loads) {
            const Store &store = m_stores[load.store];
            addSpan(t, WorkKind::OffloadLoad, moveOf(store) + 1, store.op->op, load.start, load.end, store.isVoid);
        }
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
