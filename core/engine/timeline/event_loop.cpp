// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/event_loop_internal.h"

namespace trainyard {

Expected<void> runEvents(
    const TaskGraph &graph, SimulationWorkspace &workspace, Timeline &timeline, const std::stop_token &stop)
{
    return graph.waitsForStarts ? EventLoop<true, false>(graph, workspace, timeline, nullptr).run(stop)
                                : EventLoop<false, false>(graph, workspace, timeline, nullptr).run(stop);
}

} // namespace trainyard
