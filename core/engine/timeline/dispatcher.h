#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks that no graph lists beforehand: which there are, and which resource each takes, is decided while it runs
// (shards of many models on whichever GPU is free). The engine keeps clock, flows and spans; a dispatcher is told what
// ended and says what begins. Its resources are tracks of a graph; what it begins there gets a class of the graph's
// table, to which it may append while it runs, so spans, bytes and memory are read like those of any other task.
//
//   struct Alternating : Dispatcher { … void choose(Dispatch &at) override { at.begin(gpu, unit, { 0 }); } };
//   simulateInto(timeline, graph, workspace, dispatcher);

#include "core/engine/timeline/graph_builder.h"

#include <stop_token>
#include <string>

namespace trainyard {

/// What the engine offers while it runs.
class Dispatch {
public:
    [[nodiscard]] virtual Nanoseconds now() const = 0;
    /// Begins a task there now; it lasts as its class says, or as its flow's share of the links lets it. The tasks of a
    /// resource must not overlap. `cause`: the task for whose end it waited last. Returns its number, in the order of
    /// beginning.
    virtual std::uint32_t begin(
        std::uint32_t resource, std::uint32_t taskClass, GraphBuilder::Tag tag, std::uint32_t cause = kNoSpan) = 0;
    /// Says the class of a task again, at its end at the latest: one of the same duration and flow, where what it
    /// leaves behind was not known when it began.
    virtual void reclass(std::uint32_t task, std::uint32_t taskClass) = 0;
    /// Has the dispatcher choose at that time too, whatever ends then (an arrival). In the past: now.
    virtual void wakeAt(Nanoseconds time) = 0;

protected:
    ~Dispatch() = default;
};

class Dispatcher {
public:
    virtual ~Dispatcher() = default;
    /// A task that it began has ended; all of one instant, in the order of their resources, before it chooses.
    virtual void ended(Dispatch &at, std::uint32_t task) = 0;
    /// Once for each instant at which something ended or was to be woken, and at 0, after all completions of that
    /// instant. What ends at the instant at which it began makes another round.
    virtual void choose(Dispatch &at) = 0;
    /// Of work that is left when nothing runs any more, what it waits for; empty: all is done.
    [[nodiscard]] virtual std::string leftOver() const = 0;
    /// About how many tasks it will begin, so that room for them need not grow; 0: unknown.
    [[nodiscard]] virtual std::size_t expects() const { return 0; }
};

struct SimulationWorkspace;

/// Runs it on a graph's resources, of which none decides itself, beside the graph's own tasks if there are any. Spans
/// come out track by track, in order of start, `cause` in their numbers.
/// Errors: Cancelled; Internal where work is left that nothing can begin, naming it.
[[nodiscard]] Expected<void> simulateInto(Timeline &timeline, const TaskGraph &graph, SimulationWorkspace &workspace,
    Dispatcher &dispatcher, std::stop_token stop = {});

} // namespace trainyard
