// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/timeline/run_time_order.h"

#include <algorithm>
#include <functional>

namespace trainyard {

void RunTimeOrder::reset()
{
    const std::size_t resources = m_graph.resources.size();
    m_work.queues.resize(resources);
    for (auto &queue : m_work.queues)
        queue.clear();
    m_work.head.clear();
    for (const Resource &resource : m_graph.resources)
        m_work.head.push_back(resource.track.first);
    m_work.nextForward = m_work.head;
    m_work.promoted.assign(resources, kNoSpan);
    m_work.continued.assign(resources, kNoSpan);
    m_work.inFlight.assign(resources, 0);
    const auto keepsOrder = [](const Resource &r) { return r.discipline == Discipline::OpportunisticForward || r.discipline == Discipline::WorkConserving; };
    const std::size_t tasks = std::ranges::any_of(m_graph.resources, keepsOrder) ? m_graph.taskCount() : 0;
    m_work.isHere.assign(tasks, 0);
    m_work.isBegun.assign(tasks, 0);
}

void RunTimeOrder::arrive(std::uint32_t task)
{
    const std::uint32_t on = m_graph.resource[task];
    if (const Discipline discipline = m_graph.resources[on].discipline; discipline != Discipline::Priority && discipline != Discipline::Turns) {
        m_work.isHere[task] = 1;
        return;
    }
    auto &queue = m_work.queues[on];
    queue.emplace_back(m_graph.priority.empty() ? 0 : m_graph.priority[task], task);
    std::ranges::push_heap(queue, std::greater{});
}

std::uint32_t RunTimeOrder::take(std::uint32_t resource)
{
    if (const std::uint32_t next = m_work.continued[resource]; next != kNoSpan)
        return m_work.isHere[next] != 0 ? begun(next) : kNoSpan;
    switch (m_graph.resources[resource].discipline) {
    case Discipline::OpportunisticForward: return takeOpportunistically(resource);
    case Discipline::WorkConserving: return takeWorkConserving(resource);
    default: return takeFirst(resource);
    }
}

std::uint32_t RunTimeOrder::takeFirst(std::uint32_t resource)
{
    auto &queue = m_work.queues[resource];
    if (queue.empty())
        return kNoSpan;
    const std::uint32_t task = queue.front().second;
    std::ranges::pop_heap(queue, std::greater{});
    queue.pop_back();
    return task;
}

/// To the next forward that has not begun, or the end of the track.
void RunTimeOrder::advanceForward(std::uint32_t resource)
{
    const std::uint32_t last = m_graph.resources[resource].track.last;
    std::uint32_t &forward = m_work.nextForward[resource];
    while (forward < last && (m_graph.kind[forward] != WorkKind::Forward || m_work.isBegun[forward] != 0))
        ++forward;
}

std::uint32_t RunTimeOrder::takeOpportunistically(std::uint32_t resource)
{
    const std::uint32_t last = m_graph.resources[resource].track.last;
    std::uint32_t &head = m_work.head[resource], &forward = m_work.nextForward[resource], &promoted = m_work.promoted[resource];
    while (head < last && m_work.isBegun[head] != 0)
        ++head;
    std::uint32_t task = promoted != kNoSpan ? promoted : head;
    if (task == last)
        return kNoSpan;
    if (m_work.isHere[task] == 0 && promoted == kNoSpan && m_graph.kind[task] != WorkKind::Forward) {
        forward = std::max(forward, head);
        advanceForward(resource);
        if (forward < last)
            task = promoted = forward;
    }
    if (m_work.isHere[task] == 0)
        return kNoSpan;
    promoted = kNoSpan;
    return begun(task);
}

std::uint32_t RunTimeOrder::takeWorkConserving(std::uint32_t resource)
{
    const Resource &of = m_graph.resources[resource];
    std::uint32_t &head = m_work.head[resource], &forward = m_work.nextForward[resource], &promoted = m_work.promoted[resource];
    int &inFlight = m_work.inFlight[resource];
    if (promoted != kNoSpan) {   // the backward whose recomputation ran because its gradient was here
        --inFlight;
        return begun(std::exchange(promoted, kNoSpan));
    }
    // The head is the next thing to do for the oldest micro-batch in flight.
    while (head < of.track.last && (m_graph.kind[head] == WorkKind::Forward || m_work.isBegun[head] != 0))
        ++head;
    advanceForward(resource);
    const bool isRecomputation = head < of.track.last && m_graph.kind[head] == WorkKind::Recompute;
    const std::uint32_t backward = isRecomputation ? endOfOperation(head) : head;
    const bool hasForward = forward < of.track.last;
    if (backward < of.track.last && m_work.isHere[backward] != 0 && m_work.isHere[head] != 0 && (!hasForward || m_graph.kind[backward] == WorkKind::Backward)) {
        if (!isRecomputation) {
            inFlight -= m_graph.kind[backward] == WorkKind::Backward;
            return begun(backward);
        }
        promoted = backward;
        if (m_timeline.start[backward] > m_timeline.start[head]) {   // it waited for the gradient
            m_timeline.start[head] = m_timeline.start[backward];
            m_timeline.cause[head] = m_timeline.cause[backward];
        }
        return begun(head);
    }
    const bool isFull = of.inFlightLimit > 0 && inFlight >= static_cast<int>(of.inFlightLimit);
    if (hasForward && !isFull && m_work.isHere[forward] != 0) {
        ++inFlight;
        return begun(forward);
    }
    if (isRecomputation && m_work.isHere[head] != 0 && (!hasForward || isFull))
        return begun(head);
    return kNoSpan;
}

} // namespace trainyard
