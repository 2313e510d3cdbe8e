// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/given_back.h"

#include "core/base/words.h"
#include "core/planner/search/idle_nodes.h"

#include <algorithm>
#include <tuple>

namespace trainyard {

namespace {

/// False where nothing can be given back.
bool giveBack(SelectionOption &option, const RunContext &context)
{
    const auto trimmed = withoutIdleNodes(option.plan, context);
    if (!trimmed || trimmed->gone == 0)
        return false;
    option.plan = trimmed->plan;
    option.givenBack = trimmed->gone;
    option.sentence += ", give back " + counted(trimmed->gone, "idle GPU");
    option.usdWritten = trimmed->evaluation->metrics.cost.usdPerMillionTokens.value_or(0);
    return true;
}

int bestBy(const std::vector<SelectionOption> &options, auto value)
{
    int best = -1;
    for (int i = 0; i < int(options.size()); ++i) {
        const SelectionOption &option = options[std::size_t(i)];
        if (option.isFeasible && (best < 0 || value(option) < value(options[std::size_t(best)])))
            best = i;
    }
    return best;
}

void rankAnew(Selection &selection)
{
    auto &options = selection.options;
    const auto isOutdone = [&](const SelectionOption &one) {
        return std::ranges::any_of(options, [&](const SelectionOption &other) {
            const bool isNoWorse =
                other.sequencesPerSecond >= one.sequencesPerSecond && other.usdWritten <= one.usdWritten;
            const bool isBetter =
                other.sequencesPerSecond > one.sequencesPerSecond || other.usdWritten < one.usdWritten;
            return other.isFeasible && isNoWorse && isBetter;
        });
    };
    for (SelectionOption &option : options)
        option.isOnFront = option.isFeasible && !isOutdone(option);
    std::ranges::stable_sort(options, [](const SelectionOption &a, const SelectionOption &b) {
        return std::tuple(!a.isFeasible, a.usdWritten, -a.sequencesPerSecond)
            < std::tuple(!b.isFeasible, b.usdWritten, -b.sequencesPerSecond);
    });
    selection.bestThroughput = bestBy(options, [](const SelectionOption &o) { return -o.sequencesPerSecond; });
    selection.bestCost = bestBy(options, [](const SelectionOption &o) { return o.usdWritten; });
    const auto now = std::ranges::find(options, true, &SelectionOption::isCurrent);
    selection.current = now == options.end() ? -1 : int(now - options.begin());
}

} // namespace

void giveBackIdle(Selection &selection, const RunContext &context)
{
    if (selection.objective != SelectionObjective::Cost)
        return;
    std::vector<SelectionOption> more;
    for (SelectionOption &option : selection.options) {
        if (context.stop.stop_requested())
            return;
        if (!option.isFeasible || !option.isSimulated)
            continue;
        if (!option.isCurrent) {
            giveBack(option, context);
            continue;
        }
        SelectionOption less = option;
        less.isCurrent = false;
        less.sentence = "The placement stays";
        if (giveBack(less, context))
            more.push_back(std::move(less));
    }
    std::ranges::move(more, std::back_inserter(selection.options));
    rankAnew(selection);
}

} // namespace trainyard
