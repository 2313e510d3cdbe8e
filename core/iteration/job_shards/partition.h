#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A model in order as pieces (embedding, layers, head) that is cut into shards. Pure functions.

#include <functional>
#include <optional>
#include <vector>

namespace trainyard {

struct Pieces { // first, first + 1 … last - 1 of them
    int first = 0, last = 0;
    [[nodiscard]] int count() const { return last - first; }
    bool operator==(const Pieces &) const = default;
};

struct Partition {
    /// empty where a piece does not fit
    std::vector<Pieces> shards;
    /// that piece
    int tooLarge = -1;
};

/// Hydra's rule: each shard takes pieces as long as they fit. Where whatever lies inside something that fits does so
/// too, no partition has fewer shards.
[[nodiscard]] Partition greedyPartition(int pieces, const std::function<bool(Pieces)> &fits);

/// So many shards, each with a piece at least, of about equal weight. `count` is from 1 to the number of weights.
[[nodiscard]] std::vector<Pieces> evenPartition(const std::vector<double> &weights, int count);

} // namespace trainyard
