#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the one simulator runs: tasks with predecessors on resources, as arrays. Every system of the product is a builder
// of such graphs. Tasks are numbered resource by resource; on a fixed-order resource the number is the order, so the
// previous task of the same resource is task - 1 and the spans of a track come out sorted.
// Topology (everything but `durations`, `lags`, rates) depends only on shapes, so that a change of bandwidth or of a
// GPU reuses it: durations and lags are looked up by class.

#include "core/base/error.h"
#include "core/timeline/timeline.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

/// FixedOrder: by number, each waited for. Priority: the first by priority of those that can start; one that is freed chooses
/// among what could start before that instant (queues of moves: what asks only then goes behind what has waited). Turns: by
/// priority too, but once all that can start at that instant is known (channels that members share: with equal round trips and
/// equal turns, turns end when other members are ready to begin, and such ties decide whole per cents). OpportunisticForward: by number, but
/// while the head, other than a forward, cannot start, the next forward becomes the head and is waited for. WorkConserving: the first
/// that can start of: the next backward, the next forward within the limit, the next recomputation (OrderRule::WorkConserving);
/// a recomputation comes right before its backward in number. Tasks of other kinds on such a resource come last.
enum class Discipline : std::uint8_t { FixedOrder, Priority, Turns, OpportunisticForward, WorkConserving };

struct Resource {
    Discipline discipline = Discipline::FixedOrder;
    std::uint32_t inFlightLimit = 0;   // WorkConserving: most forwards without their backward; 0 = no limit
    Track track;                   // where its spans are drawn; first/last are its tasks
};

/// A task that moves bytes over shared links instead of lasting a fixed time: its rate is its max-min fair share.
struct Flow {
    double bytes = 0;
    double rateCap = 0;            // bytes/s; what the flow can take alone (TCP, node pair, NIC)
    double weight = 1;             // how many equal flows it stands for (symmetric pipelines)
    std::vector<std::uint32_t> links;   // indices into TaskGraph::linkCapacity
};

/// What the single pass reads of one task: a stream in topological order instead of an access to each array.
struct PassStep {
    static constexpr std::uint32_t kHasMore = 0x80000000u;   // set in `task` where there are further predecessors
    std::uint32_t task = 0;
    std::uint32_t resource = 0, durationClass = 0;
    std::uint32_t pred = 0, lag = 0;   // the first predecessor and 1 + its lag class; lag 0 where there is none
};

struct TaskGraph {
    // per task
    std::vector<WorkKind> kind;
    std::vector<std::uint32_t> resource;
    std::vector<std::uint32_t> durationClass;
    std::vector<std::int32_t> microBatch;
    std::vector<std::uint16_t> chunk;
    std::vector<std::int32_t> pairedMicroBatch; // as in Timeline
    std::vector<std::uint16_t> pairedChunk;
    std::vector<std::uint32_t> flow;           // index into flows, or kNoSpan; empty where the graph has no flow
    std::vector<std::int64_t> priority;        // lower first; used on Priority and Turns resources; empty where there is none
    // Of a load its store: where that has not ended when the load's turn comes, the data are still there and the load takes
    // no time, and a store that has not begun is dropped. Of a store the task whose start drops it too, or kNoSpan. Such
    // tasks lie on Priority resources. Empty where nothing is offloaded.
    std::vector<std::uint32_t> partner;
    std::vector<std::uint8_t> endsForwarded;    // of a store, 1: where it runs when its load's turn comes, it ends there. Else 0; empty as `partner`
    // 1 where the task goes on with what the task before it on the same resource began: it is the next there, and waited for.
    // Read on resources that decide while they run; empty where no operation there has several tasks of that kind.
    std::vector<std::uint8_t> continues;
    // predecessors of task i: pred[predBegin[i] .. predBegin[i+1]), each with the lag that starts at its end;
    // a negative lag lets the task start before its predecessor ends
    std::vector<std::uint32_t> predBegin, pred, lagClass;
    // a topological order of the tasks, resource order included; not read where a resource decides while it runs
    std::vector<PassStep> steps;
    std::vector<Resource> resources;
    // by class
    std::vector<Nanoseconds> durations;
    std::vector<Nanoseconds> lags;
    // shared links
    std::vector<Flow> flows;
    std::vector<double> linkCapacity;          // bytes/s, one entry a direction of a shared link
    // which topology this is, for builders that reuse one; 0 = unknown
    std::uint64_t fingerprint = 0;

    [[nodiscard]] std::size_t taskCount() const { return kind.size(); }
};

/// "stage 3: backward of micro-batch 5", for messages.
[[nodiscard]] std::string describe(const TaskGraph &graph, std::uint32_t task);

/// Fills `steps` of a graph whose resources are all of fixed order; call it after any change of topology. Tasks that do
/// not wait for each other come side by side, so that the processor can overlap them. Errors: Internal where tasks wait for each other in
/// a circle, naming one that cannot start and what it waits for.
[[nodiscard]] Expected<void> sortTopologically(TaskGraph &graph);

} // namespace trainyard
