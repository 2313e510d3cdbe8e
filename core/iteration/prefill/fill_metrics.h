#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is told of prefill in the bubbles. Plain value; bubble_fill.h makes it.

#include "core/base/metric.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// Of one served model.
struct ServedModelMetrics {
    std::string model;
    std::int64_t accepted = 0, rejected = 0;
    /// of accepted requests; empty where none is
    Metric ttftP50Ms, ttftP99Ms;
};

/// Prefill requests served in the bubbles (BubbleTea, arXiv 2411.14458), over the whole cluster.
struct BubbleFillMetrics {
    /// of the requests that arrive during one iteration, where iterations follow one another
    std::int64_t accepted = 0, rejected = 0;
    // why rejected: no memory beside training; no window as long as a slice; windows that would be in time are taken;
    // too late even if nothing else were served; the sum with rejectedByDecode is rejected
    std::int64_t rejectedForMemory = 0, rejectedForWindow = 0, rejectedAsFull = 0, rejectedAsLate = 0;
    /// the decode pool has no room when their keys and values arrive
    std::int64_t rejectedByDecode = 0;
    /// inference pipelines beside training, and the GPUs that they span
    int groups = 0, gpus = 0;
    /// of the GPUs' idle time
    double filledFraction = 0;
    double prefillTokensPerSecond = 0;
    /// of accepted requests; empty where none is
    Metric ttftP50Ms, ttftP95Ms, ttftP99Ms;
    /// accepted requests that wait for their first slice, in the mean over the iteration; 0 where none is accepted
    double waiting = 0;
    /// What bubbles hold of such requests: where more arrive, the backlog grows until first tokens come too late. Empty
    /// where no group can serve any, or nothing follows the iteration.
    Metric saturationRequestsPerSecond;
    /// of the random arrivals that these are the numbers of; empty where none are drawn
    std::optional<int> seed;
    /// simulated until an iteration was like the one before
    int iterations = 0;
    /// one was; else these are the numbers of the last one
    bool isSettled = true;
    /// their mean on one GPU that does nothing else
    Metric dedicatedTtftMs;
    /// p50 over that
    Metric ttftInflation;
    /// bytes taken beside training; 0 where nothing is served
    std::int64_t memoryPerGpu = 0;
    /// what the served tokens are worth; empty where GPUs have no price
    Metric usdPerHour;
    /// of each where there are several
    std::vector<ServedModelMetrics> served;
    /// requests that the decode pool holds at once, and takes in a second; empty where none is given
    Metric decodeRequests, decodeRequestsPerSecond;
    /// seconds; zero, and checked
    double trainingDelay = 0;
};

} // namespace trainyard
