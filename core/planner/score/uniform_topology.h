#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The topology of uniform plans (uniform_plan.h) as the lanes run it, and the order of their work as memory sees it.
//
// It is made from the real graph: every time in it is a mark that says which one it is, so that the graph itself tells
// what each of its classes takes. All that may follow the operations (reduction, step, gather, recomputation) is in it;
// what a plan has not, takes no time.
//
// Pipelines of so many micro-batches that they repeat themselves are one family: the steps of a longer one are those
// of a shorter one with more repetitions, as many more for each round of micro-batches as from the shortest to the
// next.

#include "core/engine/timeline/lane_steps.h"
#include "core/iteration/memory/op_memory.h"
#include "core/planner/score/part_table.h"
#include "core/planner/score/uniform_plan.h"

#include <optional>

namespace trainyard {

/// The order of work as memory sees it: moments that repeat are left out (short_order.h).
struct PlainWork {
    /// of the stages of the first class, then of the next; at most two
    Program order;
    /// [i]: the first of its kind with the same order
    std::vector<std::uint16_t> likeOf;
    /// [i]: of each operation, as OpMemory numbers them
    std::vector<std::vector<std::uint16_t>> effects;
    /// it has operations that are pairs
    bool pairs = false;
    /// of this order on stages of these kinds, however many micro-batches it was made for
    std::uint64_t number = 0;
};

/// One a thread; it keeps families.
class UniformTopologies {
public:
    struct Made {
        /// Times and lags are places in UniformTimes::durations and ::lags. Nothing where run() has to do it.
        std::optional<LaneSteps> steps;
        /// the schedule cannot be built: run() would not run it
        bool isRefused = false;
    };
    [[nodiscard]] Made topology(const Workload &workload, const UniformFrame &frame);
    /// Of a frame whose schedule can be built.
    [[nodiscard]] const PlainWork &work(const Workload &workload, const UniformFrame &frame, bool isRecomputing);
    void clear();

private:
    struct Family {
        /// next empty: they are no family
        std::optional<LaneSteps> shortest, next;
    };
    [[nodiscard]] const Family &family(const Workload &workload, const UniformFrame &frame);

    PartTable<Family> m_families;
    /// of every number of micro-batches; empty: they differ
    PartTable<std::optional<PlainWork>> m_familyWork;
    PartTable<PlainWork> m_work;
};

} // namespace trainyard
