// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/hunt_internal.h"

#include "core/base/number_text.h"
#include "core/base/pareto_front.h"
#include "core/base/words.h"

namespace trainyard::detail {

namespace {

void markFront(std::vector<SearchRow> &rows)
{
    std::vector<SearchRow *> feasible;
    for (SearchRow &row : rows)
        if (row.state == RowState::Feasible || (row.isExact && row.usdPerMillionTokens > 0))
            feasible.push_back(&row);
    const auto seconds = [](const SearchRow *row) { return row->seconds; };
    const auto usd = [](const SearchRow *row) { return row->usdPerMillionTokens; };
    for (SearchRow *row : paretoFront(std::move(feasible), seconds, usd))
        row->isOnFront = true;
}

/// How much better the best is, "8.2 % faster".
std::string gainText(Objective objective, const SearchRow &own, const SearchRow &best)
{
    const auto less = [&](double before, double after) { return percentText(1 - after / before); };
    switch (objective) {
    case Objective::Cost:
        return less(own.value, best.value) + " cheaper";
    case Objective::Energy:
        return less(own.value, best.value) + " less energy";
    case Objective::Time:
        return less(own.value, best.value) + " sooner";
    case Objective::Gpus:
        return best.gpus < own.gpus ? counted(own.gpus - best.gpus, "GPU") + " fewer"
                                    : percentText(own.seconds / best.seconds - 1) + " faster on as many GPUs";
    case Objective::Throughput:
        break;
    }
    return percentText(own.value / best.value - 1) + " faster";
}

std::string answer(const SearchResult &result)
{
    if (result.best.empty())
        return result.isComplete ? "no plan of this space is feasible within the constraints"
                                 : "no feasible plan within the constraints was found";
    const SearchRow &own = result.rows[*result.own];
    const SearchRow &best = result.rows[result.best.front()];
    if (own.number == best.number)
        return result.isComplete ? "your plan is the best of its space" : "nothing better than your plan was found";
    if (own.state == RowState::Infeasible)
        return "your plan cannot run; this one can";
    if (own.state != RowState::Feasible)
        return "your plan does not keep the constraints; this one does";
    return own.value > best.value ? gainText(result.objective, own, best) + " than your plan" : "as good as your plan";
}

} // namespace

void tellResult(SearchResult &result)
{
    markFront(result.rows);
    result.summary = answer(result) + "; " + wholeText(double(result.looked)) + " "
        + (result.looked == 1 ? "candidate" : "candidates") + ", " + wholeText(double(result.simulated))
        + " simulated, "
        + (result.isComplete       ? "proven best"
                : result.isStopped ? "stopped, not proven"
                                   : "not proven: the space is larger than what was looked at");
    if (result.best.empty() && result.isComplete)
        result.summary.replace(result.summary.rfind("proven best"), std::string::npos, "all looked at");
}

} // namespace trainyard::detail
