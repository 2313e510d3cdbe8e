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
    std::string wrong; // empty: nothing that is certain
    int gpusUsed = 0;
    double leastSeconds = 0, estimate = 0, leastFill = 0; // 0: nothing known
    std::int64_t tasks = 0; // that could be simulated meanwhile, about, in a single pass
};

[[nodiscard]] UntabledScore untabledScore(const PlanPtr &plan, const Catalogue &catalogue);

} // namespace trainyard
