#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans whose pipelines are equal but for their number of micro-batches and lie in one pool, from the layers of a
// model, with an order of work that the shape alone decides and everything on the GPUs: most of a search's candidates.
// Their stages are of few kinds, and what one stage of a kind takes and holds all of them do, so the real cost and
// memory of one of each are enough. What is not plain goes through run().
//
// A frame is what plans have in common that differ in their sharding, sequence parallelism and recomputation only: the
// placement and which stages and boundaries are alike.

#include "core/iteration/placement/resolve.h"
#include "core/iteration/placement/shard_exchange.h"
#include "core/iteration/times/pipeline_costs.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trainyard {

/// What keeps a plan from being plain, whatever its model and places: one of the groups of keys told here, or a key of
/// whose row that is told (Key::hasOwnWork), which then has another value than its default.
[[nodiscard]] const std::vector<std::function<bool(const Plan &)>> &neverPlain();

struct UniformFrame {
    bool isUniform = false;
    /// nothing can be placed: run() would not run it
    bool isRefused = false;
    Layout layout;
    /// [stage]
    std::vector<std::uint16_t> kindOf;
    /// [kind]: its first stage
    std::vector<std::uint16_t> firstOf;
    /// Of the boundaries between virtual stages: 0 where both lie on one device or it ends a chain, else 1 + its kind.
    /// [virtual stage q]
    std::vector<std::uint16_t> boundaryKind;
    /// [kind]: stages that one lies between
    std::vector<std::array<int, 2>> boundaryOf;
    /// [kind][chunk], where shards are exchanged once a run of micro-batches (ShardExchange::InRuns); else empty.
    std::vector<std::vector<ChunkRuns>> runs;
    /// [class]
    std::vector<int> microBatches;
    /// of all that the topology depends on but the number of micro-batches
    std::uint64_t familyPrint = 0;

    /// Keys that a frame does not depend on, beside `inRuns`; with PartAxes.
    [[nodiscard]] static std::vector<std::string> ignoredKeys();
};

/// Places the plan of the workload at hand, which is left without a layout. `inRuns`: shards are exchanged so.
[[nodiscard]] UniformFrame uniformFrame(WorkloadInTurn &turns, bool inRuns);
/// The program's shape.
[[nodiscard]] ScheduleShape uniformShape(const Workload &workload, int microBatches);

/// What the iteration of a uniform plan takes, by kinds. Kept between calls, so that little is allocated.
struct UniformTimes {
    /// [kind * chunks + chunk]
    std::vector<OpTimes> ops;
    /// [(kind * chunks + forward's) * chunks + backward's]; empty: nothing is paired
    std::vector<Nanoseconds> pairs;
    /// [kind]
    std::vector<SyncAndStepTimes> syncAndStep;
    /// [boundary kind]
    std::vector<BoundaryTimes> boundaries;
    Nanoseconds overhead = 0;
    /// bounds: of an operation or boundary, and of what follows on a stage
    double longest = 0, ends = 0;

    // What tasks are made of, one number each; the first is 0. Filled by list().
    std::vector<Nanoseconds> durations, lags;
    void list();
    /// What is left to know once there are lists.
    [[nodiscard]] UniformTimes listed() const;
    /// False where the iteration might be longer than a timeline.
    [[nodiscard]] bool areShort(const Workload &workload, const UniformFrame &frame) const;
    // Places in the lists
    /// of an operation: forward, backward, input and weight gradient, again
    static constexpr std::uint32_t kParts = 5;
    [[nodiscard]] static std::uint32_t opAt(std::size_t op) { return std::uint32_t(1 + kParts * op); }
    /// of what comes after: reduction, step, gather
    static constexpr std::uint32_t kEndParts = 3;
};

/// By the coster of real plans.
void uniformTimes(const Workload &workload, const UniformFrame &frame, UniformTimes &times);

} // namespace trainyard
