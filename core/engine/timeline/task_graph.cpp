// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/task_graph.h"

#include <atomic>

namespace trainyard {

namespace {

/// Goes round the resources, one task at a time. A blocked resource waits in the list of the one resource whose task it
/// needs next, so that every wait is looked at once.
class TopologicalSort {
public:
    explicit TopologicalSort(TaskGraph &graph)
        : m_graph(graph)
        , m_next(graph.resources.size())
        , m_waiter(graph.resources.size(), kNoSpan)
        , m_nextWaiter(graph.resources.size(), kNoSpan)
        , m_awaited(graph.resources.size(), kNoSpan)
        , m_round(graph.resources.size())
    {
        for (std::size_t r = 0; r < graph.resources.size(); ++r)
            m_next[r] = graph.resources[r].track.first;
    }

    Expected<void> run()
    {
        m_graph.steps.resize(m_graph.taskCount());
        for (std::uint32_t r = 0; r < m_graph.resources.size(); ++r)
            queueOrWait(r);
        while (m_queued > 0) {
            const std::uint32_t resource = m_round[m_head];
            m_head = m_head + 1 == m_round.size() ? 0 : m_head + 1;
            --m_queued;
            emit(m_next[resource]++, resource);
            queueOrWait(resource);
            if (m_waiter[resource] != kNoSpan)
                release(resource);
        }
        if (m_emitted == m_graph.taskCount())
            return {};
        m_graph.steps.clear();
        return std::unexpected(deadlock());
    }

private:
    [[nodiscard]] std::uint32_t firstMissing(std::uint32_t task) const
    {
        for (std::uint32_t i = m_graph.predBegin[task]; i < m_graph.predBegin[task + 1]; ++i)
            if (const std::uint32_t pred = m_graph.pred[i]; pred >= m_next[m_graph.resource[pred]])
                return pred;
        return kNoSpan;
    }

    void queueOrWait(std::uint32_t resource)
    {
        const std::uint32_t task = m_next[resource];
        if (task >= m_graph.resources[resource].track.last)
            return;
        if (const std::uint32_t missing = firstMissing(task); missing != kNoSpan) {
            const std::uint32_t other = m_graph.resource[missing];
            m_awaited[resource] = missing;
            m_nextWaiter[resource] = m_waiter[other];
            m_waiter[other] = resource;
            return;
        }
        const std::size_t tail = m_head + m_queued++;
        m_round[tail < m_round.size() ? tail : tail - m_round.size()] = resource;
    }

    void emit(std::uint32_t task, std::uint32_t resource)
    {
        const std::uint32_t first = m_graph.predBegin[task], preds = m_graph.predBegin[task + 1] - first;
        const bool hasFirst = preds > 0 && (m_graph.lag[first] & TaskGraph::kFromStart) == 0;
        PassStep &step = m_graph.steps[m_emitted++];
        step.task = preds > (hasFirst ? 1u : 0u) ? task | PassStep::kHasMore : task;
        step.resource = resource;
        step.taskClass = m_graph.taskClass[task];
        step.pred = hasFirst ? m_graph.pred[first] : 0;
        step.lag = hasFirst ? m_graph.lag[first] + 1 : 0;
    }

    void release(std::uint32_t resource)
    {
        std::uint32_t waiter = m_waiter[resource];
        m_waiter[resource] = kNoSpan;
        while (waiter != kNoSpan) {
            const std::uint32_t following = m_nextWaiter[waiter];
            if (m_awaited[waiter] < m_next[resource]) {
                queueOrWait(waiter);
            } else {
                m_nextWaiter[waiter] = m_waiter[resource];
                m_waiter[resource] = waiter;
            }
            waiter = following;
        }
    }

    [[nodiscard]] Error deadlock() const
    {
        for (std::size_t r = 0; r < m_next.size(); ++r)
            if (m_next[r] < m_graph.resources[r].track.last)
                return { ErrorCode::Internal, "schedule",
                    describe(m_graph, m_next[r]) + " waits for " + describe(m_graph, m_awaited[r])
                        + ", which waits for it",
                    "" };
        return { ErrorCode::Internal, "schedule", "tasks lie outside every resource", "" };
    }

    TaskGraph &m_graph;
    std::vector<std::uint32_t> m_next; // per resource: its first task not yet in the order
    std::vector<std::uint32_t> m_waiter; // per resource: head of the list of those that wait for it
    std::vector<std::uint32_t> m_nextWaiter, m_awaited;
    std::vector<std::uint32_t> m_round; // ring of the resources whose next task can run
    std::size_t m_head = 0, m_queued = 0, m_emitted = 0;
};

} // namespace

void ClassTable::clear()
{
    static std::atomic<std::uint64_t> versions;
    version = ++versions;
    durations.clear();
    flow.clear();
    about.clear();
    lags.assign(1, 0);
    flows.clear();
    linkCapacity.clear();
    holds.clear();
}

std::string describe(const TaskGraph &graph, std::uint32_t task)
{
    const Track &track = graph.resources[graph.resource[task]].track;
    std::string text = "stage " + std::to_string(track.stage);
    if (track.stream == Stream::Wan)
        text += " to stage " + std::to_string(track.toStage);
    text += std::string(": ") + toString(graph.kind[task]);
    if (graph.microBatch[task] >= 0)
        text += " of micro-batch " + std::to_string(graph.microBatch[task]);
    if (!graph.pairedMicroBatch.empty() && graph.pairedMicroBatch[task] >= 0)
        text += " and " + std::to_string(graph.pairedMicroBatch[task]);
    if (graph.chunk[task] > 0)
        text += ", chunk " + std::to_string(graph.chunk[task]);
    return text;
}

Expected<void> sortTopologically(TaskGraph &graph)
{
    return TopologicalSort(graph).run();
}

} // namespace trainyard
