#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Graphs for tests of the engine, written down task by task or drawn at random, and appended in any order.

#include "core/engine/timeline/graph_builder.h"
#include "core/engine/timeline/simulator.h"

#include <QTest>

#include <algorithm>
#include <random>

namespace tasks {

using namespace trainyard;

/// Tasks on the resource made last, numbered as they are written down; each may wait for tasks still to come. Flows run
/// over one link of 10 bytes/ns, and at 10 bytes/ns where they are alone. The micro-batch of a task is its number.
struct Tasks {
    using From = GraphBuilder::From;
    struct Wait {
        std::uint32_t before;
        Nanoseconds lag = 0;
        From from = From::End;
    };
    struct On {
        Track track;
        Discipline discipline;
        const RunTimePolicy *policy;
    };
    struct Task {
        std::uint32_t resource, taskClass;
        std::vector<Wait> waits;
        std::int64_t priority = 0;
    };

    ClassTable table;
    std::vector<On> resources;
    std::vector<Task> list;

    Tasks()
    {
        table.clear();
        table.linkCapacity = { 10e9 };
    }

    std::uint32_t resource(Discipline discipline = Discipline::FixedOrder, Stream stream = Stream::Compute,
        const RunTimePolicy *policy = nullptr)
    {
        resources.push_back({ { .stream = stream, .stage = static_cast<int>(resources.size()) }, discipline, policy });
        return static_cast<std::uint32_t>(resources.size()) - 1;
    }

    std::uint32_t task(Nanoseconds duration, std::vector<Wait> waits = {}, std::int64_t priority = 0,
        WorkKind kind = WorkKind::Forward)
    {
        return add(table.add(kind, duration), std::move(waits), priority);
    }

    std::uint32_t flow(double bytes, std::vector<Wait> waits = {}, double weight = 1, std::int64_t priority = 0)
    {
        table.flows.push_back({ .bytes = bytes, .rateCap = 10e9, .weight = weight, .links = { 0 } });
        return add(table.add(WorkKind::WanTransfer, static_cast<Nanoseconds>(bytes / 10), bytes,
                       static_cast<std::uint32_t>(table.flows.size()) - 1),
            std::move(waits), priority);
    }

    std::uint32_t add(std::uint32_t taskClass, std::vector<Wait> waits, std::int64_t priority = 0)
    {
        list.push_back({ static_cast<std::uint32_t>(resources.size()) - 1, taskClass, std::move(waits), priority });
        return static_cast<std::uint32_t>(list.size()) - 1;
    }

    /// `order`: in which they are appended; empty: as they were written down.
    [[nodiscard]] Expected<TaskGraph> built(const std::vector<std::uint32_t> &order = {}) const
    {
        ClassTable classes = table;
        for (const Task &task : list)
            for (const Wait &wait : task.waits)
                if (std::ranges::find(classes.lags, wait.lag) == classes.lags.end())
                    classes.addLag(wait.lag);
        const auto lagOf = [lags = classes.lags](Nanoseconds lag) {
            return static_cast<std::uint32_t>(std::ranges::find(lags, lag) - lags.begin());
        };
        GraphBuilder builder(std::move(classes));
        std::vector<GraphBuilder::Id> on, id(list.size());
        for (const On &resource : resources)
            on.push_back(builder.resource(resource.track, resource.discipline, resource.policy));
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            const std::uint32_t at = order.empty() ? i : order[i];
            id[at] =
                builder.task(on[list[at].resource], list[at].taskClass, { static_cast<std::int32_t>(at), 0, false });
            if (list[at].priority != 0)
                builder.setPriority(id[at], list[at].priority);
        }
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            const std::uint32_t at = order.empty() ? i : order[list.size() - 1 - i];
            for (const Wait &wait : list[at].waits)
                builder.after(id[at], id[wait.before], lagOf(wait.lag), wait.from);
        }
        return std::move(builder).finish();
    }

    [[nodiscard]] TaskGraph graph(const std::vector<std::uint32_t> &order = {}) const
    {
        auto made = built(order);
        if (!made)
            qFatal("%s", toString(made.error()).c_str());
        return std::move(*made);
    }
};

/// Acyclic tasks on fixed-order resources: they wait for tasks before them in a hidden order, for their ends or, where
/// `mayFollowStarts`, for their starts.
inline Tasks randomTasks(std::mt19937 &random, int resources, int tasksEach, bool mayFollowStarts = false)
{
    const auto pick = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
    constexpr WorkKind kKinds[] = { WorkKind::Forward, WorkKind::Backward, WorkKind::GradientReduce,
        WorkKind::Optimizer, WorkKind::OffloadLoad };
    constexpr Nanoseconds kLags[] = { 0, 3, 17, 40 };
    Tasks made;
    Nanoseconds durations[8];
    for (Nanoseconds &duration : durations)
        duration = pick(50);
    for (const WorkKind kind : kKinds)
        for (const Nanoseconds duration : durations)
            made.table.add(kind, duration);
    const auto rank = [&](int task) { return task % tasksEach * resources + task / tasksEach; }; // in the hidden order
    for (int r = 0; r < resources; ++r) {
        made.resource(Discipline::FixedOrder, r % 3 == 2 ? Stream::Collective : Stream::Compute);
        for (int task = r * tasksEach; task < (r + 1) * tasksEach; ++task) {
            std::vector<Tasks::Wait> waits;
            for (int n = pick(3); n > 0; --n)
                if (const int other = pick(resources * tasksEach); rank(other) < rank(task))
                    waits.push_back({ static_cast<std::uint32_t>(other), kLags[pick(4)],
                        mayFollowStarts && pick(2) == 0 ? Tasks::From::Start : Tasks::From::End });
            made.add(static_cast<std::uint32_t>(pick(40)), std::move(waits));
        }
    }
    return made;
}

inline TaskGraph randomGraph(std::mt19937 &random, int resources, int tasksEach, bool mayFollowStarts = false)
{
    return randomTasks(random, resources, tasksEach, mayFollowStarts).graph();
}

inline Timeline run(const TaskGraph &graph)
{
    SimulationWorkspace workspace;
    auto timeline = simulate(graph, workspace);
    if (!timeline)
        qFatal("%s", toString(timeline.error()).c_str());
    return std::move(*timeline);
}

} // namespace tasks
