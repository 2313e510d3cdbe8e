#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The free time of one GPU over a repeating iteration, while slots are taken from it: gaps in a treap that knows the
// longest gap below each node, so that finding the first fitting gap and taking a slot are O(log gaps). Copies of a
// tree share nothing; GPUs with equal windows share one until they take their first slot (controller.h).

#include "core/iteration/prefill/free_windows.h"

#include <cstdint>
#include <optional>

namespace trainyard {

class GapTree {
public:
    struct Fit {
        /// absolute: the iteration repeats from 0 on
        Nanoseconds start = 0;
        /// the same on the tree's circle
        Nanoseconds place = 0;
    };

    /// `windows` as freeWindows gives them. Gaps below `shortest` are forgotten: no slot will be shorter.
    GapTree(const std::vector<FreeWindow> &windows, Nanoseconds period, Nanoseconds shortest);

    /// The earliest place from `from` on (at least 0) that holds `length`; none where no gap does.
    [[nodiscard]] std::optional<Fit> firstFit(Nanoseconds from, Nanoseconds length) const;
    /// Takes a place that firstFit found.
    void take(Fit fit, Nanoseconds length);

private:
    using Index = std::uint32_t;
    static constexpr Index kNone = 0xffffffffu;
    struct Node {
        Nanoseconds start = 0, end = 0;
        /// of the gaps at and below this node
        Nanoseconds longest = 0;
        Index left = kNone, right = kNone;
        std::uint32_t priority = 0;
    };

    [[nodiscard]] Index find(Index root, Nanoseconds from, Nanoseconds length) const;
    void add(Nanoseconds start, Nanoseconds end);
    void insert(Index &root, Index node);
    void split(Index root, Nanoseconds start, Index &left, Index &right);
    FreeWindow cut(Index root, Nanoseconds from, Nanoseconds to);
    void update(Index node);

    std::vector<Node> m_nodes;
    Index m_root = kNone;
    Nanoseconds m_period, m_shortest;
    /// where the last window ends in the next iteration
    Nanoseconds m_wrappedUntil = 0;
    std::uint32_t m_random = 2463534242u;
};

} // namespace trainyard
