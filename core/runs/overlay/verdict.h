#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The one sentence that a run deserves: how far its steps lie from the plan, and what of its time explains it. It is
// made from spans where there are any, else from a log's timers and throughput lines. A run that records its memory is
// also judged by it, and one that ends before any step was timed by memory alone.

#include "core/runs/overlay/memory_verdict.h"
#include "core/runs/overlay/ranked_causes.h"
#include "core/runs/overlay/run_overlay.h"
#include "core/runs/overlay/slow_stages.h"

namespace trainyard {

struct RunVerdict {
    /// "11 % slower than predicted, all of it in exposed all-reduce"
    std::string headline;
    /// of a step, seconds; largest difference first. Empty where no step is timed
    std::vector<VerdictPart> parts;
    /// Computing by stage, of a plan with several and a run with spans of them; the slowest by its ratio first.
    std::vector<StageInRun> stages;
    /// Causes that a replay of the measured steps tells, by what they cost.
    std::vector<RankedCause> ranked;
    /// `ranked`, slow stages, then typical causes of the largest part, a sentence each
    std::vector<std::string> causes;
    /// what the run does not tell, or the plan assumes
    std::vector<std::string> doubts;
    double predictedSeconds = 0, measuredSeconds = 0;
    /// false: no step is; the headline is about memory alone
    bool isTimed = true;
    /// empty: the run tells none
    std::optional<MemoryVerdict> memory;
    /// inside the plan's confidence range
    bool isInRange = false;
    /// False: the run is another job than the plan, or no source tells its model. Then nothing stands beside what was
    /// measured: no parts, stages or causes, and the headline says why.
    bool isCompared = true;
};

/// Leaves what the run alone tells, "A step takes 1.20 s" or its memory.
void leaveMeasured(RunVerdict &verdict, const Run &run);

/// Needs overlay.evaluation, and steps or memory.
[[nodiscard]] Expected<RunVerdict> verdictOf(
    const RunOverlay &overlay, const Catalogue &catalogue = builtinCatalogue());

} // namespace trainyard
