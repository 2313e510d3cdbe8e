#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Front door of the room: prefill requests served in the bubbles of a simulated iteration (BubbleTea, arXiv 2411.14458).
// Training is never touched: its spans are read, prefill gets tracks of its own. Pure but for reading a trace file.

#include "core/catalogue/catalogue.h"
#include "core/evaluate/evaluation.h"
#include "core/placement/resolve.h"
#include "core/prefill/arrivals.h"

#include <stop_token>

namespace trainyard {

/// What the names in `bubble_fill` stand for.
struct BubbleService {
    ModelSpec model;
    std::vector<PrefillRequest> trace;
};

/// Empty where nothing is served: filling is off, or names no model. Errors: an unknown model (bubble_fill.model), a trace
/// that cannot be read.
[[nodiscard]] ExpectedAll<std::optional<BubbleService>> resolveBubbleService(const Plan &plan, const Catalogue &catalogue);

/// Locations the requests of one iteration, fills metrics.bubbleFill and gpuUtilizationWithFill, and appends a prefill track for
/// each location that serves. Needs the time and the memory metrics. Leaves all empty where `stop` is triggered.
void fillBubbles(Metrics &metrics, Timeline &timeline, const Workload &workload, const BubbleService &service, const std::stop_token &stop = {});

/// Why bubbles stay empty that the plan asks to fill, with what would help, and which of its keys have no effect.
[[nodiscard]] std::vector<Problem> bubbleFillProblems(const Evaluation &evaluation, const Workload &workload, const Catalogue &catalogue);

} // namespace trainyard
