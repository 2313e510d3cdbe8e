// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/search_front.h"

#include "core/base/pareto_front.h"

namespace trainyard {

std::vector<std::size_t> frontOf(std::span<const SearchRow> rows, const SearchOptions &asked)
{
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].state == RowState::Feasible)
            order.push_back(i);
    if (asked.scenarios.empty() || asked.robustness != Robustness::WorstCase)
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (rows[i].isExact && rows[i].usdPerMillionTokens > 0)
                order.push_back(i);
    return paretoFront(
        std::move(order), [&](std::size_t i) { return rows[i].usdPerMillionTokens; },
        [&](std::size_t i) { return rows[i].seconds; });
}

} // namespace trainyard
