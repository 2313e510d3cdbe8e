// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/tell_result.h"

#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/planner/search/search_front.h"
#include "core/planner/search/search_state_internal.h"

#include <algorithm>
#include <utility>

namespace trainyard::detail {

namespace {

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

/// By a share that nobody measures. Of as many GPUs the value has the time as a fraction, which is not its share.
bool isHardlyBetter(Objective objective, const SearchRow &own, const SearchRow &best)
{
    constexpr double kHardly = 1e-5;
    if (objective == Objective::Gpus)
        return best.gpus == own.gpus && own.seconds - best.seconds < kHardly * own.seconds;
    return own.value - best.value < kHardly * own.value;
}

/// " in the world "Ohio lost"", where a row that fails does so in a scenario; else empty.
std::string failsIn(const SearchResult &result, const SearchRow &row)
{
    return row.state == RowState::Feasible || row.worstScenario < 0
        ? ""
        : " in the world \"" + result.scenarios.at(std::size_t(row.worstScenario)) + '"';
}

std::string answer(const SearchResult &result)
{
    if (result.best.empty())
        return result.isComplete ? "no plan of this space keeps the constraints (proven)"
                                 : "none was found that keeps the constraints, and the search is not finished";
    const SearchRow &own = result.rows[*result.own];
    const SearchRow &best = result.rows[result.best.front()];
    if (own.number == best.number)
        return result.isComplete ? "your plan is the best of its space" : "nothing better than your plan was found";
    const std::string world = failsIn(result, own), all = world.empty() ? "" : " in all worlds";
    if (own.state == RowState::Infeasible)
        return "your plan cannot run" + world + "; this one can" + all;
    if (own.state != RowState::Feasible)
        return "your plan does not keep the constraints" + world + "; this one does" + all;
    if (own.value > best.value && isHardlyBetter(result.objective, own, best))
        return "hardly better than your plan, by less than 0.001 %";
    return own.value > best.value ? gainText(result.objective, own, best) + " than your plan" : "as good as your plan";
}

/// Of rows that miss the constraints the one that misses least, else of those that do not fit the fullest.
std::optional<std::size_t> nearestOf(const std::vector<SearchRow> &rows)
{
    const auto distance = [](const SearchRow &row) {
        return std::pair(row.state != RowState::OutOfConstraint, row.missedBy);
    };
    std::optional<std::size_t> nearest;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].missedBy > 0 && (!nearest || distance(rows[i]) < distance(rows[*nearest])))
            nearest = i;
    return nearest;
}

/// Each of many shapes that find no place has a reason of its own: told as one, the shapes as its details.
std::vector<PruneCount> grouped(std::vector<PruneCount> pruned)
{
    constexpr std::string_view kPlaceless = "cannot be placed";
    PruneCount placeless { .reason = "it cannot be placed" };
    std::erase_if(pruned, [&](PruneCount &one) {
        if (!one.reason.contains(kPlaceless))
            return false;
        placeless.count += one.count;
        placeless.details.push_back(std::move(one));
        return true;
    });
    std::ranges::stable_sort(placeless.details, std::ranges::greater {}, &PruneCount::count);
    if (placeless.details.size() == 1)
        placeless.reason = std::exchange(placeless.details, {}).front().reason;
    if (placeless.count > 0)
        pruned.push_back(std::move(placeless));
    std::ranges::stable_sort(pruned, std::ranges::greater {}, &PruneCount::count);
    return pruned;
}

std::string howFar(const SearchResult &result)
{
    const std::string many = wholeText(double(result.looked));
    const std::string simulated = wholeText(double(result.simulated)) + " simulated";
    const char *thing = result.looked == 1 ? " combination" : " combinations";
    if (result.best.empty())
        return many + thing + " looked at, " + simulated;
    if (result.isComplete)
        return "proven best of " + many + thing + ", " + simulated;
    return many + thing + " looked at, " + simulated
        + (result.isStopped ? "; stopped, not proven" : "; not proven: others may be better");
}

} // namespace

void tellResult(SearchResult &result)
{
    result.pruned = grouped(std::move(result.pruned));
    if (result.best.empty())
        result.nearest = nearestOf(result.rows);
}

void tellAnswer(SearchResult &result)
{
    for (const std::size_t row : frontOf(result.rows, *result.asked))
        result.rows[row].isOnFront = true;
    result.reach = howFar(result);
    result.summary = answer(result) + "; " + result.reach;
    if (std::ranges::find(result.asked->fixed, "schedule") == result.asked->fixed.end())
        result.software = schedulesLeftOut(*result.space->base());
    if (!result.nearest)
        return;
    const SearchRow &nearest = result.rows[*result.nearest];
    result.summary += "; the nearest " + nearest.shortfall + failsIn(result, nearest);
}

} // namespace trainyard::detail
