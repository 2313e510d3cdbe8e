#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What binds a plan, in sentences, from its evaluation and its shadow prices.

#include "core/evaluation/memory_fit/headroom_uses.h"
#include "core/planner/sensitivity/shadow_prices.h"

namespace trainyard::detail {

/// What larger memory would buy, where somebody looked.
struct RoomSought {
    /// more on each GPU of a type
    double gib = 0;
    /// "A100 SXM 40 GB"
    std::string type;
    /// the plan itself does, with it
    bool fits = false;
    /// "micro-batch 2: 4.1 % more tokens per second"; empty: nothing that is not to be had now
    std::string best;
};

[[nodiscard]] std::vector<std::string> bindingSentences(
    const Evaluation &now, const std::vector<ShadowPrice> &prices, const std::vector<RoomSought> &sought);

} // namespace trainyard::detail
