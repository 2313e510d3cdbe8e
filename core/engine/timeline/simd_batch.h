#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The fixed-order pass for several graphs of one topology at once, a graph a lane: the same additions and maxima on
// vectors of eight. No span is kept: the end of a lane is to the nanosecond what simulate() says of its graph alone.
//
//   const std::optional<LaneSteps> steps = laneSteps(graph);       // once a topology
//   LaneTable table(*steps);
//   for (std::size_t lane = 0; lane < kLanes; ++lane)
//       table.set(lane, *steps, graphs[lane].table);
//   const LaneEnds ends = endsOfLanes(*steps, table, workspace);

#include "core/engine/timeline/lane_steps.h"

#include <array>
#include <span>

namespace trainyard {

inline constexpr std::size_t kLanes = 8;

/// A number of each lane; a cache line.
struct alignas(64) LaneValues {
    std::array<Nanoseconds, kLanes> of {};
};

/// Durations and lags of up to eight graphs side by side; only those that the steps read.
struct LaneTable {
    LaneTable() = default;
    explicit LaneTable(const LaneSteps &steps) { fit(steps); }

    /// [LaneSteps::times]
    std::vector<LaneValues> times;
    /// [LaneSteps::lags]
    std::vector<LaneValues> lags;

    /// For other steps; every lane is 0 then.
    void fit(const LaneSteps &steps);
    /// From [class] and [lag] of a table of the same topology. A lane that is not set ends at 0.
    void set(std::size_t lane, const LaneSteps &steps, std::span<const Nanoseconds> durations,
        std::span<const Nanoseconds> lagsOf);
    void set(std::size_t lane, const LaneSteps &steps, const ClassTable &table)
    {
        set(lane, steps, table.durations, table.lags);
    }
};

/// Kept between calls, so that nothing is allocated a pass. One a thread.
struct LaneWorkspace {
    /// of repetitions (lane_steps.h)
    std::vector<LaneValues> values, snapshot;
    /// of all passes so far: less than their tasks where repetitions were left out
    std::int64_t stepsRun = 0;
};

/// The end of the last task of each lane.
[[nodiscard]] LaneValues endsOfLanes(const LaneSteps &steps, const LaneTable &table, LaneWorkspace &workspace);

} // namespace trainyard
