// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/graph_builder.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace trainyard {

void Fingerprint::add(std::uint64_t word)
{
    m_hash = (std::rotl(m_hash, 23) ^ word) * 0x9e3779b97f4a7c15u;
    m_hash ^= m_hash >> 29;
}

void Fingerprint::add(const std::uint64_t *words, std::size_t count)
{
    std::uint64_t part[4] = { 1, 2, 3, 4 };
    for (std::size_t i = 0; i < count; ++i)
        part[i % 4] = (std::rotl(part[i % 4], 31) ^ words[i]) * 0xbf58476d1ce4e5b9u;
    add(count);
    for (const std::uint64_t value : part)
        add(value);
}

void GraphBuilder::reserve(std::size_t tasks)
{
    m_tasks.reserve(tasks);
    m_waits.reserve(tasks + tasks / 2);
}

GraphBuilder::Id GraphBuilder::resource(
    const Track &track, Discipline discipline, const RunTimePolicy *policy, int limit)
{
    m_graph.resources.push_back({ discipline, policy, static_cast<std::uint32_t>(limit), track });
    return static_cast<Id>(m_graph.resources.size()) - 1;
}

void GraphBuilder::pair(Id task, std::int32_t microBatch, int chunk)
{
    set(m_graph.pairedMicroBatch, task, microBatch, -1);
    set(m_graph.pairedChunk, task, static_cast<std::uint16_t>(chunk), std::uint16_t { 0 });
}

void GraphBuilder::carry(Id task, Id result)
{
    set(m_graph.origin, task, result, kNoSpan);
    after(task, result);
}

void GraphBuilder::overtake(Id task, Id other)
{
    set(m_graph.overtakes, task, other, kNoSpan);
    set(m_graph.mayStop, other, std::uint8_t { 1 }, std::uint8_t { 0 });
}

void GraphBuilder::numberByResource()
{
    std::vector<std::uint32_t> next(m_graph.resources.size() + 1);
    for (const Task &task : m_tasks)
        ++next[task.resource + 1];
    for (std::size_t r = 0; r < m_graph.resources.size(); ++r) {
        next[r + 1] += next[r];
        m_graph.resources[r].track.first = next[r];
        m_graph.resources[r].track.last = next[r + 1];
    }
    if (std::ranges::is_sorted(m_tasks, {}, &Task::resource))
        return;
    m_number.resize(m_tasks.size());
    for (std::size_t i = 0; i < m_number.size(); ++i)
        m_number[i] = next[m_tasks[i].resource]++;
}

void GraphBuilder::placeTasks()
{
    const std::size_t tasks = m_tasks.size();
    const ClassTable &table = m_graph.table;
    m_graph.kind.resize(tasks);
    m_graph.resource.resize(tasks);
    m_graph.taskClass.resize(tasks);
    m_graph.microBatch.resize(tasks);
    m_graph.chunk.resize(tasks);
    const TaskClass *const about = table.about.data();
    const auto place = [&, kind = m_graph.kind.data(), resource = m_graph.resource.data(),
                           taskClass = m_graph.taskClass.data(), microBatch = m_graph.microBatch.data(),
                           chunk = m_graph.chunk.data()](const Task &task, std::size_t at) {
        resource[at] = task.resource;
        taskClass[at] = task.taskClass;
        microBatch[at] = task.microBatch;
        chunk[at] = task.chunk;
        kind[at] = about[task.taskClass].kind;
    };
    bool someContinue = false;
    for (std::size_t i = 0; i < tasks; ++i) {
        place(m_tasks[i], m_number.empty() ? i : m_number[i]);
        someContinue |= m_tasks[i].continues;
    }
    if (!table.flows.empty())
        std::ranges::transform(
            m_graph.taskClass, std::back_inserter(m_graph.flow), [&](std::uint32_t c) { return table.flow[c]; });
    m_graph.continues.resize(someContinue ? tasks : 0);
    for (std::size_t i = 0; i < m_graph.continues.size(); ++i)
        m_graph.continues[m_number.empty() ? i : m_number[i]] = m_tasks[i].continues;
}

/// Predecessors side by side, those of a task in the order in which they were named.
void GraphBuilder::linkWaits()
{
    const std::size_t tasks = m_tasks.size();
    std::vector<std::uint32_t> &begin = m_graph.predBegin;
    begin.assign(tasks + 1, 0);
    for (Wait &wait : m_waits) {
        if (!m_number.empty()) {
            wait.task = m_number[wait.task];
            wait.before = m_number[wait.before];
        }
        ++begin[wait.task];
    }
    std::uint32_t sum = 0;
    for (std::uint32_t &of : begin)
        sum += std::exchange(of, sum);
    m_graph.pred.resize(m_waits.size());
    m_graph.lag.resize(m_waits.size());
    std::uint32_t *const next = begin.data(), *const pred = m_graph.pred.data(), *const lag = m_graph.lag.data();
    std::uint32_t lags = 0;
    for (const Wait &wait : m_waits) {
        const std::uint32_t at = next[wait.task]++;
        pred[at] = wait.before;
        lag[at] = wait.lag;
        lags |= wait.lag;
    }
    m_graph.waitsForStarts = (lags & TaskGraph::kFromStart) != 0;
    std::move_backward(begin.begin(), begin.end() - 1, begin.end()); // each has become the next one's
    begin.front() = 0;
}

Expected<TaskGraph> GraphBuilder::finish(std::uint64_t fingerprint) &&
{
    const std::size_t tasks = m_tasks.size();
    numberByResource();
    placeTasks();
    const auto arrange = [&]<class T>(std::vector<T> &values, T otherwise) {
        if (values.empty())
            return;
        values.resize(tasks, otherwise);
        if (m_number.empty())
            return;
        std::vector<T> placed(tasks);
        for (std::size_t i = 0; i < tasks; ++i)
            placed[m_number[i]] = values[i];
        values = std::move(placed);
    };
    arrange(m_graph.pairedMicroBatch, -1);
    arrange(m_graph.pairedChunk, std::uint16_t { 0 });
    arrange(m_graph.priority, std::int64_t { 0 });
    arrange(m_graph.mayStop, std::uint8_t { 0 });
    for (std::vector<std::uint32_t> *tasksOf : { &m_graph.origin, &m_graph.overtakes }) {
        arrange(*tasksOf, kNoSpan);
        for (std::uint32_t &task : *tasksOf)
            task = task == kNoSpan || m_number.empty() ? task : m_number[task];
    }
    linkWaits();
    m_graph.fingerprint = fingerprint;
    // Where a resource decides while it runs, the event loop needs no order, and finds circles itself.
    const auto isFixed = [](const Resource &r) { return r.discipline == Discipline::FixedOrder; };
    if (!std::ranges::all_of(m_graph.resources, isFixed))
        m_graph.events = eventTopologyOf(m_graph);
    else if (const auto sorted = sortTopologically(m_graph); !sorted)
        return std::unexpected(sorted.error());
    return std::move(m_graph);
}

} // namespace trainyard
