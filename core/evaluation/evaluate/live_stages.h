#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What micro-batches hold on every stage of an iteration, walked over its spans or its orders of work, and with it the
// memory of every stage. Equations in docs/model.md, "Memory".

#include "core/iteration/cost/stage_costs.h"
#include "core/iteration/memory/live_memory.h"
#include "core/iteration/memory/stage_bytes.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// Of a GPU, at its fullest moment.
struct RankBytes {
    /// as in StageMemory
    std::int64_t peak = 0, device = 0, capacity = 0;
};

/// What the micro-batches of each class of pipelines hold on a GPU of each stage.
struct LiveMemory {
    /// [class][stage]; empty for a profile, which has no parameters
    std::vector<std::vector<LiveOverTime>> of;
    /// [stage] of the first class, with curves; empty where nobody asked
    std::vector<LiveOverTime> curves;
    std::vector<std::int64_t>
        base; // [stage] of its ranks: what lies there beside what `curves` count; stageMemory() says it
    /// [stage][class], of the fullest of its equal ranks; so it does
    std::vector<std::vector<RankBytes>> held;
    /// activations do
    bool leaves = false;
};
/// Where activations leave only the timeline knows what is away when; else an order of work can tell. `timeline`:
/// nullptr where nothing has run.
[[nodiscard]] LiveMemory liveMemory(const Costs &costs, const Timeline *timeline, bool wantsCurves);

/// Memory of every stage, as the fullest set of its ranks has it. Empty for a profile.
[[nodiscard]] std::vector<StageMemory> stageMemory(
    const Workload &workload, const Costs &costs, LiveMemory &live, const Timeline *timeline);

/// Memory of each stage of the first class over the iteration, with what leaves and as if it stayed. The highest point
/// is the stage's device bytes where that class is the fullest of the fullest set.
struct MemoryCurves {
    std::vector<std::vector<MemoryStep>> with, kept;
};
[[nodiscard]] MemoryCurves memoryCurves(LiveMemory live, const Timeline &timeline);

} // namespace trainyard
