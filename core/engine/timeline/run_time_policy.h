#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a system brings that decides while the iteration runs which task a resource takes next. The engine keeps the
// clock and says what has arrived; a policy is a pure choice over the tasks' tags and what it has noted of its
// resource.

#include "core/engine/timeline/task_graph.h"

#include <vector>

namespace trainyard {

/// Kept between simulations; one a thread.
struct PolicyWorkspace {
    struct Notes { // of one resource, for its policy
        /// tasks up to which it has looked; they begin at the resource's first
        std::uint32_t head = 0, ahead = 0;
        /// the task that has its turn for sure
        std::uint32_t promised = kNoSpan;
        int count = 0;
    };
    std::vector<Notes> notes;
    /// per task; empty where no resource has a policy
    std::vector<std::uint8_t> isHere, isBegun;
};

struct Choosing {
    const TaskGraph &graph;
    PolicyWorkspace &work;
    /// start and cause of what has arrived, which a policy may move to a later arrival
    Timeline &timeline;
    std::uint32_t resource;

    [[nodiscard]] PolicyWorkspace::Notes &notes() const { return work.notes[resource]; }
    [[nodiscard]] std::uint32_t last() const { return graph.resources[resource].track.last; }
    [[nodiscard]] bool isHere(std::uint32_t task) const { return work.isHere[task] != 0; }
    [[nodiscard]] bool isBegun(std::uint32_t task) const { return work.isBegun[task] != 0; }
    [[nodiscard]] bool continues(std::uint32_t task) const
    {
        return task < graph.continues.size() && graph.continues[task] != 0;
    }
};

class RunTimePolicy {
public:
    virtual ~RunTimePolicy() = default;
    /// The task that the free resource takes now, or kNoSpan. Not asked while what it took last goes on.
    [[nodiscard]] virtual std::uint32_t take(const Choosing &at) const = 0;
    /// Its resource knows at once what it made itself, before it chooses.
    [[nodiscard]] virtual bool knowsItsOwn() const { return false; }
};

} // namespace trainyard
