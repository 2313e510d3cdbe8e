// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/planner_engine.h"

namespace trainyard {

PlannerEngine corePlanner()
{
#if __has_include("core/search/search.cpp") // until it is there, the page says that it is not
    return { &search, &stepsBetween, &namedScenarios };
#else
    return { [](const PlanPtr &, const Catalogue &, const SearchOptions &, const std::stop_token &,
                 const std::function<void(const SearchProgress &)> &) -> ExpectedAll<SearchResult> {
                return std::unexpected(Errors { { ErrorCode::Internal, {}, "this build has no search", {} } });
            },
        &stepsBetween, &namedScenarios };
#endif
}

} // namespace trainyard
