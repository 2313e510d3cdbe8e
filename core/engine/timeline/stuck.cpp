// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/stuck.h"

namespace trainyard {

Error stuckError(const TaskGraph &graph, const SimulationWorkspace &workspace)
{
    for (std::uint32_t task = 0; task < graph.taskCount(); ++task)
        for (std::uint32_t i = graph.predBegin[task]; workspace.pending[task] > 0 && i < graph.predBegin[task + 1]; ++i)
            if (workspace.pending[graph.pred[i]] > 0)
                return { ErrorCode::Internal, "schedule",
                    describe(graph, task) + " waits for " + describe(graph, graph.pred[i]) + ", which never runs", "" };
    for (const auto &flow : workspace.active)
        return { ErrorCode::Internal, "schedule",
            (flow.task < graph.taskCount() ? describe(graph, flow.task) : std::string("a transfer"))
                + " gets no bandwidth",
            "" };
    return { ErrorCode::Internal, "schedule", "tasks wait for each other", "" };
}

} // namespace trainyard
