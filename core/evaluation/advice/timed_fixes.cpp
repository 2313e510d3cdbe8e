// SPDX-License-Identifier: GPL-3.0-or-later
// Fixes that are worth something only where they are faster: each is evaluated.
#include "core/base/number_text.h"
#include "core/evaluation/advice/fixes_internal.h"
#include "core/evaluation/evaluate/comparable.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr std::size_t kMostTimedTries = 8;
constexpr double kFaster = 0.995; // less is not worth a change

} // namespace

std::vector<TimedFix> fasterFixes(const Evaluation &evaluation, FixSearch &search, std::vector<Fix> candidates)
{
    if (!whyNotCompared(evaluation).empty())
        return {};
    std::size_t left = std::min<std::size_t>(
        kMostTimedTries, std::size_t(kMostFixTasks) / std::max<std::size_t>(1, evaluation.metrics.spans));
    EvaluationWorkspace workspace;
    std::vector<TimedFix> found;
    for (Fix &fix : candidates) {
        if (left == 0 || search.footprints().stop().stop_requested())
            break;
        --left;
        const auto tried = run(fix.plan, Depth::Score,
            { .catalogue = search.footprints().catalogue(),
                .workspace = workspace,
                .stop = search.footprints().stop() });
        if (!tried || !(*tried)->feasible() || !(*tried)->metrics.iterationTime)
            continue;
        const double seconds = *(*tried)->metrics.iterationTime;
        if (evaluation.feasible() && seconds >= kFaster * *evaluation.metrics.iterationTime)
            continue;
        fix.label += ": " + secondsText(seconds);
        found.push_back({ std::move(fix), seconds });
    }
    std::ranges::stable_sort(found, {}, &TimedFix::seconds);
    return found;
}

std::vector<Fix> expertFixes(const Evaluation &evaluation, const Workload &workload, FixSearch &search)
{
    std::vector<Fix> fixes;
    for (TimedFix &timed : fasterFixes(evaluation, search, expertsInOneDatacenter(workload)))
        fixes.push_back(std::move(timed.fix));
    return fixes;
}

} // namespace trainyard
