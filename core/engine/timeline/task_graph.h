#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the one simulator runs: tasks with predecessors on resources, as arrays. Made by a GraphBuilder. Tasks are
// numbered resource by resource; on a fixed-order resource the number is the order, so the previous task of the same
// resource is task - 1 and the spans of a track come out sorted. Topology (everything but `table`) depends only on
// shapes, so that a change of bandwidth or of a GPU reuses it: durations, lags, flows, bytes and memory are looked up
// by class.

#include "core/base/error.h"
#include "core/engine/timeline/event_topology.h"
#include "core/engine/timeline/timeline.h"

#include <string>
#include <vector>

namespace trainyard {

class RunTimePolicy;

/// FixedOrder: by number, each waited for. Priority: the first by priority of those that can start; one that is freed
/// chooses among what could start before that instant (queues of moves: what asks only then goes behind what has
/// waited). Turns: by priority too, but once all that can start at that instant is known (channels that members share:
/// with equal round trips and equal turns, turns end when other members are ready to begin, and such ties decide whole
/// per cents). ByPolicy: as the resource's policy chooses.
enum class Discipline : std::uint8_t { FixedOrder, Priority, Turns, ByPolicy };

struct Resource {
    Discipline discipline = Discipline::FixedOrder;
    /// lives as long as the program
    const RunTimePolicy *policy = nullptr;
    /// that the policy keeps; 0 = none
    std::uint32_t limit = 0;
    /// where its spans are drawn; first/last are its tasks
    Track track;
};

/// A task that moves bytes over shared links instead of lasting a fixed time: its rate is its max-min fair share. Flows
/// that meet on a link count their rates in one unit; a link's own unit may be another, which `takes` says (memory that
/// is read and written for a byte on the wire, the multiprocessors under a kernel at full speed).
struct Flow {
    double bytes = 0;
    /// bytes/s; what the flow can take alone (TCP, node pair, NIC)
    double rateCap = 0;
    /// how many equal flows it stands for (symmetric pipelines)
    double weight = 1;
    /// indices into ClassTable::linkCapacity
    std::vector<std::uint32_t> links;
    /// of each of them for one unit of its rate, above 0; empty: 1 everywhere
    std::vector<double> takes;
    /// index into ClassTable::holds, or kNoSpan
    std::uint32_t hold = kNoSpan;
};

/// Of its i-th link at full speed, in the unit of the link.
[[nodiscard]] inline double demandOf(const Flow &flow, std::size_t i)
{
    const double demand = flow.weight * flow.rateCap;
    return flow.takes.empty() ? demand : demand * flow.takes[i];
}

/// Part of a link that is not there while a flow runs that names this hold: however slow that flow is, and once however
/// many do (multiprocessors under the kernels of an exchange).
struct Hold {
    std::uint32_t link = 0;
    /// in the unit of the link
    double amount = 0;
};

/// Everything that is looked up by class. The contributors to a graph append to it in a fixed order, so that a second
/// pass over the same shape writes new numbers into the same places.
struct ClassTable {
    /// [class]
    std::vector<Nanoseconds> durations;
    /// [class]: index into flows, or kNoSpan
    std::vector<std::uint32_t> flow;
    /// [class]
    std::vector<TaskClass> about;
    /// the first is 0
    std::vector<Nanoseconds> lags;
    std::vector<Flow> flows;
    std::vector<double>
        linkCapacity; // bytes/s, one entry a direction of a shared link; empty: no link can be a bottleneck
    std::vector<Hold> holds;
    std::uint64_t version =
        0; // another one since each clear(); 0 = unknown. Timelines take `about` over once a version

    /// To be written anew.
    void clear();
    std::uint32_t add(WorkKind kind, Nanoseconds duration, double bytes = 0, std::uint32_t flowIndex = kNoSpan)
    {
        durations.push_back(duration);
        flow.push_back(flowIndex);
        about.push_back({ kind, kNoSpan, bytes, {}, {} });
        return static_cast<std::uint32_t>(durations.size()) - 1;
    }
    std::uint32_t addLag(Nanoseconds lag)
    {
        lags.push_back(lag);
        return static_cast<std::uint32_t>(lags.size()) - 1;
    }
};
inline constexpr std::uint32_t kNoLag = 0;

/// What the single pass reads of one task: a stream in topological order instead of an access to each array.
struct PassStep {
    /// set in `task` where there are further predecessors
    static constexpr std::uint32_t kHasMore = 0x80000000u;
    std::uint32_t task = 0;
    std::uint32_t resource = 0, taskClass = 0;
    std::uint32_t
        pred = 0,
        lag = 0; // the first predecessor and 1 + its lag; lag 0 where there is none, or it counts from its start
};

struct TaskGraph {
    // per task
    /// its class's
    std::vector<WorkKind> kind;
    /// its class's index into flows, or kNoSpan; empty where no task is a flow
    std::vector<std::uint32_t> flow;
    std::vector<std::uint32_t> resource;
    std::vector<std::uint32_t> taskClass;
    std::vector<std::int32_t> microBatch;
    std::vector<std::uint16_t> chunk;
    /// as in Timeline
    std::vector<std::int32_t> pairedMicroBatch;
    std::vector<std::uint16_t> pairedChunk;
    /// as in Timeline
    std::vector<std::uint32_t> origin;
    /// lower first; used on Priority and Turns resources; empty where there is none
    std::vector<std::int64_t> priority;
    // Cancelling, on Priority resources; empty where nothing is. A task that begins before the one that it overtakes
    // has ended finds what that was to bring away still there: both are in vain, the other does not begin any more or
    // ends at once.
    /// or kNoSpan
    std::vector<std::uint32_t> overtakes;
    /// 1 where another may overtake it
    std::vector<std::uint8_t> mayStop;
    // 1 where the task goes on with what the task before it on the same resource began: it is the next there, and
    // waited for. Read on resources with a policy; empty where no operation there has several tasks.
    std::vector<std::uint8_t> continues;
    // predecessors of task i: pred[predBegin[i] .. predBegin[i+1]), each with the lag that starts at its end or, with
    // kFromStart, at its start; a negative lag lets the task start before its predecessor ends
    static constexpr std::uint32_t kFromStart = 0x80000000u;
    std::vector<std::uint32_t> predBegin, pred, lag;
    /// some lag counts from a start
    bool waitsForStarts = false;
    // a topological order of the tasks, resource order included; not read where a resource decides while it runs
    std::vector<PassStep> steps;
    std::vector<Resource> resources;
    /// empty where all orders are fixed
    EventTopology events;
    ClassTable table;
    // which topology this is, for builders that reuse one; 0 = unknown
    std::uint64_t fingerprint = 0;

    [[nodiscard]] std::size_t taskCount() const { return resource.size(); }
    [[nodiscard]] bool isFlow(std::uint32_t task) const { return !flow.empty() && flow[task] != kNoSpan; }
};

/// "stage 3: backward of micro-batch 5", for messages.
[[nodiscard]] std::string describe(const TaskGraph &graph, std::uint32_t task);

/// Fills `steps` of a graph whose resources are all of fixed order. Tasks that do not wait for each other come side by
/// side, so that the processor can overlap them. Errors: Internal where tasks wait for each other in a circle, naming
/// one that cannot start and what it waits for.
[[nodiscard]] Expected<void> sortTopologically(TaskGraph &graph);

} // namespace trainyard
