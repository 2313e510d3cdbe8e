#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of a recording after it was read, whatever it holds: one clock, steps, where their time went, rows of a
// run alone, and a plan.

#include "tests/fuzz/targets.h"

namespace trainyard::fuzz {

[[nodiscard]] Outcome ranAndPlanned(const std::string &input);
[[nodiscard]] std::vector<std::string> runSeeds(const std::string &folder);

} // namespace trainyard::fuzz
