#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The free time of one GPU in one iteration, while slots are taken from it: gaps in a treap that knows the longest gap
// below each node, so that finding the first fitting gap and taking a slot are O(log gaps). Times count from the start
// of that iteration. Copies of a tree share nothing (gpu_calendar.h).

#include "core/iteration/prefill/free_windows.h"

#include <cstdint>
#include <optional>

namespace trainyard {

class GapTree {
public:
    /// `windows` as freeWindows gives them. Gaps below `shortest` are forgotten: no slot will be shorter.
    GapTree(const std::vector<FreeWindow> &windows, Nanoseconds shortest);

    /// The earliest place from `from` on, which may be before the iteration, that holds `length`; none where no gap
    /// does.
    [[nodiscard]] std::optional<Nanoseconds> firstFit(Nanoseconds from, Nanoseconds length) const;
    /// Takes a place that firstFit found.
    void take(Nanoseconds place, Nanoseconds length);
    /// The longest gap; 0 where none is left.
    [[nodiscard]] Nanoseconds longest() const { return m_root == kNone ? 0 : m_nodes[m_root].longest; }
    /// No slot fits any more.
    [[nodiscard]] bool isFull() const { return longest() < m_shortest; }

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
    Nanoseconds m_shortest;
    std::uint32_t m_random = 2463534242u;
};

} // namespace trainyard
