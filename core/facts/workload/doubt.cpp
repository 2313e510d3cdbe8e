// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/workload/doubt.h"

#include <algorithm>

namespace trainyard {

const Doubt *blockingDoubt(const Doubts &doubts)
{
    const auto found = std::ranges::find_if(doubts, &Doubt::isBlocking);
    return found == doubts.end() ? nullptr : &*found;
}

std::string toString(const Doubt &doubt)
{
    return doubt.key.empty() ? doubt.text : doubt.key + ": " + doubt.text;
}

std::optional<Error> whyUnranked(const Doubts &doubts)
{
    if (doubts.empty())
        return {};
    const Doubt *worst = blockingDoubt(doubts);
    const Doubt &told = worst ? *worst : doubts.front();
    return Error { ErrorCode::BadValue, told.isOfPlan ? "not_understood" : "workload.model",
        "what it is read from is not understood, so that nothing is ranked by it: " + toString(told),
        told.isOfPlan ? "a plan without not_understood, once it is settled" : "a model that is described whole" };
}

} // namespace trainyard
