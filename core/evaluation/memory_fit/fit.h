#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// "Fit this model": climbs the memory ladder, cheapest saving first, until every GPU holds its stage with room to spare
// and every node what has left its GPUs; then steps back off the memorySavings that a later one made needless. Of
// several orders of the costlier memorySavings the one that trains fastest is kept. Each step says in a sentence what
// it frees, what it costs and what it changes. Runs on the caller's thread; stops at a token between evaluations, with
// the steps so far.

#include "core/evaluation/evaluate/run.h"
#include "core/evaluation/memory_fit/footprint.h"
#include "core/evaluation/memory_fit/memory_savings.h"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace trainyard {

struct LadderStep {
    /// of the saving
    std::string id, name;
    std::string
        sentence; // "Shard optimizer states (ZeRO-1): frees 23.1 GB per GPU; the iteration takes 1.42 s, as before (…)"
    /// with this step and those before it
    PlanPtr plan;
    /// bytes on the fullest GPU
    std::int64_t freed = 0;
    /// of it, after the step
    std::int64_t device = 0, capacity = 0;
    /// seconds, after the step; empty where it was not evaluated
    Metric iterationTime;
    /// against the plan before the step: 0.03 is 3 % longer
    Metric slowdown;
    /// every key that differs from the plan before it: "ZeRO stage 1 → 3"
    std::vector<std::string> changes = {};
};

struct Fitting {
    bool fits = false;
    /// it fits, but no step keeps the fullest GPU below kSafeFill
    bool isTight = false;
    bool isCancelled = false;
    /// some plans were not looked at: they have more tasks than the search may still simulate
    bool isCut = false;
    /// of the plan; of the last step
    Footprint before, after;
    /// none where the plan fits with room; where nothing fits, those that come nearest
    std::vector<LadderStep> steps;
    /// of the last step; the plan itself without one
    PlanPtr plan;
    /// one sentence
    std::string summary;
};

/// Of a plan that is not compared (core/evaluation/evaluate/comparable.h) as fitMemory(). `onStep` is called as steps
/// are found, before the needless ones are dropped.
[[nodiscard]] Fitting fitModel(PlanPtr plan, const Catalogue &catalogue, EvaluationWorkspace &workspace,
    std::stop_token stop = {}, const std::function<void(const LadderStep &)> &onStep = {});

/// The steps alone, their times not evaluated: what a list of fixes shows while a plan is edited.
[[nodiscard]] Fitting fitMemory(PlanPtr plan, const Catalogue &catalogue, std::stop_token stop = {});
[[nodiscard]] Fitting fitMemory(PlanPtr plan, Footprints &footprints);

} // namespace trainyard
