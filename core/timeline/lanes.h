#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The fixed-order pass for several graphs of one topology at once, a graph a lane: the same additions and maxima on
// vectors of eight. No span is kept but what is asked for; the end of a lane is to the nanosecond what simulate() says
// of its graph alone.

#include "core/timeline/task_graph.h"

#include <array>
#include <span>

namespace trainyard {

inline constexpr std::size_t kLanes = 8;

/// Class tables of up to eight graphs side by side.
struct LaneTable {
    std::vector<std::array<Nanoseconds, kLanes>> durations; // [class]
    std::vector<std::array<Nanoseconds, kLanes>> lags; // [lag]
    /// Of a table of the same topology; lanes that are not set are 0 everywhere.
    void set(std::size_t lane, const ClassTable &table);
    void clear(std::size_t classes, std::size_t lags);
};

/// Kept between calls, so that nothing is allocated a candidate. One a thread.
struct LaneWorkspace {
    std::vector<std::array<Nanoseconds, kLanes>> ends, free; // [task], [resource]
};

/// The end of the last task of each lane. `graph` gives the topology and has steps (sortTopologically); its own table
/// is not read. Not for graphs that need events (simulator.h).
[[nodiscard]] std::array<Nanoseconds, kLanes> endsOfLanes(
    const TaskGraph &graph, const LaneTable &table, LaneWorkspace &workspace);

} // namespace trainyard
