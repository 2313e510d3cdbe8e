#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the event loop derives from a graph before it runs. It is the same as long as the topology is, so simulations of new
// durations reuse it.

#include "core/timeline/task_graph.h"

namespace trainyard {

class EventTopology {
public:
    static constexpr std::uint8_t kChosen = 1;     // by its resource, which decides while it runs
    static constexpr std::uint8_t kOpen = 2;       // its end is known only when it comes: a flow, or what may be stopped
    static constexpr std::uint8_t kFollowed = 4;   // the next task waits for it, because it comes next on a resource of fixed order

    /// Does nothing where the graph has the topology that was learned last.
    void learn(const TaskGraph &graph);

    std::vector<std::uint8_t> traits;              // per task
    std::vector<std::uint32_t> waits;              // per task: how many must end or start before it can be placed
    /// Those that wait for task i: successor[successorBegin[i] .. successorBegin[i+1]), with TaskGraph::kFromStart where for its start.
    std::vector<std::uint32_t> successorBegin, successor;
    std::vector<std::uint32_t> tieRank;            // per resource: its place among all by cell member, stage and direction

private:
    void countWaits(const TaskGraph &graph);
    void findSuccessors(const TaskGraph &graph);
    void rankTies(const TaskGraph &graph);

    std::uint64_t m_fingerprint = 0;
};

} // namespace trainyard
