#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The parts that a score is made of, each worked out by the rooms that evaluate a whole plan, for one combination of
// the axes that it depends on (score_axes.h). Whatever a part finds wrong holds for every candidate with that
// combination. Plain values.

#include "core/engine/schedule/traits.h"
#include "core/evaluation/evaluate/closed_form_input.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/placement/resolve.h"
#include "core/iteration/placement/shard_exchange.h"
#include "core/planner/score/least_time.h"
#include "core/planner/score/order_walk.h"
#include "core/planner/score/reasons.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace trainyard {

/// Of times that are summed up before operations are rounded to whole nanoseconds, what the timeline has at least.
inline constexpr double kOfRounded = 1 - 1e-6;
/// operations of an order that is made for a part
inline constexpr std::int64_t kMostWalked = 65'536;

/// How many micro-batches an iteration has, all pipelines together.
struct BatchPart {
    /// a reason; 0: nothing
    std::uint16_t wrong = 0;
    int microBatches = 1;
};

struct ShapePart {
    std::uint16_t wrong = 0;
    /// workbench.h
    bool isSimple = false;
    std::shared_ptr<const StackSpec> stack;
};

struct PlacesPart {
    std::uint16_t wrong = 0;
    /// nothing else is open, and pipelines wait for nobody
    bool isAlone = true;
    /// its chunks are the order's
    Layout layout;
    /// micro-batches of a pipeline
    int most = 1, fewest = 1;
};

/// The layers of the stages and how they are worked on, whatever a micro-batch takes.
struct OrderPart {
    std::uint16_t wrong = 0;
    /// where a pipeline has a number of micro-batches that the schedule does not take
    std::uint16_t wrongCount = 0;
    const ScheduleTraits *schedule = nullptr;
    /// parts can be put together: each token of a micro-batch goes with all others, and no device fills the memory that
    /// it has
    bool isShared = false;
    /// [stage][chunk]
    std::vector<std::vector<StageChunk>> chunks;
    /// stages; those of a kind follow each other
    std::vector<int> firstOfKind;
    /// [stage]
    std::vector<int> kindOf;
    /// as Chain has it
    std::vector<std::vector<int>> forwardsBefore;
};

/// The order itself, by the number of micro-batches.
struct WalkPart {
    std::uint16_t wrong = 0;
    /// its moments are those of the order, else some that every order has
    bool isExact = false;
    /// [kind]
    std::vector<MemoryMoments> moments;
};

/// What lies on a GPU of each kind of stage without any micro-batch, bytes.
struct HeldPart {
    struct Kind {
        /// allocated, and beside any allocator
        std::int64_t peak = 0, beside = 0;
        double capacity = 1;
    };
    std::vector<Kind> kinds;

    /// Of the fullest GPU with so many bytes more on each kind; empty: none.
    [[nodiscard]] double fill(const StackSpec &stack, const std::vector<double> &live) const;
};

/// What micro-batches add to it.
struct KeptPart {
    std::vector<HeldWeights> kinds;
    bool isRecomputing = false, recomputesLast = false;
};

/// What each kind of stage does at the end of an iteration.
struct EndsPart {
    std::uint16_t wrong = 0;
    /// of shards: between or within operations their times go by it
    ShardExchange exchange = ShardExchange::Once;
    int zeroStage = 0;
    /// without chunks
    std::vector<StageCosts> kinds;
};

/// One micro-batch on each kind of stage.
struct WorkPart {
    FormPipeline form;
    /// [kind]: of whole stages, and of their chunks one by one
    std::vector<HidingWork> formHiding, hiding;
    LeastTime least;
    /// nanoseconds of an iteration
    double overhead = 0;
    /// GPU-seconds at least of a micro-batch, all stages together
    double computing = 0;
};

/// For so many micro-batches.
struct TimePart {
    /// seconds, without the end of the iteration
    double form = 0;
    /// of LeastTime
    std::vector<double> ends;
};

[[nodiscard]] BatchPart batchPart(const Plan &plan, Reasons &reasons);
/// `errors`: all that resolve() finds; `stack` is that of the plan's names.
[[nodiscard]] ShapePart shapePart(
    const Plan &plan, const Errors &errors, std::shared_ptr<const StackSpec> stack, Reasons &reasons);
/// Workloads from here on have a plan that has no fault of batch or shape.
[[nodiscard]] PlacesPart placesPart(WorkloadInTurn &turns, Reasons &reasons);
/// `at`: the layout of the places, whose chunks are filled in.
[[nodiscard]] OrderPart orderPart(WorkloadInTurn &turns, const Layout &at, Reasons &reasons);
[[nodiscard]] WalkPart walkPart(
    const OrderPart &order, int microBatches, bool isRecomputing, bool recomputesLast, Reasons &reasons);
/// So many micro-batches are walked instead; more hold no more.
[[nodiscard]] int walkedMicroBatches(const OrderPart &order, int microBatches);
/// These four with the layout of the places and the chunks of the order; `coster` is the workload's.
[[nodiscard]] HeldPart heldPart(const Workload &workload, const OrderPart &order);
[[nodiscard]] KeptPart keptPart(const Workload &workload, const OrderPart &order);
[[nodiscard]] EndsPart endsPart(
    const Workload &workload, StageCoster &coster, const OrderPart &order, Reasons &reasons);
[[nodiscard]] WorkPart workPart(const Workload &workload, StageCoster &coster, const OrderPart &order);
[[nodiscard]] TimePart timePart(const WorkPart &work, const OrderPart &order, int microBatches);

} // namespace trainyard
