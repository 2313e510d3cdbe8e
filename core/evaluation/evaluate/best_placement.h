#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which of the placements of a plan is shown: the fastest that can run, by simulation. Those of the best bounds come
// first, then cells of other sizes (`wan.cell: auto`) of those that were fastest. Bounds leave out what cannot be
// faster, a budget ends the rest, and what it left out is told.

#include "core/base/error.h"
#include "core/engine/timeline/timeline.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "core/evaluation/evaluate/feasibility.h"
#include "core/evaluation/evaluate/live_stages.h"
#include "core/iteration/cost/stage_costs.h"
#include "core/iteration/layouts/placements.h"

#include <functional>
#include <optional>

namespace trainyard {

/// Beside one of each mode, placements that are simulated in one round, and the tasks of all of them together, those of
/// an event loop eight times, which is what they cost.
inline constexpr int kMostPlacements = 32;
inline constexpr std::size_t kMostTasksInAll = 300'000;

struct SimulatedPlacement { // one placement, run through cost, schedule and simulation
    Layout layout;
    Costs costs;
    Timeline timeline;
    LiveMemory live;
    Judged judged;
};

/// A placement that can run beats one that cannot; then the shorter iteration wins.
[[nodiscard]] bool isBetterPlacement(const SimulatedPlacement &a, const SimulatedPlacement &b);

/// Simulates the layout, and adds its tasks.
using RunLayout = std::function<Expected<SimulatedPlacement>(Layout layout, std::size_t &tasks)>;

struct PlacementChoice {
    std::optional<SimulatedPlacement> best;
    /// Where there is none: why each failed, once; the layout that is shown then, and the one that fixes start from.
    Errors failed, tooLong;
    Layout unplaced;
    std::optional<Layout> leastBound;
    /// placements that might be faster by their bounds, and were not simulated
    int leftOut = 0;
};

/// `workload`: read but for its layout, which `runLayout` may set. Errors: Cancelled, Internal.
[[nodiscard]] Expected<PlacementChoice> choosePlacement(
    const Workload &workload, Placements open, const RunLayout &runLayout);

/// "12 further placements might be faster …"; `choice.leftOut` is not 0.
[[nodiscard]] Problem leftOutNote(const PlacementChoice &choice);

} // namespace trainyard
