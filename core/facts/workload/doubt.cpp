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

std::optional<Error> whyUnranked(const Doubts &doubts, const std::string &where)
{
    if (doubts.empty())
        return {};
    const Doubt *worst = blockingDoubt(doubts);
    return Error { ErrorCode::BadValue, where,
        "what it is read from is not understood, so that nothing is ranked by it: "
            + toString(worst ? *worst : doubts.front()),
        "a model that is described whole" };
}

} // namespace trainyard
