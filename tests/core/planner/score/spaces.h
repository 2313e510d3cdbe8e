#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Spaces written down by hand, axis by axis, for tests and benchmarks of the rooms that score candidates.

#include "core/planner/space/space.h"

#include <string>
#include <utility>
#include <vector>

namespace spaces {

using namespace trainyard;

/// Values of one key; the first is the plan's own where the plan has none of them (its value is set, too).
template <class Value, class Set>
Axis axis(const std::string &id, const std::string &key, const std::vector<Value> &values, Set set)
{
    Axis made { id, { key }, id, {}, 0 };
    for (const Value &value : values)
        made.values.push_back({ {}, [set, value](Plan &plan) { set(plan, value); } });
    return made;
}

template <class Value, class Part> Axis parallel(const std::string &key, const std::vector<Value> &values, Part part)
{
    return axis(key, "parallelism." + key, values, [part](Plan &plan, Value value) { plan.parallelism.*part = value; });
}

inline Axis tensor(const std::vector<int> &values)
{
    return parallel("tensor", values, &Parallelism::tensor);
}
inline Axis pipeline(const std::vector<int> &values)
{
    return parallel("pipeline", values, &Parallelism::pipeline);
}
inline Axis context(const std::vector<int> &values)
{
    return parallel("context", values, &Parallelism::context);
}
inline Axis chunks(const std::vector<int> &values)
{
    return parallel("virtual_pipeline", values, &Parallelism::virtualPipeline);
}
inline Axis zeroStage(const std::vector<int> &values)
{
    return parallel("zero_stage", values, &Parallelism::zeroStage);
}
inline Axis sequenceParallel()
{
    return axis("sequence_parallel", "parallelism.sequence_parallel", std::vector<int> { 0, 1 },
        [](Plan &plan, int value) { plan.parallelism.sequenceParallel = value == 1; });
}
inline Axis microBatch(const std::vector<int> &values)
{
    return axis(
        "micro_batch", "workload.micro_batch", values, [](Plan &plan, int value) { plan.workload.microBatch = value; });
}
inline Axis schedule(const std::vector<ScheduleKind> &values)
{
    return axis("schedule", "schedule", values, [](Plan &plan, ScheduleKind value) { plan.schedule = value; });
}
inline Axis recompute(const std::vector<Recompute> &values)
{
    return axis(
        "recompute", "memory.recompute", values, [](Plan &plan, Recompute value) { plan.memory.recompute = value; });
}

/// The plan gets the first value of every axis.
inline SearchSpace space(Plan plan, std::vector<Axis> axes)
{
    for (const Axis &of : axes)
        of.values.front().set(plan);
    return SearchSpace(std::make_shared<const Plan>(std::move(plan)), std::move(axes));
}

} // namespace spaces
