// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/workload/worst_doubt.h"

#include <algorithm>

namespace trainyard {

const Doubt *blockingDoubt(const Doubts &doubts)
{
    const auto found = std::ranges::find_if(doubts, &Doubt::isBlocking);
    return found == doubts.end() ? nullptr : &*found;
}

const Doubt *worstDoubt(const Doubts &doubts)
{
    const Doubt *blocking = blockingDoubt(doubts);
    return blocking || doubts.empty() ? blocking : &doubts.front();
}

std::string toString(const Doubt &doubt)
{
    return doubt.key.empty() ? doubt.text : doubt.key + ": " + doubt.text;
}

std::optional<Error> whyUnranked(const Doubts &doubts)
{
    const Doubt *worst = worstDoubt(doubts);
    if (!worst)
        return {};
    return Error { ErrorCode::BadValue, worst->isOfPlan ? "not_understood" : "workload.model",
        "what it is read from is not understood, so that nothing is ranked by it: " + toString(*worst),
        worst->isOfPlan ? "a plan without not_understood, once it is settled" : "a model that is described whole" };
}

} // namespace trainyard
