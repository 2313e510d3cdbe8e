#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The one sentence that a run deserves: how far its steps lie from the plan, and what of its time explains it. From
// spans where there are any, else from a log's timers, memory and throughput lines.

#include "core/overlay/run_overlay.h"

namespace trainyard {

struct VerdictPart {
    std::string what; // "exposed all-reduce", "forward and backward", "not told apart"
    double predicted = 0, measured = 0; // seconds of a step; the parts of a verdict add up to its steps
    std::string evidence; // "timer grads-all-reduce, median of 40 steps"
};

struct RunVerdict {
    std::string headline; // "11 % slower than predicted, all of it in exposed all-reduce"
    std::vector<VerdictPart> parts; // largest difference first
    std::vector<std::string> causes; // typical causes of the largest, a sentence each
    std::vector<std::string> doubts; // what the run does not tell, or the plan assumes
    double predictedSeconds = 0, measuredSeconds = 0;
    bool isInRange = false; // inside the plan's confidence range
};

/// Needs overlay.evaluation and steps.
[[nodiscard]] Expected<RunVerdict> verdictOf(const RunOverlay &overlay);

} // namespace trainyard
