#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the event loop derives from a graph: with the topology, not with each simulation.

#include <cstdint>
#include <vector>

namespace trainyard {

struct TaskGraph;

struct EventTopology {
    /// by its resource, which decides while it runs
    static constexpr std::uint8_t kChosen = 1;
    /// its end is known only when it comes: a flow, or what may be stopped
    static constexpr std::uint8_t kOpen = 2;
    static constexpr std::uint8_t kFollowed =
        4; // the next task waits for it, because it comes next on a resource of fixed order

    /// per task
    std::vector<std::uint8_t> traits;
    /// per task: how many must end or start before it can be placed
    std::vector<std::uint32_t> waits;
    /// Those that wait for task i: successor[successorBegin[i] .. successorBegin[i+1]), with TaskGraph::kFromStart
    /// where for its start.
    std::vector<std::uint32_t> successorBegin, successor;
    /// per resource: its place among all by cell member, stage and direction
    std::vector<std::uint32_t> tieRank;
};

[[nodiscard]] EventTopology eventTopologyOf(const TaskGraph &graph);
/// The graph's own, or else what was `kept` of the last one (by its fingerprint; 0: of none), which it becomes.
[[nodiscard]] const EventTopology &eventsOf(const TaskGraph &graph, EventTopology &kept, std::uint64_t &keptOf);

} // namespace trainyard
