#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A score without tables: of plans whose parts are not the same from one candidate to the next (several datacenters,
// unequal GPUs, shares, offloading, measured stages). Resolved and placed one by one, and bounded by what the search
// for a placement knows.

#include "core/evaluation/evaluate/run.h"

#include <cstdint>
#include <string>

namespace trainyard {

struct UntabledScore {
    /// empty: nothing that is certain
    std::string wrong;
    int gpusUsed = 0;
    /// 0: nothing known
    double leastSeconds = 0, estimate = 0, leastFill = 0;
    /// that could be simulated meanwhile, about, in a single pass
    std::int64_t tasks = 0;
};

[[nodiscard]] UntabledScore untabledScore(const PlanPtr &plan, const Catalogue &catalogue);

} // namespace trainyard
