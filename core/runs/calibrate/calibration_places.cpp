// SPDX-License-Identifier: GPL-3.0-or-later
// Whose measurements are: of this job or another, of which link.
#include "core/base/number_text.h"
#include "core/runs/calibrate/calibration_case_internal.h"
#include "core/runs/overlay/plan_notes.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

std::string otherWorkOf(const Evaluation &evaluation, const Recording &recording)
{
    if (std::string told = workNote(evaluation, recording); !told.empty())
        return told;
    const int planned = evaluation.plan->workload.globalBatch;
    for (const SampleSeries &series : recording.series)
        if (series.name == samples::kGlobalBatch && !series.value.empty() && series.value.back() > 0
            && std::lround(series.value.back()) != planned)
            return "The run is another job than the plan: " + wholeText(series.value.back())
                + " sequences per step, plan " + wholeText(planned);
    return {};
}

std::string wanId(const Plan &plan, const std::string &a, const std::string &b)
{
    const bool isTurned = std::ranges::any_of(
        plan.cluster.wanLinks, [&](const WanLink &link) { return link.between[0] == b && link.between[1] == a; });
    return "wan-" + (isTurned ? b + "-" + a : a + "-" + b);
}

} // namespace trainyard
