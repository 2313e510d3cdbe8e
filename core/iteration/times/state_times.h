#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the graph builder needs to know of states that lie off the GPU: the optimizer step cut into the tasks of its
// copies, processors and drives, and what moves layer by layer beside the operations. Their tasks have rows of their
// own, begin with the operation that they belong to, and nothing waits for them: what they cost is in that operation's
// time already. Plain values; core/iteration/iteration_costs/state_rows and core/iteration/iteration_costs/step_rows
// make them.

#include "core/engine/timeline/timeline.h"

#include <array>
#include <cstdint>
#include <vector>

namespace trainyard {

/// What moves beside one operation of one chunk, alone on its way and no longer than the operation. 0: nothing.
struct StateMoves {
    enum Kind : std::uint8_t {
        InForward,
        InBackward,
        OutBackward,
        OutInputGrad,
        OutWeightGrad
    }; // weights in, gradients out
    std::array<Nanoseconds, 5> time {};
    bool operator==(const StateMoves &) const = default;
};

struct StepTask {
    WorkKind kind = WorkKind::CpuOptimizer;
    Nanoseconds duration = 0;
    std::uint32_t after =
        kNoSpan; // number of another task, counted over all rows of the step; kNoSpan: begins with the step
    /// from its end to this start; negative: from within it. Only where there is an `after`
    Nanoseconds lag = 0;
    bool operator==(const StepTask &) const = default;
};

struct StepRow { // tasks that follow each other on one copy engine, processor or drive
    Stream stream = Stream::StepCpu;
    std::vector<StepTask> tasks;
    bool operator==(const StepRow &) const = default;
};

struct StepRows {
    std::vector<StepRow> rows;
    [[nodiscard]] std::size_t taskCount() const
    {
        std::size_t count = 0;
        for (const StepRow &row : rows)
            count += row.tasks.size();
        return count;
    }
};

struct StateTimes { // of one class of pipelines; empty where everything lies on the GPU
    /// [device * chunks + chunk]; empty where no layer moves its states
    std::vector<StateMoves> moves;
    /// [device]; empty where the optimizer runs on the GPU alone
    std::vector<StepRows> steps;
    /// A delayed update: the step of the iteration before, from the beginning of this one. Else it begins with the
    /// optimizer task, which waits for it.
    bool runsBeside = false;
    [[nodiscard]] bool isEmpty() const { return moves.empty() && steps.empty(); }
};

} // namespace trainyard
