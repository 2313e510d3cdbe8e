// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/closed_form_input.h"

#include "core/engine/schedule/traits.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/cost/wan/wan_traffic.h"
#include "core/iteration/memory/in_flight_room.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

/// All pipelines send at once: a link that is full passes each its share.
double sharedSerialization(const Workload &workload, const BoundaryTimes &b, double serialization)
{
    const double capacity = gbitsPerSecond(workload.plan->cluster.wanLinks[std::size_t(b.wanLink)].capacityGbps).value;
    return std::max(serialization, workload.layout.data * (b.bytes[0] + b.bytes[1]) / 2 / capacity);
}

/// Micro-batches that a stage may hold at once: the measurements' word, else the schedule's habit, else what memory has
/// room for.
std::vector<double> inFlightOf(const Workload &workload, int stages)
{
    const ScheduleTraits &schedule = traitsOf(*workload.plan);
    const StageSource &source = workload.source;
    std::vector<double> most;
    if (schedule.room == RoomUse::RunTime && source.hasMemory) {
        for (const int room : inFlightRoom(workload, kWorkConservingShare).microBatches)
            most.push_back(std::max(1, room));
        return most;
    }
    if (source.inFlight.empty() && schedule.decidesAtRunTime())
        return most;
    for (int i = 0; i < stages; ++i) {
        double here = schedule.decidesAtRunTime() ? double(std::numeric_limits<int>::max()) : stages - i;
        if (!source.inFlight.empty())
            here = std::min(here, double(source.inFlightAt(i)));
        most.push_back(here);
    }
    return most;
}

/// Inside a datacenter, from stage to stage + 1 as between the two before.
bool isLikeBoundaryBefore(const Workload &workload, const PipelineClass &pipelines, int stage)
{
    const auto at = [&](int of) { return pipelines.locations[std::size_t(of)]; };
    if (at(stage - 1) != at(stage) || at(stage) != at(stage + 1))
        return false;
    const Reach reach = reachBetween(workload, pipelines, stage, stage + 1);
    return reach != Reach::Wan && reach == reachBetween(workload, pipelines, stage - 1, stage);
}

FormStage formStage(const StageCosts &costs)
{
    FormStage times;
    for (const ChunkCost &chunk : costs.chunks) {
        times.forward += chunk.forward.total().value;
        times.backward += (chunk.inputGrad.total() + chunk.weightGrad.total()).value;
        times.recompute += chunk.recompute.total().value;
    }
    return times;
}

} // namespace

ClosedFormInput closedFormInput(
    const Workload &workload, const PipelineClass &pipelines, StageCoster &coster, bool hasEnds)
{
    std::vector<WanLinkUse> links(workload.plan->cluster.wanLinks.size());
    const int count = workload.degrees.pipeline;
    ClosedFormInput result;
    FormPipeline &pipeline = result.pipeline;
    pipeline.microBatches = pipelines.microBatches;
    pipeline.chunks = workload.degrees.programChunks();
    pipeline.cell = pipelines.cellMembers;
    pipeline.inFlight = inFlightOf(workload, count);
    pipeline.recomputesLastStage = workload.stack.recomputesLastStage && !traitsOf(*workload.plan).recomputesApart();
    pipeline.stages.reserve(std::size_t(count));
    pipeline.boundaries.reserve(std::size_t(count));
    result.kinds.reserve(3); // most often the first stage, the last one, and all others
    for (int stage = 0; stage < count; ++stage) {
        if (stage == 0 || !isLikeStageBefore(workload, stage)) {
            result.kinds.push_back({ stage, coster.wholeStage(pipelines, stage, hasEnds) });
            pipeline.stages.push_back(formStage(result.kinds.back().costs));
        } else {
            pipeline.stages.push_back(FormStage(pipeline.stages.back()));
        }
        if (stage + 1 < count) {
            if (stage > 0 && isLikeBoundaryBefore(workload, pipelines, stage)) {
                pipeline.boundaries.push_back(FormBoundary(pipeline.boundaries.back()));
                continue;
            }
            const BoundaryTimes b =
                boundaryTimes(workload, pipelines, stage, stage + 1, coster.site(pipelines, stage), links);
            const double serialization = toSeconds(b.serialization[0] + b.serialization[1]).value / 2
                * (b.isWan ? pipelines.cellMembers : 1); // in turns: s/Dc
            const double scatter = toSeconds(b.scatter[0] + b.scatter[1] + b.gather[0] + b.gather[1]).value / 2;
            pipeline.boundaries.push_back({ b.isWan ? sharedSerialization(workload, b, serialization) : serialization,
                toSeconds(b.latency[0]).value, scatter, b.isWan });
        }
    }
    return result;
}

FormTime formTime(const ScheduleTraits &schedule, const FormPipeline &pipeline)
{
    return schedule.form      ? schedule.form(pipeline)
        : pipeline.chunks > 1 ? interleavedTime(pipeline)
                              : inFlightLimitedTime(pipeline);
}

Seconds shownAtTheEnd(const SyncAndStepTimes &times)
{
    return toSeconds(times.reduce - times.reduceEarly + times.optimizer + times.gather);
}

} // namespace trainyard
