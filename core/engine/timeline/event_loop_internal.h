#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The event loop, for the two files that run it: with what a dispatcher begins, and without, which so stays as fast as
// if there were no dispatchers.
//
// Only what depends on the clock is an event: the start and end of a flow, and the choices of a resource that decides
// while it runs (run_time_order). A task of fixed duration on a fixed-order resource is placed as soon as the ends of
// its predecessors are known, even if they lie ahead of the clock; so a negative lag between such tasks is exact here
// too. Towards a flow or a priority resource a negative lag reaches no further back than the clock.
#include "core/engine/timeline/event_loop.h"

#include "core/engine/timeline/dispatched_tasks.h"
#include "core/engine/timeline/run_time_order.h"
#include "core/engine/timeline/shared_links.h"
#include "core/engine/timeline/stuck.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

/// `hasStarts`: some task waits for the start of another. `dispatches`: some are begun by a dispatcher.
template <bool hasStarts, bool dispatches> class EventLoop {
public:
    EventLoop(const TaskGraph &graph, SimulationWorkspace &workspace, Timeline &timeline, DispatchedTasks *dispatched)
        : m_graph(graph)
        , m_table(graph.table)
        , m_work(workspace)
        , m_timeline(timeline)
        , m_topology(eventsOf(graph, workspace.events, workspace.eventsOf))
        , m_order(graph, workspace, timeline)
        , m_links(graph.table, workspace)
        , m_dispatched(dispatched)
    {
    }

    Expected<void> run(const std::stop_token &stop)
    {
        reset();
        for (std::uint32_t task = 0; task < m_graph.taskCount(); ++task)
            if (m_work.pending[task] == 0)
                place(task);
        settle();
        for (std::size_t instants = 0;; ++instants) {
            if (instants % kInstantsPerStopCheck == 0 && stop.stop_requested())
                return std::unexpected(Error { ErrorCode::Cancelled, "", "cancelled", "" });
            m_now = nextInstant();
            if (m_now == kNever)
                break;
            complete();
            arrive();
            // Whatever ends at the instant at which it began makes another round of the same instant first.
            if (!m_work.lastToChoose.empty() && nextInstant() > m_now)
                choose(m_work.lastToChoose);
            if constexpr (dispatches)
                if (nextInstant() > m_now)
                    m_openChanged |= m_dispatched->choose(m_now);
            if (m_links.haveChanged())
                shareLinks();
        }
        return m_settled == m_graph.taskCount() && !(dispatches && !m_dispatched->leftOver().empty())
            ? Expected<void> {}
            : std::unexpected(stuck());
    }

private:
    [[nodiscard]] const Flow *flowOf(std::uint32_t task) const
    {
        if (isDispatched(task))
            return m_dispatched->flowOf(task);
        return m_graph.isFlow(task) ? &m_table.flows[m_graph.flow[task]] : nullptr;
    }
    [[nodiscard]] bool isDispatched(std::uint32_t task) const { return dispatches && m_dispatched->has(task); }
    [[nodiscard]] bool mayStop(std::uint32_t task) const
    {
        return !m_graph.mayStop.empty() && m_graph.mayStop[task] != 0;
    }
    [[nodiscard]] bool isOpen(std::uint32_t task) const { return is(task, kOpen); }
    [[nodiscard]] bool is(std::uint32_t task, std::uint8_t trait) const
    {
        return (m_topology.traits[task] & trait) != 0;
    }
    [[nodiscard]] Nanoseconds durationOf(std::uint32_t task) const
    {
        return m_table.durations[m_graph.taskClass[task]];
    }

    void reset()
    {
        const std::size_t tasks = m_graph.taskCount(), resources = m_graph.resources.size();
        m_work.free.assign(resources, 0);
        m_work.last.assign(resources, kNoSpan);
        m_work.isBusy.assign(resources, 0);
        m_order.reset();
        m_work.ownArrivals.clear();
        m_work.ended.clear();
        m_work.candidates.clear();
        m_work.lastToChoose.clear();
        m_work.arrivals.clear();
        m_work.freed.clear();
        m_work.active.clear();
        m_links.reset();
        m_work.pending = m_topology.waits;
        if constexpr (dispatches)
            m_dispatched->reset(m_links);
        if (m_graph.overtakes.empty())
            return;
        m_timeline.isVoid.assign(tasks, 0);
        std::ranges::fill(m_timeline.end, kNever); // whether a task has ended is asked of those that have not
    }

    void arriveAt(Instants &arrivals, Nanoseconds time, std::uint32_t task)
    {
        const auto microBatch = static_cast<std::uint64_t>(m_graph.microBatch[task] + 1);
        arrivals.push(time, microBatch << 32 | m_topology.tieRank[m_graph.resource[task]], task);
    }
    void freeAt(Nanoseconds time, std::uint32_t resource)
    {
        m_work.freed.push(time, m_topology.tieRank[resource], resource);
    }

    /// All that the task waits for has a known end: gives it its start, or lets it arrive there.
    void place(std::uint32_t task)
    {
        const std::uint32_t on = m_graph.resource[task];
        const bool chooses = is(task, kChosen);
        Nanoseconds start = chooses ? 0 : m_work.free[on];
        std::uint32_t cause = chooses ? kNoSpan : m_work.last[on];
        for (std::uint32_t i = m_graph.predBegin[task]; i < m_graph.predBegin[task + 1]; ++i) {
            const std::uint32_t lag = m_graph.lag[i];
            const std::vector<Nanoseconds> &moments =
                hasStarts && (lag & kFromStart) != 0 ? m_timeline.start : m_timeline.end;
            const Nanoseconds ready = moments[m_graph.pred[i]] + m_table.lags[hasStarts ? lag & ~kFromStart : lag];
            cause = ready > start ? m_graph.pred[i] : cause;
            start = std::max(start, ready);
        }
        m_timeline.start[task] = start;
        m_timeline.cause[task] = cause;
        if (chooses || isOpen(task)) {
            m_timeline.start[task] = start = std::max(start, m_now);
            const bool isOwn = cause != kNoSpan && m_graph.resource[cause] == on && m_order.knowsItsOwn(on);
            arriveAt(isOwn ? m_work.ownArrivals : m_work.arrivals, start, task);
        } else {
            end(task, start + durationOf(task));
        }
    }

    void end(std::uint32_t task, Nanoseconds at)
    {
        m_timeline.end[task] = at;
        const std::uint32_t on = m_graph.resource[task];
        m_work.free[on] = at;
        m_work.last[on] = task;
        ++m_settled;
        m_work.ended.push_back(task);
    }

    /// Tells those that wait for the ended tasks, until nothing more follows.
    void settle()
    {
        while (!m_work.ended.empty()) {
            const std::uint32_t task = m_work.ended.back();
            m_work.ended.pop_back();
            const std::uint32_t released = hasStarts && isOpen(task) ? kFromStart : 0; // when it began
            for (std::uint32_t i = m_topology.successorBegin[task]; i < m_topology.successorBegin[task + 1]; ++i)
                if (const std::uint32_t next = m_topology.successor[i]; !hasStarts || (next & released) == 0)
                    release(hasStarts ? next & ~kFromStart : next);
            if (is(task, kFollowed))
                release(task + 1);
        }
    }

    void release(std::uint32_t task)
    {
        if (--m_work.pending[task] == 0)
            place(task);
    }

    [[nodiscard]] Nanoseconds nextInstant()
    {
        const Nanoseconds next = std::min({ m_work.arrivals.next(), m_work.freed.next(), nextOpenEnd() });
        return dispatches ? std::min(next, m_dispatched->next()) : next;
    }

    /// When the first of the open tasks ends.
    Nanoseconds nextOpenEnd()
    {
        if (m_openChanged) {
            m_openEnd = kNever;
            for (const auto &flow : m_work.active)
                m_openEnd = std::min(m_openEnd, flow.end);
            m_openChanged = false;
        }
        return m_openEnd;
    }

    /// Completions of this instant, then the choices of the resources that they free, among what had arrived before.
    /// Those that give turns wait until nothing more can arrive at this instant.
    void complete()
    {
        for (std::size_t i = nextOpenEnd() <= m_now ? 0 : m_work.active.size(); i < m_work.active.size();) {
            if (m_work.active[i].end > m_now) {
                ++i;
                continue;
            }
            const std::uint32_t task = m_work.active[i].task;
            finish(i);
            if (!isDispatched(task) && is(task, kChosen))
                becomeFree(m_graph.resource[task]);
        }
        if constexpr (dispatches)
            m_dispatched->complete(m_now);
        while (m_work.freed.next() <= m_now)
            becomeFree(m_work.freed.pop());
        while (m_work.ownArrivals.next() <= m_now)
            m_order.arrive(m_work.ownArrivals.pop());
        choose(m_work.candidates);
    }

    /// Ends what is active now.
    void finish(std::size_t i)
    {
        const std::uint32_t task = m_work.active[i].task;
        m_work.active[i] = m_work.active.back();
        m_work.active.pop_back();
        m_openChanged = true;
        if (const Flow *flow = flowOf(task))
            m_links.leave(*flow);
        if (isDispatched(task))
            return m_dispatched->end(task, m_now);
        end(task, m_now);
    }

    /// What nobody waits for any more.
    void stop(std::uint32_t task)
    {
        const auto active = std::ranges::find(m_work.active, task, &SimulationWorkspace::ActiveFlow::task);
        if (active == m_work.active.end()) // not begun
            return;
        const double left =
            std::max(0.0, active->workLeft - static_cast<double>(m_now - active->since) * active->speed);
        if (m_timeline.moved.empty())
            m_timeline.moved.assign(m_graph.taskCount(), 1);
        m_timeline.moved[task] =
            std::clamp(1 - left / static_cast<double>(std::max<Nanoseconds>(1, durationOf(task))), 0.0, 1.0);
        finish(static_cast<std::size_t>(active - m_work.active.begin()));
        freeAt(m_now, m_graph.resource[task]); // chooses in another round of this instant
    }

    void becomeFree(std::uint32_t resource)
    {
        m_work.isBusy[resource] = 0;
        mayChoose(resource);
    }

    void mayChoose(std::uint32_t resource)
    {
        (m_order.choosesLast(resource) ? m_work.lastToChoose : m_work.candidates).push_back(resource);
    }

    /// Arrivals of this instant, then the choices of the resources still free.
    void arrive()
    {
        while (m_work.arrivals.next() <= m_now) {
            const std::uint32_t task = m_work.arrivals.pop();
            if (!is(task, kChosen)) {
                begin(task);
                continue;
            }
            m_order.arrive(task);
            mayChoose(m_graph.resource[task]);
        }
        choose(m_work.candidates);
    }

    void choose(std::vector<std::uint32_t> &resources)
    {
        for (const std::uint32_t resource : resources) {
            const std::uint32_t task = m_work.isBusy[resource] != 0 ? kNoSpan : m_order.take(resource);
            if (task == kNoSpan)
                continue;
            if (m_now > m_timeline.start[task]) { // it had to wait for the resource
                m_timeline.start[task] = m_now;
                m_timeline.cause[task] = m_work.last[resource];
            }
            m_work.isBusy[resource] = 1;
            begin(task);
        }
        resources.clear();
        settle();
    }

    /// Tells those that wait for its start.
    void releaseStarted(std::uint32_t task)
    {
        for (std::uint32_t i = m_topology.successorBegin[task]; hasStarts && i < m_topology.successorBegin[task + 1];
             ++i)
            if ((m_topology.successor[i] & kFromStart) != 0)
                release(m_topology.successor[i] & ~kFromStart);
    }

    /// It overtakes what has not ended, or was overtaken.
    [[nodiscard]] bool isMoot(std::uint32_t task)
    {
        if (m_timeline.isVoid.empty())
            return false;
        if (const std::uint32_t other = m_graph.overtakes[task]; other != kNoSpan) {
            if (m_timeline.end[other] > m_now) {
                m_timeline.isVoid[other] = 1;
                stop(other);
            }
            m_timeline.isVoid[task] |= m_timeline.isVoid[other];
        }
        return m_timeline.isVoid[task] != 0;
    }

    void begin(std::uint32_t task)
    {
        if (isMoot(task)) {
            if (isOpen(task))
                releaseStarted(task);
            freeAt(m_now, m_graph.resource[task]);
            return end(task, m_now);
        }
        if (isOpen(task)) {
            m_work.active.push_back(
                { task, static_cast<double>(durationOf(task)), 1, m_now, m_now + durationOf(task) });
            m_openChanged = true;
            if (const Flow *flow = flowOf(task))
                m_links.join(*flow);
            releaseStarted(task);
            return;
        }
        const Nanoseconds until = m_now + durationOf(task);
        freeAt(until, m_graph.resource[task]);
        end(task, until);
    }

    void shareLinks()
    {
        m_links.share(m_work.active, [&](std::uint32_t task) { return flowOf(task); });
        for (std::size_t i = 0; i < m_work.active.size(); ++i)
            setSpeed(m_work.active[i], m_links.speed(i));
    }

    void setSpeed(SimulationWorkspace::ActiveFlow &flow, double speed)
    {
        if (speed == flow.speed)
            return;
        flow.workLeft = std::max(0.0, flow.workLeft - static_cast<double>(m_now - flow.since) * flow.speed);
        flow.since = m_now;
        flow.speed = speed;
        // A thousandth of a nanosecond of rounding must not become a whole one.
        const double left = flow.workLeft > 1e-3 ? std::ceil(flow.workLeft / speed - 1e-3) : 0;
        m_openChanged = true;
        flow.end = left < 9e18 - static_cast<double>(m_now) ? m_now + static_cast<Nanoseconds>(left) : kNever;
    }

    [[nodiscard]] Error stuck() const
    {
        if (const std::string left = dispatches ? m_dispatched->leftOver() : ""; !left.empty())
            return { ErrorCode::Internal, "schedule", left, "" };
        return stuckError(m_graph, m_work);
    }

    static constexpr Nanoseconds kNever = Instants::kNever;
    static constexpr std::uint32_t kFromStart = TaskGraph::kFromStart;
    static constexpr std::uint8_t kChosen = EventTopology::kChosen, kOpen = EventTopology::kOpen,
                                  kFollowed = EventTopology::kFollowed;
    static constexpr std::size_t kInstantsPerStopCheck = 1024;

    const TaskGraph &m_graph;
    const ClassTable &m_table;
    SimulationWorkspace &m_work;
    Timeline &m_timeline;
    const EventTopology &m_topology;
    RunTimeOrder m_order;
    SharedLinks m_links;
    /// null unless `dispatches`
    DispatchedTasks *const m_dispatched;
    Nanoseconds m_now = 0;
    std::size_t m_settled = 0;
    Nanoseconds m_openEnd = kNever;
    /// since m_openEnd was found
    bool m_openChanged = false;
};

} // namespace trainyard
