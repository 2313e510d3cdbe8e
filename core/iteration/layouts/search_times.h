#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers that a search for a placement bounds its candidates with: the least that each datacenter's GPUs need for
// each stage, what one pipeline and all of them together have of each link, and where not even the states fit. All from
// the costs that a timeline is made of, each taken from below. docs/model.md, "Placement".

#include "core/iteration/placement/block_search.h"
#include "core/iteration/placement/resolve.h"

#include <array>
#include <vector>

namespace trainyard {

/// For `data` replicas. With the price of a GB, per link and direction,
/// hardware and egress too.
[[nodiscard]] SearchTimes searchTimes(
    const Requested &asked, int data, const std::vector<std::array<double, 2>> *usdPerGb = nullptr);

} // namespace trainyard
