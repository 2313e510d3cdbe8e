#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Quantities of a run over its steps. Samples that were taken over time are averaged over each step, where steps and
// samples have times of one clock.

#include "core/runs/overlay/run_overlay.h"

namespace trainyard {

struct CurvesAsked {
    const Run *run = nullptr;
    /// null: nothing is predicted
    const Evaluation *plan = nullptr;
    /// with a plan
    const RankMap *map = nullptr;
};
struct CurvesMade {
    /// of the job first, step time before all; then of ranks, hosts and links
    std::vector<RunCurve> curves;
    std::vector<std::string> notes;
};
[[nodiscard]] CurvesMade curvesOf(const CurvesAsked &asked);
/// What the plan says is replaced by what the reference shows: medians of its curves of the same name and place.
void compareCurves(std::vector<RunCurve> &curves, const std::vector<RunCurve> &reference);

namespace curves { // that no source tells; computed here
/// 1: of the step some kernel computes, mean over ranks
inline constexpr const char *kComputeShare = "compute_share";
/// B/s: of matched collectives, by their least durations
inline constexpr const char *kBusBandwidth = "bus_bandwidth";
} // namespace curves

} // namespace trainyard
