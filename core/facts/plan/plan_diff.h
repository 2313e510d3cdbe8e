#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What differs between two plans, as sentences a person would say: "Move 8 GPUs Virginia → Oregon",
// "Micro-batch 1 → 2". The undo stack, the comparison and the report show them.

#include "core/facts/plan/plan.h"

namespace trainyard {

[[nodiscard]] std::vector<std::string> describeDifferences(const Plan &before, const Plan &after);

} // namespace trainyard
