#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What free memory buys: larger micro-batches, fewer stages, less tensor parallelism, less recomputation, alone and
// together, where they still fit with room to spare and train faster on the
// same GPUs. Every offer is evaluated; nothing is extrapolated. Runs
// on the caller's thread; stops at a token between evaluations, with the offers so far.

#include "core/evaluation/evaluate/run.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace trainyard {

struct HeadroomUse {
    /// "micro-batch 4, 2 stages"
    std::string label;
    /// "Micro-batch 4, 2 stages: 13 % more tokens per second, 71.2 of 80 GB"
    std::string sentence;
    PlanPtr plan;
    /// of tokens a second: 0.13
    double gain = 0;
    double tokensPerSecond = 0;
    std::int64_t device = 0, capacity = 0;
};

struct HeadroomUses {
    /// most gain first; none below kLeastGain, and of a plan that is not compared (comparable.h)
    std::vector<HeadroomUse> offers;
    int evaluated = 0, tooLarge = 0;
    bool isCancelled = false;
};

inline constexpr double kLeastGain = 0.005;

[[nodiscard]] HeadroomUses headroomSuggestions(const PlanPtr &plan, const Catalogue &catalogue,
    EvaluationWorkspace &workspace, std::stop_token stop = {}, std::size_t most = 8);

} // namespace trainyard
