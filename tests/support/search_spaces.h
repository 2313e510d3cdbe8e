#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Search spaces by hand: axes with the values that a test or a benchmark wants, around any plan.

#include "core/planner/space/space.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::test {

/// Whose own value is the one with which the plan is as it is; it is added in front where it is not among them.
template <class Value, class Get, class Set>
Axis axisOf(const Plan &base, std::string id, std::string key, const std::vector<Value> &values, Get get, Set set)
{
    Axis axis { id, { std::move(key) }, id, {}, 0 };
    std::vector<Value> all = values;
    if (std::find(all.begin(), all.end(), get(base)) == all.end())
        all.insert(all.begin(), get(base));
    for (const Value &value : all) {
        if (value == get(base))
            axis.base = std::uint16_t(axis.values.size());
        axis.values.push_back({ std::to_string(axis.values.size()), [=](Plan &plan) { set(plan, value); } });
    }
    return axis;
}

#define TRAINYARD_AXIS(name, key, type, member)                                                                        \
    inline Axis name(const Plan &base, const std::vector<type> &values)                                                \
    {                                                                                                                  \
        return axisOf<type>(                                                                                           \
            base, #name, key, values, [](const Plan &p) { return p.member; }, [](Plan &p, type v) { p.member = v; });  \
    }
TRAINYARD_AXIS(tensorAxis, "parallelism.tensor", int, parallelism.tensor)
TRAINYARD_AXIS(pipelineAxis, "parallelism.pipeline", int, parallelism.pipeline)
TRAINYARD_AXIS(contextAxis, "parallelism.context", int, parallelism.context)
TRAINYARD_AXIS(expertAxis, "parallelism.expert", int, parallelism.expert)
TRAINYARD_AXIS(virtualAxis, "parallelism.virtual_pipeline", int, parallelism.virtualPipeline)
TRAINYARD_AXIS(zeroAxis, "parallelism.zero_stage", int, parallelism.zeroStage)
TRAINYARD_AXIS(microBatchAxis, "workload.micro_batch", int, workload.microBatch)
TRAINYARD_AXIS(batchAxis, "workload.global_batch", int, workload.globalBatch)
TRAINYARD_AXIS(recomputeAxis, "memory.recompute", Recompute, memory.recompute)
TRAINYARD_AXIS(scheduleAxis, "schedule", ScheduleKind, schedule)
#undef TRAINYARD_AXIS

inline Axis sequenceAxis(const Plan &base)
{
    return axisOf<bool>(
        base, "sequence", "parallelism.sequence_parallel", { false, true },
        [](const Plan &p) { return p.parallelism.usesSequenceParallel(); },
        [](Plan &p, bool v) { p.parallelism.sequenceParallel = v; });
}

/// One axis of a schedule and its chunks a stage.
inline Axis orderAxis(const Plan &base, const std::vector<std::pair<ScheduleKind, int>> &values)
{
    Axis axis = axisOf<std::pair<ScheduleKind, int>>(
        base, "order", "schedule", values,
        [](const Plan &p) { return std::pair(p.schedule, p.parallelism.virtualPipeline); },
        [](Plan &p, const std::pair<ScheduleKind, int> &v) {
            p.schedule = v.first;
            p.parallelism.virtualPipeline = v.second;
        });
    axis.keys.push_back("parallelism.virtual_pipeline");
    return axis;
}

} // namespace trainyard::test
