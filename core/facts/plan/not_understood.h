#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What an import did not understand of the sources of a plan, as the plan keeps it.

#include "core/facts/plan/plan_value.h"

#include <string>

namespace trainyard {

/// What the readers of a plan's sources (a script, a topology) did not understand of them, or what no plan can express:
/// core/facts/workload/doubt.h, kept in the plan itself.
struct NotUnderstood {
    /// setting of the source, "--moe-router-topk"; may be empty
    std::string key;
    /// what is missing: a sentence without its full stop
    std::string text;
    /// the iteration may take (1 + low) to (1 + high) times what is predicted
    double low = 0, high = 0;
    /// nothing may be computed of the plan
    bool isBlocking = false;
    Extra extra;
    bool operator==(const NotUnderstood &) const = default;
};

} // namespace trainyard
