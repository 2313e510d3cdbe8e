#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Appends tasks and their predecessors to a graph, one after the other in the order of their numbers. Internal to
// core/timeline.

#include "core/timeline/pipeline_class.h"

namespace trainyard {

inline WorkKind workOf(OpKind kind)
{
    return static_cast<WorkKind>(kind);   // the first work kinds are the op kinds, in the same order
}
static_assert(static_cast<int>(WorkKind::Recompute) == static_cast<int>(OpKind::Recompute));

struct PipelineClassTasks::Writer {
    TaskGraph &graph;
    std::uint32_t resource = 0;
    std::uint32_t next = 0;        // number of the next task

    void task(WorkKind kind, std::uint32_t durationClass, std::int32_t microBatch = -1, int chunk = 0, std::uint32_t flow = kNoSpan)
    {
        graph.kind[next] = kind;
        graph.resource[next] = resource;
        graph.durationClass[next] = durationClass;
        graph.microBatch[next] = microBatch;
        graph.chunk[next] = static_cast<std::uint16_t>(chunk);
        graph.predBegin[next] = static_cast<std::uint32_t>(graph.pred.size());
        if (!graph.flow.empty())
            graph.flow[next] = flow;
        ++next;
    }

    /// Of the task written last.
    void after(std::uint32_t task, std::uint32_t lagClass = kNoLag)
    {
        if (task == kNoSpan)
            return;
        graph.pred.push_back(task);
        graph.lagClass.push_back(lagClass);
    }
};

} // namespace trainyard
