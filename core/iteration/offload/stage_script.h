#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What each stage did and when in an iteration that keeps every activation: the timetable that a stage which offloads
// must keep to. Pure functions.

#include "core/engine/timeline/timeline.h"
#include "core/iteration/times/pipeline_costs.h"

#include <vector>

namespace trainyard {

struct ScriptedOp {
    Op op;
    /// start and end where every activation stays; recomputation included
    Nanoseconds ready = 0, due = 0;
    Nanoseconds gradient =
        0; // of a backward: when the next virtual stage began its own of this micro-batch; 0: at once
};

/// A stage of a class of pipelines.
struct StageScript {
    /// in the order in which they ran
    std::vector<ScriptedOp> ops;
    /// [chunk]
    std::vector<OpTimes> times;
    int microBatches = 1;
    /// which operation comes next is known beforehand
    bool isOrderKnown = true;
    /// input gradients are cut, whole backwards are not
    bool splitsBackward = false;
};

/// Scripts of all stages, [class][stage], from the timeline of the plan that keeps its activations.
[[nodiscard]] std::vector<std::vector<StageScript>> stageScripts(const IterationCosts &costs, const Timeline &keeping);

/// The script up to the operation with which `backwards` of its backwards have run.
[[nodiscard]] StageScript beginningOf(const StageScript &script, int backwards);

} // namespace trainyard
