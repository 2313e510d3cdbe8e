#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Front door of the room: prefill requests served in the bubbles of a simulated iteration (BubbleTea, arXiv
// 2411.14458). Training is never touched: its spans are read, prefill gets tracks of its own. Pure but for reading a
// trace file.

#include "core/engine/timeline/timeline.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/memory/stage_bytes.h"
#include "core/iteration/placement/resolve.h"
#include "core/iteration/prefill/arrivals.h"
#include "core/iteration/prefill/fill_metrics.h"
#include "core/iteration/prefill/free_windows.h"

#include <optional>
#include <stop_token>
#include <vector>

namespace trainyard {

/// What the names in `bubble_fill` stand for.
struct BubbleService {
    /// bubble_fill.model, then those of bubble_fill.served
    std::vector<ModelSpec> models;
    std::vector<PrefillRequest> trace;
    /// of the decode pool, where one is given
    std::optional<GpuSpec> decodeGpu;
};

/// Empty where nothing is served: filling is off, or names no model. Errors: an unknown model (bubble_fill.model) or
/// GPU (bubble_fill.decode.gpu), a trace that cannot be read.
[[nodiscard]] ExpectedAll<std::optional<BubbleService>> resolveBubbleService(
    const Plan &plan, const Catalogue &catalogue);

struct FilledBubbles {
    BubbleFillMetrics metrics;
    /// of prefill in one iteration
    double gpuSeconds = 0;
};

/// Places the requests of successive iterations until one is like the one before (backlog.h), and appends a prefill
/// track for each location that serves. `memory`: what training takes on each stage; empty where that is not counted.
/// Nothing where `stop` is triggered, or no time passes. `workload`: of it the plan, GPUs, degrees and layout are read,
/// not the model. Where nothing comes afterwards, no prompt is served beyond the end.
[[nodiscard]] std::optional<FilledBubbles> fillBubbles(Timeline &timeline, const Workload &workload,
    const std::vector<StageMemory> &memory, const BubbleService &service, const std::stop_token &stop = {},
    Afterwards afterwards = Afterwards::Again);

} // namespace trainyard
