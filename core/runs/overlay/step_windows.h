#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where steps begin and end, by the spans of profilers: on each rank, then over the ranks of the job.

#include "core/runs/overlay/run_steps.h"

namespace trainyard {

/// Steps of all ranks by number, as their profilers number them, with Run::clockShift of each rank. Of attempts that
/// repeat a step the last counts. Without annotated steps: one step, number 0, over all work of the GPUs. Notes say
/// what was left out or guessed. Stopped: what was found so far.
struct StepWindows {
    /// by number; seconds are end - start, or of steps that overlap their period
    std::vector<RunStep> steps;
    std::vector<Moment> clockShift;
    /// false: the one step is all that was recorded
    bool isAnnotated = false;
    std::vector<std::string> notes;
};
[[nodiscard]] StepWindows findWindows(
    const Recording &recording, const ClockAlignment &alignment, const std::stop_token &stop = {});

} // namespace trainyard
