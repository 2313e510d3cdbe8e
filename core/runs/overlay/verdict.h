#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The one sentence that a run deserves: how far its steps lie from the plan, and what of its time explains it. From
// spans where there are any, else from a log's timers and throughput lines. A run that tells its memory is judged by
// that, too; one that ends before any step is timed by that alone.

#include "core/runs/overlay/memory_verdict.h"
#include "core/runs/overlay/run_overlay.h"

namespace trainyard {

struct RunVerdict {
    std::string headline; // "11 % slower than predicted, all of it in exposed all-reduce"
    std::vector<VerdictPart> parts; // of a step, seconds; largest difference first. Empty where no step is timed
    std::vector<std::string> causes; // typical causes of the largest, a sentence each
    std::vector<std::string> doubts; // what the run does not tell, or the plan assumes
    double predictedSeconds = 0, measuredSeconds = 0;
    bool isTimed = true; // false: no step is; the headline is about memory alone
    std::optional<MemoryVerdict> memory; // empty: the run tells none
    bool isInRange = false; // inside the plan's confidence range
};

/// Needs overlay.evaluation, and steps or memory.
[[nodiscard]] Expected<RunVerdict> verdictOf(const RunOverlay &overlay);

} // namespace trainyard
