// SPDX-License-Identifier: GPL-3.0-or-later
// Which of the screened options the simulator is asked about, and when it has been asked enough.
#include "core/evaluation/selection/candidates_internal.h"

#include <algorithm>
#include <limits>

namespace trainyard::selecting {

namespace {

double sequences(const SelectionOption &option)
{
    return option.plan->workload.globalBatch;
}

/// A simulated option is both as fast and as cheap as this can be at best.
bool isOutdone(const std::vector<SelectionOption> &options, const LeftBound &least)
{
    return std::ranges::any_of(options, [&](const SelectionOption &o) {
        return o.isSimulated && o.isFeasible && o.seconds <= least.seconds * sequences(o)
            && o.usdPerIteration <= least.usd * sequences(o);
    });
}

LeftBound leastOf(const SelectionOption &option)
{
    return { option.leastSeconds / sequences(option), option.leastUsd / sequences(option) };
}

/// By the closed form; what it cannot say is last.
double rate(const SelectionOption &option, bool byCost)
{
    if (option.screenedSeconds <= 0)
        return std::numeric_limits<double>::infinity();
    return byCost ? option.usdPerMillionTokens : 1 / option.sequencesPerSecond;
}

} // namespace

std::optional<std::size_t> nextToSimulate(
    const std::vector<SelectionOption> &options, std::size_t datacenters, SelectionObjective objective)
{
    const auto best = [&](bool byCost, auto isAsked) -> std::optional<std::size_t> {
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < options.size(); ++i)
            if (isAsked(options[i]) && (!found || rate(options[i], byCost) < rate(options[*found], byCost)))
                found = i;
        return found;
    };
    const auto isNew = [](const auto &found, const auto &list) { return found && !list[*found].isSimulated; };
    const bool wantsCost = objective == SelectionObjective::Cost;
    for (const bool byCost : { wantsCost, !wantsCost })
        if (const auto first = best(byCost, [](const SelectionOption &) { return true; }); isNew(first, options))
            return first;
    for (std::size_t d = 0; d < datacenters; ++d)
        if (const auto first = best(wantsCost, [&](const SelectionOption &o) { return uses(o, int(d)); });
            isNew(first, options))
            return first;
    const auto isOpen = [&](const SelectionOption &o) { return !o.isSimulated && !isOutdone(options, leastOf(o)); };
    const auto simulated = std::ranges::count_if(options, &SelectionOption::isSimulated);
    return best(simulated % 2 == 0 ? wantsCost : !wantsCost, isOpen);
}

bool isProven(const std::vector<SelectionOption> &options, const std::vector<LeftBound> &rest)
{
    return std::ranges::all_of(rest, [&](const LeftBound &least) { return isOutdone(options, least); })
        && std::ranges::all_of(
            options, [&](const SelectionOption &o) { return o.isSimulated || isOutdone(options, leastOf(o)); });
}

} // namespace trainyard::selecting
