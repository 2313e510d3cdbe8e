#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How many tasks one iteration of a placed plan is simulated in, before any is made: the measure of work and memory
// that bounds evaluations and searches. A count, not a time, so that the same plan is refused on every machine.

#include "core/iteration/placement/resolve.h"

#include <cstdint>

namespace trainyard {

/// Most of one evaluation: some seconds, and a gigabyte or two.
inline constexpr std::int64_t kMostTasks = 5'000'000;

/// At least as many as its timeline will have spans of operations, transfers between datacenters and moves off the GPU.
[[nodiscard]] std::int64_t simulatedTasks(const Workload &workload);

/// "4 million", "2.5 million", "64000".
[[nodiscard]] std::string taskCountText(std::int64_t tasks);

} // namespace trainyard
