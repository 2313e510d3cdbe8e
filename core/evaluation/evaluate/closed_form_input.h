#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The pipelines of a class as the closed forms see them: a time for each stage and boundary, and of each kind of stage
// what it costs. Estimates and whoever shares their parts between many plans (score/) make an iteration of it.

#include "core/engine/schedule/closed_forms.h"
#include "core/iteration/cost/stage_costs.h"
#include "core/iteration/placement/resolve.h"

#include <vector>

namespace trainyard {

class StageCoster;
struct ScheduleTraits;

struct ClosedFormInput {
    FormPipeline pipeline;
    struct Kind {
        /// the first one of that kind
        int stage = 0;
        /// its chunks summed, without what crosses datacenters
        StageCosts costs;
    };
    /// in order; a kind's stages follow each other
    std::vector<Kind> kinds;
};

/// `coster` is the workload's. `hasEnds`: kinds have what follows their chunks.
[[nodiscard]] ClosedFormInput closedFormInput(
    const Workload &workload, const PipelineClass &pipelines, StageCoster &coster, bool hasEnds = true);

/// By the schedule's own form, or that of the plain one with as many chunks.
[[nodiscard]] FormTime formTime(const ScheduleTraits &schedule, const FormPipeline &pipeline);

/// Reduction, optimizer and gather that nothing hides.
[[nodiscard]] Seconds shownAtTheEnd(const SyncAndStepTimes &times);

} // namespace trainyard
