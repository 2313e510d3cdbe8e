#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A plan with prefill in its bubbles, and what an evaluation says of it.

#include "core/iteration/prefill/bubble_fill.h"
#include "tests/support/plans.h"

#include <algorithm>

namespace trainyard::test {

/// Long bubbles: pipelines across two datacenters under WAN waits, measured stage times.
inline Plan acrossTwo(double requestsPerSecond)
{
    Plan plan = atlasRow(4, 4, 4, 2, ScheduleKind::GPipe);
    plan.bubbleFill.enabled = true;
    plan.bubbleFill.model = "llama-3-8b";
    plan.bubbleFill.requestsPerSecond = requestsPerSecond;
    return plan;
}

inline bool hasProblem(const Evaluation &evaluation, const std::string &where)
{
    return std::ranges::any_of(evaluation.problems, [&](const Problem &p) { return p.where == where; });
}

inline std::string problemText(const Evaluation &evaluation, const std::string &where)
{
    const auto it = std::ranges::find(evaluation.problems, where, &Problem::where);
    return it == evaluation.problems.end() ? std::string() : it->text;
}

inline std::int64_t rejections(const BubbleFillMetrics &fill)
{
    return fill.rejectedForMemory + fill.rejectedForWindow + fill.rejectedAsFull + fill.rejectedAsLate
        + fill.rejectedByDecode;
}

} // namespace trainyard::test
