#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan says of a quantity that a run shows: only where both are defined alike, in the same unit.

#include "core/runs/overlay/curves.h"

#include <optional>
#include <string_view>

namespace trainyard {

/// `rank`: of one rank; -1: of the job.
[[nodiscard]] std::optional<double> predictedOf(const CurvesAsked &asked, std::string_view name, int rank);

/// Rates that follow from the step times by the work of a step, where the run does not tell them itself: its own batch
/// (of each step), sequence length and ranks where it tells these. The plan's, and its FLOPs, count only for a run of
/// the plan's job: of another one they would say nothing.
struct StepWork {
    // Of one sequence; 0: unknown
    /// of a GPU
    double tokens = 0;
    /// 10^12 FLOPs of a GPU
    double tflops = 0;
    /// at one second per step
    double mfu = 0;
    /// something of it is the plan's
    bool isOfPlan = false;
    /// sequences of a step, where the run does not tell each step's; 0: unknown
    double batch = 0;
    /// by step
    const SampleSeries *batches = nullptr;
    [[nodiscard]] double samplesOf(std::int64_t step) const;
};
[[nodiscard]] StepWork workOf(const CurvesAsked &asked);

} // namespace trainyard
