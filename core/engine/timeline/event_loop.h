#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The two engines behind simulate(), for it and for tests that compare them. Both fill start, end and cause of a
// timeline whose arrays have the graph's size.

#include "core/engine/timeline/simulator.h"

namespace trainyard {

[[nodiscard]] Expected<void> runSinglePass(
    const TaskGraph &graph, SimulationWorkspace &workspace, Timeline &timeline, const std::stop_token &stop);
[[nodiscard]] Expected<void> runEvents(
    const TaskGraph &graph, SimulationWorkspace &workspace, Timeline &timeline, const std::stop_token &stop);

/// Gives the timeline the graph's tracks and labels, and room for start, end and cause.
void prepareTimeline(Timeline &timeline, const TaskGraph &graph);
/// Sorts the spans of priority resources by start, as timelines promise, and sets the duration.
void finishTimeline(Timeline &timeline, const TaskGraph &graph);

} // namespace trainyard
