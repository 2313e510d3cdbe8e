#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A store that is told things by bytes: each is an event, the end of a batch or a look at the store, with what follows
// as its numbers, ordinary ones and those at the ends of their ranges.

#include "tests/fuzz/targets.h"

namespace trainyard::fuzz {

[[nodiscard]] Outcome toldByScript(const std::string &input);
[[nodiscard]] std::vector<std::string> scriptSeeds(const std::string &folder);

} // namespace trainyard::fuzz
