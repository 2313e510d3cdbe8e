// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/iteration_costs/stack_order.h"

#include "core/engine/schedule/traits.h"

namespace trainyard {

namespace {

/// Checkpointing frameworks recompute also where the activations are still there.
void recomputeEverywhere(Program &program)
{
    for (auto &device : program.order) {
        for (Op &op : device)
            op.recomputes = op.kind == OpKind::Backward || op.kind == OpKind::InputGrad;
    }
}

} // namespace

Expected<Program> programOf(const Workload &workload, const ScheduleShape &shape, const ScheduleTimes &times)
{
    const ScheduleTraits &schedule = traitsOf(*workload.plan);
    auto program = makeProgram(schedule, shape, times);
    if (program && workload.stack.recomputesLastStage && !schedule.recomputesApart()
        && !workload.plan->heterogeneity.isLayered())
        recomputeEverywhere(*program);
    return program;
}

} // namespace trainyard
