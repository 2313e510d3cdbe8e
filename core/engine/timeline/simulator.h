#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The one engine. A graph of fixed-order resources without binding shared links takes a single pass over `steps`
// (start = max(previous on the resource, predecessors + lag)): no queue, no allocation. Where links are shared or
// resources decide while they run, an event loop with max-min fair rates runs instead; both give the same spans where
// both apply. Events at one instant: completions, choices of the freed, arrivals, choices; when nothing more comes,
// choices of those that give turns. Ties between resources go by micro-batch, cell member, stage and direction, never
// by the numbers of tasks, which are the builder's business. Results are exact and repeatable.

#include "core/base/error.h"
#include "core/engine/timeline/fair_share.h"
#include "core/engine/timeline/instants.h"
#include "core/engine/timeline/run_time_policy.h"

#include <stop_token>
#include <utility>

namespace trainyard {

/// Buffers kept between simulations so that a drag step allocates nothing. One a thread.
struct SimulationWorkspace {
    // per resource
    /// when its last task so far ends
    std::vector<Nanoseconds> free;
    /// that task (event loop only)
    std::vector<std::uint32_t> last;
    /// single pass: those of the graph behind one that never binds
    std::vector<Nanoseconds> lags;
    // event loop only
    /// of the last graph whose orders are all fixed, but for its flows
    EventTopology events;
    /// its fingerprint; 0 = none
    std::uint64_t eventsOf = 0;
    std::vector<std::uint32_t> pending, ended;
    /// resources that may take a task at this instant
    std::vector<std::uint32_t> candidates, lastToChoose;
    Instants arrivals, freed;
    /// at resources that know their own results at once
    Instants ownArrivals;
    /// per resource: heaps by priority, task
    std::vector<std::vector<std::pair<std::int64_t, std::uint32_t>>> queues;
    std::vector<std::uint8_t> isBusy;
    /// per resource: the task that goes on with the last one, or kNoSpan
    std::vector<std::uint32_t> continued;
    PolicyWorkspace policies;
    struct ActiveFlow {
        std::uint32_t task = 0;
        /// nanoseconds at full speed, as of `since`
        double workLeft = 0;
        /// share of the full speed
        double speed = 0;
        Nanoseconds since = 0, end = 0;
    };
    std::vector<ActiveFlow> active;
    std::vector<double> linkDemand, linkLeft, cap, weight, linkTakes, rate;
    std::vector<std::uint32_t> linkUsers, holdUsers, linkBegin, linkIndex;
    FairShareWorkspace fairShare;
};

/// Runs the graph. Errors: Cancelled; Internal where the graph cannot make progress (a cycle), naming the task.
[[nodiscard]] Expected<Timeline> simulate(
    const TaskGraph &graph, SimulationWorkspace &workspace, std::stop_token stop = {});

/// The same into a timeline whose buffers are used again: nothing is allocated once they are large enough. After an
/// error the timeline is unspecified. One that was made from the same topology keeps its labels, so whoever adds spans
/// to a timeline sets its fingerprint to 0.
[[nodiscard]] Expected<void> simulateInto(
    Timeline &timeline, const TaskGraph &graph, SimulationWorkspace &workspace, std::stop_token stop = {});

/// True where the single pass cannot do: a resource decides while it runs, or the flows that may be active at once can
/// ask more of a link than it carries.
[[nodiscard]] bool needsEvents(const TaskGraph &graph);

} // namespace trainyard
