#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Differences between pairs made values of each: a spanning tree by the most matches, then least squares over all
// pairs, in which a pair that contradicts the others counts for little. Numbers alone.

#include <cstdint>
#include <vector>

namespace trainyard {

struct PairDifference { // value of second - value of first
    std::uint32_t first = 0, second = 0;
    std::int64_t matches = 0;
    double value = 0, variance = 1;
};

/// Which nodes are joined, and on which way each hangs on the first of its island.
struct PairTree {
    /// [node], by size, of equal ones by their first node; -1: alone
    std::vector<int> island;
    int islands = 0;
    /// nodes of islands, each behind the one that it hangs on
    std::vector<std::uint32_t> order;
    /// [node] index of the pair, kNoEdge of the first of an island and of those alone
    std::vector<std::uint32_t> edge;
};
inline constexpr std::uint32_t kNoEdge = 0xffffffffu;
[[nodiscard]] PairTree spanningTree(std::uint32_t nodes, const std::vector<PairDifference> &pairs);

/// [node]; 0 of the first of each island and of those alone.
[[nodiscard]] std::vector<double> joinDifferences(const PairTree &tree, const std::vector<PairDifference> &pairs);
/// [node]: the sum of the variances on its way to the first of its island.
[[nodiscard]] std::vector<double> varianceOnTree(const PairTree &tree, const std::vector<PairDifference> &pairs);

} // namespace trainyard
