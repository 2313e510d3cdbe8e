#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What there is to know of a schedule besides its order: a row of traits each, written beside its generator. Everything
// outside core/engine/schedule asks here, by what it needs to know, and names no schedule.

#include "core/engine/schedule/closed_forms.h"
#include "core/engine/schedule/program.h"

#include <algorithm>
#include <limits>
#include <span>

namespace trainyard {

/// Numbers that a schedule takes: from `least` on by steps, up to `most`. Of micro-batches both may grow with the
/// stages.
struct CountRule {
    int least = 1, step = 1, most = std::numeric_limits<int>::max();
    int leastPerStage = 0, stepPerStage = 0;
    /// what the schedule does with them: the end of a fault's sentence
    const char *why = "";
    /// what would do; empty: the nearest numbers
    const char *right = nullptr;

    [[nodiscard]] constexpr int leastOf(int stages) const { return std::max(least, leastPerStage * stages); }
    [[nodiscard]] constexpr int stepOf(int stages) const { return std::max(step, stepPerStage * stages); }
    [[nodiscard]] constexpr bool accepts(int count, int stages = 1) const
    {
        return count >= leastOf(stages) && count <= most && (count - leastOf(stages)) % stepOf(stages) == 0;
    }
};

/// What a schedule does with room for more micro-batches than it needs, as far as memory is known: nothing; a list
/// scheduler lays its order by it; forwards are doubled where it is enough for that; devices fill it while they run.
enum class RoomUse : std::uint8_t { None, Order, Doubling, RunTime };

/// What an order of work is made by: the shape alone; the operations' times; also the slices of the tokens, which are
/// cut by times; or what is free while it runs.
enum class OrderedBy : std::uint8_t { Shape, Times, Slices, RunTime };

struct ScheduleTraits {
    ScheduleKind kind;
    /// in the window
    const char *label;
    /// what order it is, for people
    const char *text;
    /// micro-batches in flight at most, in words
    const char *holds;
    /// Longest a device waits between its first and last operation where every stage takes equally long and nothing is
    /// sent; of p stages, m micro-batches and v chunks, with f, b, w a device's forward, input and weight gradient of a
    /// micro-batch (of one copy of the model). Exact for m a multiple of p, at least 2p, and f = b = w. Empty where
    /// nobody has one.
    const char *bubble = "";

    /// Fills the order of a program that has everything else. One of the two: by the shape, or also by the times.
    void (*lay)(Program &program) = nullptr;
    void (*layByTimes)(Program &program, const ScheduleTimes &times) = nullptr;
    /// Per device, the micro-batches that it has in flight and a limit must leave room for; empty where it keeps within
    /// any limit.
    std::vector<int> (*inFlight)(const ScheduleShape &shape) = nullptr;
    /// The iteration as a formula; empty where it has none of its own.
    FormTime (*form)(const FormPipeline &pipeline) = nullptr;

    ChunkPlacement placement = ChunkPlacement::Loop;
    OrderRule rule = OrderRule::Strict;
    CountRule chunks {
        .most = 1, .why = "which has one chunk per stage", .right = "1, or schedule interleaved or breadth-first"
    }; // of layers
    CountRule stages {}, microBatches {};
    /// into input and weight gradients; a device's last operations are the latter
    bool splitsBackward = false;
    /// forwards run together with backwards, kernel by kernel
    bool pairs = false;
    /// no backward before a device's last forward
    bool forwardsFirst = false;
    /// a device has no more forwards open than there are stages from it to the last
    bool holdsStagesBehind = false;
    /// With so many micro-batches a stage or more, further ones only repeat the order: what a device does before its
    /// first gradient and what it has in flight at the start of any operation occur with that many already. 0: nobody
    /// knows.
    int repeatsAfter = 0;
    RoomUse room = RoomUse::None;
    const char *beyondOneRound =
        ""; // what has to be said of more micro-batches than stages: where its paper leaves the order open

    /// Copies of the model that one pipeline holds.
    [[nodiscard]] constexpr int copies() const { return placement == ChunkPlacement::Bidirectional ? 2 : 1; }
    [[nodiscard]] constexpr bool isSliced() const { return placement == ChunkPlacement::Slices; }
    [[nodiscard]] constexpr bool isLoop() const { return placement == ChunkPlacement::Loop; }
    [[nodiscard]] constexpr bool decidesAtRunTime() const { return rule != OrderRule::Strict; }
    /// Recomputations are operations of their own, and the last stage has none.
    [[nodiscard]] constexpr bool recomputesApart() const { return rule == OrderRule::WorkConserving; }
    /// Any number of chunks, dealt in a loop: several micro-batches in a row go through the same one.
    [[nodiscard]] constexpr bool takesSeveralChunks() const { return isLoop() && chunks.most > 1; }
    [[nodiscard]] constexpr OrderedBy orderedBy() const
    {
        return decidesAtRunTime() ? OrderedBy::RunTime
            : isSliced()          ? OrderedBy::Slices
            : layByTimes          ? OrderedBy::Times
                                  : OrderedBy::Shape;
    }
    /// Chunks of layers a device holds. Schedules that are made for two take two by themselves where the plan asks for
    /// one, its default; any other number is left for makeProgram to refuse.
    [[nodiscard]] constexpr int chunksPerStage(int virtualPipeline) const
    {
        return virtualPipeline == 1 && !isLoop() && !isSliced() ? 2 : virtualPipeline;
    }
};

/// In the order of ScheduleKind.
[[nodiscard]] std::span<const ScheduleTraits *const> allSchedules();
[[nodiscard]] const ScheduleTraits &traitsOf(ScheduleKind kind);
/// Of the order that a plan runs in: that of its schedule, or layer by layer.
[[nodiscard]] const ScheduleTraits &traitsOf(const Plan &plan);

/// What runs with any shape of one chunk a stage: the way out where another schedule cannot be built.
inline constexpr ScheduleKind kPlainSchedule = ScheduleKind::OneFOneB;
/// `now` where it takes so many chunks a stage or has a number of its own, else one that does.
[[nodiscard]] ScheduleKind scheduleForChunks(ScheduleKind now, int virtualPipeline);

/// BadValue where the schedule does not take so many chunks of layers.
[[nodiscard]] Expected<void> checkChunks(const ScheduleTraits &schedule, int chunks);

} // namespace trainyard
