#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the edits of the hardware share: ids that no other datacenter or pool has, and the merging of equal pools.
// Private to core/facts/cluster.

#include "core/base/error.h"
#include "core/facts/plan/plan.h"

namespace trainyard::detail {

/// of one pool, as in the plan file
inline constexpr int kMaxNodes = 1000000;

[[nodiscard]] std::string uniqueDatacenterId(const Cluster &cluster, const std::string &wanted);
[[nodiscard]] std::string uniquePoolId(const Cluster &cluster, const std::string &wanted);

/// Equal but for id and number of nodes: they can be one pool.
[[nodiscard]] bool canMerge(const Pool &a, const Pool &b);

template <class T> [[nodiscard]] bool hasIndex(const std::vector<T> &list, int index)
{
    return index >= 0 && index < static_cast<int>(list.size());
}
/// Of edits that name one by a number that none has.
[[nodiscard]] std::unexpected<Error> noDatacenter(const Cluster &cluster, int index);

/// Drops pools without GPUs and merges equal ones into the first of them.
void tidyPools(Datacenter &datacenter);

} // namespace trainyard::detail
