// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/catalogue/stack_schedules.h"

namespace trainyard::detail {

namespace {

constexpr int kMostMicroBatch = 16;

/// Those that the plan's stack has. With measured times the chunks of a stage stay.
void addSchedule(AxisList &axes, const Scope &scope)
{
    const std::vector<std::string> &has = schedulesOf(scope.plan.stack.name);
    const int chunks = degreesOf(scope.plan).chunks;
    std::set<ScheduleKind> without;
    for (const ScheduleTraits *schedule : allSchedules()) {
        const bool isKnown = has.empty() || std::ranges::find(has, toString(schedule->kind)) != has.end();
        const int own = schedule->chunksPerStage(scope.plan.parallelism.virtualPipeline);
        if (!isKnown || (!scope.hasLayers && (own != chunks || !schedule->chunks.accepts(own))))
            without.insert(schedule->kind);
    }
    std::vector<KeyValue> values;
    for (const ScheduleTraits *schedule : allSchedules())
        if (!without.contains(schedule->kind) || schedule->kind == scope.plan.schedule)
            values.emplace_back(double(schedule->kind));
    axes.addValues(rowOf(&Plan::schedule), std::move(values),
        [](const KeyRow &, KeyValue kind) { return std::string(traitsOf(static_cast<ScheduleKind>(*kind)).label); });
}

} // namespace

void addScheduleAxes(AxisList &axes, const Scope &scope)
{
    addSchedule(axes, scope);
    if (!scope.hasLayers)
        return;
    std::set<int> sizes;
    for (const int b : powersOfTwo(kMostMicroBatch))
        if (scope.plan.workload.globalBatch % b == 0)
            sizes.insert(b);
    axes.addNumbers(rowOf(&WorkloadSpec::microBatch), sizes);
}

} // namespace trainyard::detail

std::string trainyard::schedulesLeftOut(const Plan &plan)
{
    constexpr int kMostNamed = 6;
    const std::vector<std::string> &has = schedulesOf(plan.stack.name);
    std::string names;
    int count = 0;
    for (const ScheduleTraits *schedule : allSchedules()) {
        const bool isKnown = std::ranges::find(has, toString(schedule->kind)) != has.end();
        if (!isKnown && schedule->kind != plan.schedule && ++count <= kMostNamed)
            names += (names.empty() ? "" : ", ") + std::string(schedule->label);
    }
    if (has.empty() || count == 0)
        return {};
    const bool isWithoutTurns = !plan.cluster.wanLinks.empty() && plan.wan.sharing != WanSharing::Temporal
        && !takesTurnsOnTheWan(plan.stack.name);
    return "Schedules that " + plan.stack.name + " does not have are not tried: " + names
        + (count > kMostNamed ? " and " + std::to_string(count - kMostNamed) + " more" : "")
        + (isWithoutTurns ? "; nor are pipelines that take turns on the WAN, which the plan itself may ask for" : "");
}
