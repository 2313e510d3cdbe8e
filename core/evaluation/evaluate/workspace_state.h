#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a workspace keeps between calls: the simulator's buffers, and one topology for each placement that is compared,
// because a drag changes durations far more often than shapes. And what the calls took, in counts that are the same on
// every machine, for whoever may spend so much.

#include "core/engine/timeline/graph_cache.h"
#include "core/engine/timeline/simulator.h"
#include "core/evaluation/evaluate/run.h"
#include "core/iteration/prefill/arrivals.h"

#include <algorithm>
#include <cstdint>

namespace trainyard {

/// Everything in tasks of a single pass, some 40 ns each with what is asked of their spans; measured on the samples,
/// docs/planner-tiers.md.
struct TasksTaken {
    /// that is costed, simulated and judged
    static constexpr std::int64_t kOfPlacement = 1'250;
    /// layers, micro-batches and states of a placement
    static constexpr std::int64_t kOfDealing = 1'500;
    /// a task of the event loop
    static constexpr std::int64_t kOfEvent = 2;
    /// and where activations leave: how many is tried out
    static constexpr std::int64_t kOfRehearsedEvent = 8;
    /// that is put into a bubble
    static constexpr std::int64_t kOfRequest = 30;
    std::int64_t sum = 0;

    void addDealt(std::size_t placements) { sum += kOfDealing * std::int64_t(placements); }
    void addPlacement(std::size_t tasks, bool areEvents, bool isRehearsed)
    {
        sum += kOfPlacement + std::int64_t(tasks) * (!areEvents ? 1 : isRehearsed ? kOfRehearsedEvent : kOfEvent);
    }
    /// Of more than are placed in an iteration the rest cost nothing.
    void addRequests(std::int64_t requests)
    {
        sum += kOfRequest * std::min(requests, std::int64_t(kMostPrefillRequests));
    }
};

struct EvaluationWorkspace::State {
    SimulationWorkspace simulation;
    std::shared_ptr<GraphCache> graphs;
    TasksTaken taken;
};

} // namespace trainyard
