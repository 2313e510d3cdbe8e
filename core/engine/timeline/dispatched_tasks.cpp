// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/dispatched_tasks.h"

#include "core/engine/timeline/event_loop_internal.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Values of the graph's own tasks in their new places; the others get what the dispatcher's are set to.
template <class T>
void place(std::vector<T> &values, const std::vector<std::uint32_t> &newIndex, std::size_t own, T other)
{
    std::vector<T> placed(newIndex.size(), other);
    for (std::size_t i = 0; i < own; ++i)
        placed[newIndex[i]] = values[i];
    values = std::move(placed);
}

} // namespace

std::uint32_t DispatchedTasks::begin(
    std::uint32_t resource, std::uint32_t taskClass, GraphBuilder::Tag tag, std::uint32_t cause)
{
    const ClassTable &table = m_graph.table;
    const Nanoseconds lasts = table.durations[taskClass];
    const auto task = m_first + static_cast<std::uint32_t>(m_tasks.size());
    m_tasks.push_back(
        { m_now, m_now + lasts, resource, taskClass, cause, tag.microBatch, static_cast<std::uint16_t>(tag.chunk) });
    const std::uint32_t flow = table.linkCapacity.empty() ? kNoSpan : table.flow[taskClass];
    if (flow == kNoSpan) {
        m_ends.push(m_now + lasts, resource, task);
    } else {
        m_work.active.push_back({ task, static_cast<double>(lasts), 1, m_now, m_now + lasts });
        m_links->join(table.flows[flow]);
        m_hasBegunFlow = true;
    }
    return task;
}

bool DispatchedTasks::choose(Nanoseconds now)
{
    m_now = now;
    if (m_ended.empty() && !m_isWoken)
        return false;
    m_isWoken = m_hasBegunFlow = false;
    if (m_ended.size() > 1)
        std::ranges::sort(
            m_ended, {}, [&](std::uint32_t task) { return std::pair(m_tasks[task - m_first].resource, task); });
    for (const std::uint32_t task : m_ended)
        m_dispatcher.ended(*this, task);
    m_ended.clear();
    m_dispatcher.choose(*this);
    return m_hasBegunFlow;
}

void DispatchedTasks::moveInto(Timeline &timeline) const
{
    const std::size_t own = m_first, all = own + m_tasks.size();
    std::vector<std::uint32_t> next(timeline.tracks.size() + 1, 0); // per track: where its next span goes
    for (std::size_t r = 0; r < timeline.tracks.size(); ++r)
        next[r + 1] = timeline.tracks[r].last - timeline.tracks[r].first;
    for (const Task &task : m_tasks)
        ++next[task.resource + 1];
    for (std::size_t r = 0; r < timeline.tracks.size(); ++r)
        next[r + 1] += next[r];
    std::vector<std::uint32_t> newIndex(all);
    for (std::size_t r = 0; r < timeline.tracks.size(); ++r) {
        Track &track = timeline.tracks[r];
        const std::uint32_t first = next[r];
        for (std::uint32_t span = track.first; span < track.last; ++span)
            newIndex[span] = next[r]++;
        track.first = first;
    }
    for (std::size_t i = 0; i < m_tasks.size(); ++i)
        newIndex[own + i] = next[m_tasks[i].resource]++;
    for (std::size_t r = 0; r < timeline.tracks.size(); ++r)
        timeline.tracks[r].last = next[r];

    const auto renumbered = [&](std::uint32_t span) { return span == kNoSpan ? kNoSpan : newIndex[span]; };
    for (std::size_t i = 0; i < own; ++i)
        timeline.cause[i] = renumbered(timeline.cause[i]);
    for (std::uint32_t &span : timeline.origin)
        span = renumbered(span);
    place(timeline.start, newIndex, own, Nanoseconds { 0 });
    place(timeline.end, newIndex, own, Nanoseconds { 0 });
    place(timeline.kind, newIndex, own, WorkKind::Forward);
    place(timeline.taskClass, newIndex, own, kNoSpan);
    place(timeline.microBatch, newIndex, own, std::int32_t { -1 });
    place(timeline.chunk, newIndex, own, std::uint16_t { 0 });
    place(timeline.cause, newIndex, own, kNoSpan);
    place(timeline.trackOf, newIndex, own, std::uint32_t { 0 });
    std::vector<WorkKind> kinds; // side by side: there may be millions of tasks
    for (const TaskClass &about : m_graph.table.about)
        kinds.push_back(about.kind);
    for (std::size_t i = 0; i < m_tasks.size(); ++i) {
        const Task &task = m_tasks[i];
        const std::uint32_t span = newIndex[own + i];
        timeline.start[span] = task.start;
        timeline.end[span] = task.end;
        timeline.kind[span] = kinds[task.taskClass];
        timeline.taskClass[span] = task.taskClass;
        timeline.microBatch[span] = task.microBatch;
        timeline.chunk[span] = task.chunk;
        timeline.cause[span] = renumbered(task.cause);
        timeline.trackOf[span] = task.resource;
    }
    const auto placeUnlessEmpty = [&](auto &values, auto otherwise) {
        if (!values.empty())
            place(values, newIndex, own, otherwise);
    };
    placeUnlessEmpty(timeline.pairedMicroBatch, std::int32_t { -1 });
    placeUnlessEmpty(timeline.pairedChunk, std::uint16_t { 0 });
    placeUnlessEmpty(timeline.origin, kNoSpan);
    placeUnlessEmpty(timeline.moved, 1.0);
    placeUnlessEmpty(timeline.isVoid, std::uint8_t { 0 });
    timeline.fingerprint = 0;
    for (const Task &task : m_tasks)
        timeline.duration = std::max(timeline.duration, task.end);
}

Expected<void> simulateInto(Timeline &timeline, const TaskGraph &graph, SimulationWorkspace &workspace,
    Dispatcher &dispatcher, std::stop_token stop)
{
    timeline.fingerprint = 0;
    DispatchedTasks dispatched(graph, workspace, dispatcher);
    prepareTimeline(timeline, graph);
    timeline.moved.clear();
    timeline.isVoid.clear();
    const auto ran = graph.waitsForStarts ? EventLoop<true, true>(graph, workspace, timeline, &dispatched).run(stop)
                                          : EventLoop<false, true>(graph, workspace, timeline, &dispatched).run(stop);
    if (!ran)
        return ran;
    finishTimeline(timeline, graph);
    if (timeline.classes.size() != graph.table.about.size())
        timeline.classes = graph.table.about; // the dispatcher has appended some
    dispatched.moveInto(timeline);
    return {};
}

} // namespace trainyard
