// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/useful_parts.h"

#include "core/evaluation/advice/alternatives.h"
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/evaluate/comparable.h"
#include "core/evaluation/report/because.h"
#include "core/evaluation/report/part_effects_internal.h"

#include <algorithm>
#include <map>

namespace trainyard {

std::vector<PartEffect> usefulParts(const Evaluation &evaluation, const Catalogue &catalogue, std::stop_token stop)
{
    constexpr double kWorthTelling = 0.001; // of the iteration
    const double now = evaluation.metrics.iterationTime.value_or(0);
    if (evaluation.metrics.jobs || !(now > 0) || !whyNotCompared(evaluation).empty())
        return {};
    struct Best {
        PartEffect effect;
        double perPiece;
    };
    std::map<std::string, Best> byGroup;
    EvaluationWorkspace workspace;
    const BetterParts parts =
        betterParts(*evaluation.plan, catalogue, &evaluation.layout, mostParts(evaluation.timeline.spanCount()));
    for (const Alternative &part : parts.list) {
        const auto better = evaluate(part.plan, catalogue, workspace, stop, Depth::Score);
        const Metric seconds = better ? (*better)->metrics.iterationTime : std::nullopt;
        if (!seconds || !(*better)->feasible() || *seconds > now * (1 - kWorthTelling))
            continue;
        const double perPiece = (now - *seconds) / part.size;
        const auto known = byGroup.find(part.group);
        if (known == byGroup.end() || perPiece > known->second.perPiece * (1 + 1e-6)) // sizes come smallest first
            byGroup.insert_or_assign(
                part.group, Best { { part.id, part.label, *seconds, true, because(evaluation, **better) }, perPiece });
    }
    std::vector<PartEffect> useful;
    for (auto &[group, best] : byGroup)
        useful.push_back(std::move(best.effect));
    return ranked(std::move(useful));
}

} // namespace trainyard
