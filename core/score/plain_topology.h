#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The topology of plain plans (plain_plan.h) as the lanes run it, and the order of their work as memory sees it.
// Made by the real costs and the real graph of the first plan that has it: every time is exchanged for a mark that says
// which one it is, so that the graph itself tells what each of its classes takes.

#include "core/score/plain_plan.h"
#include "core/timeline/lane_steps.h"

#include <optional>

namespace trainyard {

struct PlainTopology {
    LaneSteps steps; // times and lags are places in PlainTimes::durations and ::lags
    Program work; // moments of memory that repeat are left out (short_order.h)
    std::vector<std::uint16_t> orderOf; // [stage]: the first stage with the same order and kind
};

/// Nothing where run() has to do it: the schedule cannot be built, or the graph is not of such times alone.
[[nodiscard]] std::optional<PlainTopology> plainTopology(
    const Workload &workload, const PlainFrame &frame, const PlainTimes &times);

} // namespace trainyard
