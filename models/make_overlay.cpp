// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/make_overlay.h"

#include "core/runs/overlay/curves.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

MadeOverlay madeOf(const OverlayAsked &asked)
{
    MadeOverlay made;
    made.referenceOf = asked.reference;
    if (!asked.reference || asked.evaluation)
        made.overlay = made.parts.underPlan =
            overlayRun(asked.evaluation, asked.run, asked.options, asked.before.underPlan);
    if (asked.evaluation && made.overlay)
        made.verdict = std::make_shared<const Expected<RunVerdict>>(verdictOf(*made.overlay));
    if (!asked.reference)
        return made;
    if (asked.wantsCurves)
        made.referenceCurves =
            std::make_shared<const std::vector<RunCurve>>(curvesOf({ asked.reference.get() }).curves);
    made.parts.compared = overlayRuns(asked.reference, asked.run, asked.options, asked.before.compared);
    if (!made.overlay) {
        made.overlay = made.parts.compared;
        return made;
    }
    RunOverlay both = *made.parts.underPlan;
    both.reference = asked.reference;
    both.differences = made.parts.compared->differences;
    both.curves = made.parts.compared->curves;
    both.notes = made.parts.compared->notes; // of both, each once
    for (const std::string &note : made.parts.underPlan->notes)
        if (std::ranges::find(both.notes, note) == both.notes.end())
            both.notes.push_back(note);
    both.curveNotes = made.parts.compared->curveNotes;
    made.overlay = std::make_shared<const RunOverlay>(std::move(both));
    return made;
}

} // namespace

MadeOverlay makeOverlayOf(const OverlayAsked &asked)
{
    MadeOverlay made = madeOf(asked);
    if (made.overlay)
        made.lanes = lanesUnderPlan(made.overlay);
    return made;
}

} // namespace trainyard
