#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Appends resources, tasks and what waits for what, in any order; nobody has to know a number beforehand. finish() puts
// the tasks of each resource side by side, in the order in which they were appended there, and sorts the graph. A
// system is a contributor: in times() it appends its classes, in tasks() its resources and tasks, in order() what its
// tasks wait for. All contributors append their tasks before the first says what waits, so that each may name the
// others' tasks. New durations go through times() alone.

#include "core/engine/timeline/task_graph.h"

namespace trainyard {

class Fingerprint {
public:
    void add(std::uint64_t word);
    /// Of values without padding. Four of them at a time: the multiplications of one would wait for each other.
    void add(const std::uint64_t *words, std::size_t count);
    /// Never 0.
    [[nodiscard]] std::uint64_t value() const { return m_hash == 0 ? 1 : m_hash; }

private:
    std::uint64_t m_hash = 0x2545f4914f6cdd1du;
};

class GraphBuilder {
public:
    /// of a resource, or of a task as it was appended
    using Id = std::uint32_t;
    struct Tag {
        std::int32_t microBatch = -1;
        int chunk = 0;
        /// as in TaskGraph
        bool continues = false;
    };
    enum class From : std::uint8_t { End, Start };

    explicit GraphBuilder(ClassTable table) { m_graph.table = std::move(table); }
    void reserve(std::size_t tasks);

    Id resource(const Track &track, Discipline discipline = Discipline::FixedOrder,
        const RunTimePolicy *policy = nullptr, int limit = 0);
    Id task(Id resource, std::uint32_t taskClass) { return task(resource, taskClass, Tag {}); }
    Id task(Id resource, std::uint32_t taskClass, Tag tag)
    {
        m_tasks.push_back(
            { resource, taskClass, tag.microBatch, static_cast<std::uint16_t>(tag.chunk), tag.continues });
        return static_cast<Id>(m_tasks.size()) - 1;
    }
    [[nodiscard]] Id taskCount() const { return static_cast<Id>(m_tasks.size()); }

    /// `task` waits for `before`; not where that is kNoSpan.
    void after(Id task, Id before, std::uint32_t lag = kNoLag, From from = From::End)
    {
        if (before != kNoSpan)
            m_waits.push_back({ task, before, from == From::Start ? lag | TaskGraph::kFromStart : lag });
    }
    /// The backward of two operations that run as one.
    void pair(Id task, std::int32_t microBatch, int chunk);
    /// It waits for the result that it carries.
    void carry(Id task, Id result);
    void setPriority(Id task, std::int64_t priority) { set(m_graph.priority, task, priority, std::int64_t { 0 }); }
    void overtake(Id task, Id other);

    /// Errors: Internal where tasks wait for each other in a circle.
    [[nodiscard]] Expected<TaskGraph> finish(std::uint64_t fingerprint = 0) &&;

private:
    struct Wait {
        Id task, before;
        std::uint32_t lag;
    };
    struct Task {
        Id resource;
        std::uint32_t taskClass;
        std::int32_t microBatch;
        std::uint16_t chunk;
        bool continues;
    };

    template <class T> static void set(std::vector<T> &values, Id task, T value, T otherwise)
    {
        if (values.size() <= task)
            values.resize(task + 1, otherwise);
        values[task] = value;
    }
    void numberByResource();
    void placeTasks();
    void linkWaits();

    TaskGraph m_graph;
    std::vector<Task> m_tasks;
    std::vector<Wait> m_waits;
    /// of the task appended i-th; empty where all lie as they were appended
    std::vector<Id> m_number;
};

/// Part of a graph: what one system adds to it.
class Contributor {
public:
    virtual ~Contributor() = default;
    /// Everything that the topology depends on.
    virtual void shape(Fingerprint &print) const = 0;
    virtual void times(ClassTable &table) = 0;
    virtual void tasks(GraphBuilder &builder) = 0;
    /// Errors: Internal where what a task needs is missing.
    [[nodiscard]] virtual Expected<void> order(GraphBuilder &builder) = 0;
};

} // namespace trainyard
