#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A topology as the pass in lanes reads it: one addition and one maximum a step, on a few slots that stay in the
// processor's cache. An end is kept in a slot until the last step that reads it; a task that waits for several others
// is several steps, and tasks that follow each other without waiting for anything else are one. Steps come by how many
// have to be before them, so that what a pipeline does at once lies side by side.
//
// Pipelines repeat themselves: stretches of the steps that say the same as those before them, a constant number of
// steps later, are kept once with the number of times. The pass need not run all of them. What a repetition leaves
// behind, its state, follows from the state before it by additions and maxima alone, and these do not mind when a
// constant is added to all. So once a state is an earlier one plus a constant, every state from there on is that of as
// many repetitions before plus the same constant, exactly.

#include "core/engine/timeline/task_graph.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace trainyard {

struct LaneSteps {
    /// slots[out] = max(slots[a], slots[b] + lags[lag]) + times[time].
    struct Step {
        std::uint16_t out = 0, a = 0, b = 0, lag = 0, time = 0;
    };
    /// What goes from one repetition to the next: `home` holds it at the beginning, `made` at the end. In an order in
    /// which they can be copied one after the other.
    struct Carried {
        std::uint16_t home = 0, made = 0;
    };
    struct Stretch {
        /// of `steps`
        std::uint32_t first = 0, last = 0;
        /// that it is run
        std::uint32_t times = 1;
        /// repetitions until all that is carried was made by one
        std::uint32_t depth = 0;
        /// copied before the first: home from made
        std::vector<Carried> entry;
        /// copied after each
        std::vector<Carried> carried;
    };

    std::vector<Step> steps;
    std::vector<Stretch> stretches;
    /// slots of the last tasks of the resources
    std::vector<std::uint16_t> ends;
    /// minus the duration of that class
    static constexpr std::uint32_t kNegative = 0x80000000u;
    /// nothing
    static constexpr std::uint32_t kZero = 0xffffffffu;
    /// of the durations of classes
    using Sum = std::array<std::uint32_t, 3>;
    std::vector<Sum> times;
    /// of the class table; the first is 0
    std::vector<std::uint32_t> lags;
    /// slot 0 is the beginning of time
    std::size_t slotCount = 1;

    /// Of one whole pass.
    [[nodiscard]] std::int64_t stepCount() const;
};

/// Of a graph with steps (sortTopologically), whose table is not read. Nothing where it has no such order, or more
/// sums or slots than a step can name. Not for graphs that need events (simulator.h).
[[nodiscard]] std::optional<LaneSteps> laneSteps(const TaskGraph &graph);

} // namespace trainyard
