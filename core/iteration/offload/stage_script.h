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
    Nanoseconds ready = 0, due = 0; // start and end where every activation stays; recomputation included
    Nanoseconds gradient =
        0; // of a backward: when the next virtual stage began its own of this micro-batch; 0: at once
};

/// A stage of a class of pipelines.
struct StageScript {
    std::vector<ScriptedOp> ops; // in the order in which they ran
    std::vector<OpTimes> times; // [chunk]
    int microBatches = 1;
    bool isOrderKnown = true; // which operation comes next is known beforehand
    bool splitsBackward = false; // input gradients are cut, whole backwards are not
};

/// Scripts of all stages, [class][stage], from the timeline of the plan that keeps its activations.
[[nodiscard]] std::vector<std::vector<StageScript>> stageScripts(const IterationCosts &costs, const Timeline &keeping);

/// The script up to the operation with which `backwards` of its backwards have run.
[[nodiscard]] StageScript beginningOf(const StageScript &script, int backwards);

} // namespace trainyard
