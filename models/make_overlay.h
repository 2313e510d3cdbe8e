#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A run laid under a plan, against another run, or both at once. Pure; beside the GUI thread.

#include "core/runs/overlay/verdict.h"
#include "models/measured_lanes.h"

#include <memory>
#include <vector>

namespace trainyard {

using VerdictPtr = std::shared_ptr<const Expected<RunVerdict>>;

/// What an overlay is put together from; the next one of the same plan and runs takes over what depends on no step.
struct OverlayParts {
    RunOverlayPtr underPlan, compared;
};

struct OverlayAsked {
    EvaluationPtr evaluation;
    RunPtr run, reference;
    OverlayOptions options;
    OverlayParts before;
    /// of the reference
    bool wantsCurves = false;
};

struct MadeOverlay {
    RunOverlayPtr overlay;
    /// of its rows under a plan; null where there are none
    MeasuredLanesPtr lanes;
    /// of the run under the plan; null without a plan
    VerdictPtr verdict;
    OverlayParts parts;
    RunPtr referenceOf;
    std::shared_ptr<const std::vector<RunCurve>> referenceCurves;
};

/// Rows of the plan and figures against the reference, where there are both.
[[nodiscard]] MadeOverlay makeOverlayOf(const OverlayAsked &asked);

} // namespace trainyard
