#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is told of prefill in the bubbles. Plain value; bubble_fill.h makes it.

#include "core/base/metric.h"

#include <cstdint>

namespace trainyard {

/// Prefill requests served in the bubbles (BubbleTea, arXiv 2411.14458), over the whole cluster.
struct BubbleFillMetrics {
    /// of the requests that arrive during one iteration
    std::int64_t accepted = 0, rejected = 0;
    // why rejected: no memory beside training; no window as long as a slice; all such windows taken; too late
    std::int64_t rejectedForMemory = 0, rejectedForWindow = 0, rejectedAsFull = 0, rejectedAsLate = 0;
    /// inference pipelines beside training, and the GPUs that they span
    int groups = 0, gpus = 0;
    /// of the GPUs' idle time
    double filledFraction = 0;
    double prefillTokensPerSecond = 0;
    /// of accepted requests; empty where none is
    Metric ttftP50Ms, ttftP95Ms, ttftP99Ms;
    /// their mean on one GPU that does nothing else
    Metric dedicatedTtftMs;
    /// p50 over that
    Metric ttftInflation;
    /// bytes taken beside training; 0 where nothing is served
    std::int64_t memoryPerGpu = 0;
    /// what the served tokens are worth; empty where GPUs have no price
    Metric usdPerHour;
    /// seconds; zero, and checked
    double trainingDelay = 0;
};

} // namespace trainyard
