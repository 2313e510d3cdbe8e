#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan says of a quantity that a run shows: only where both are defined alike, in the same unit.

#include "core/overlay/curves.h"

#include <optional>
#include <string_view>

namespace trainyard {

/// `rank`: of one rank; -1: of the job.
[[nodiscard]] std::optional<double> predictedOf(const CurvesAsked &asked, std::string_view name, int rank);

/// Rates that follow from the step times by the work of a step, where the run does not tell them itself: its own batch
/// and ranks where it tells these, else the plan's; FLOPs are the plan's.
struct StepWork {
    double tokens = 0; // of a step and GPU; 0: unknown
    double tflops = 0; // 10^12 FLOPs of a step and GPU
    double mfu = 0; // at one second a step
    double samples = 0; // of a step
};
[[nodiscard]] StepWork workOf(const CurvesAsked &asked);

} // namespace trainyard
