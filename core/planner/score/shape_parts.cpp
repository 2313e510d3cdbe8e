// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/validate.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/placement/location_book.h"
#include "core/iteration/placement/place.h"
#include "core/iteration/placement/ranks.h"
#include "core/planner/score/parts.h"
#include "core/planner/score/workbench.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace trainyard {

namespace {

/// Faults of the batch, that a part without its axes must not judge.
bool isOfBatch(const Error &error)
{
    return error.where == "workload.micro_batch" || error.where == "workload.global_batch"
        || error.where == "parallelism.data";
}

std::string sentence(const Error &error)
{
    return error.where + ": " + error.what;
}

} // namespace

BatchPart batchPart(const Plan &plan, Reasons &reasons)
{
    for (const Error &error : validatePlan(plan))
        if (isOfBatch(error))
            return { reasons.of(sentence(error)), 1 };
    return { 0, totalMicroBatches(plan) };
}

ShapePart shapePart(const Plan &plan, const Errors &errors, std::shared_ptr<const StackSpec> stack, Reasons &reasons)
{
    ShapePart part;
    if (errors.empty()) {
        part.isSimple = stack && isSimple(plan);
        part.stack = std::move(stack);
        return part;
    }
    const auto wrong = std::ranges::find_if_not(errors, isOfBatch);
    part.wrong = wrong == errors.end() ? 0 : reasons.of(sentence(*wrong));
    return part;
}

PlacesPart placesPart(WorkloadInTurn &turns, Reasons &reasons)
{
    PlacesPart part;
    Placements open = placements(turns.asked(), OpenReplicas::Most, 2);
    if (open.found.empty()) {
        part.wrong = reasons.of(open.unplaced.unplaced.empty() ? "it cannot be placed" : open.unplaced.unplaced);
        return part;
    }
    part.layout = std::move(open.found.front().layout);
    part.isAlone = open.found.size() == 1 && part.layout.mode == PlacementMode::PipelineAcross
        && std::ranges::all_of(part.layout.classes, [](const PipelineClass &c) { return c.cellMembers == 1; });
    const Workload &workload = turns.at(part.layout);
    if (!hasRunnableShape(workload))
        part.wrong = reasons.of(everyReplicaHasWork(workload) ? "experts do not divide the ranks of a stage"
                                                              : "replicas are left without a micro-batch");
    for (const PipelineClass &pipelines : part.layout.classes) {
        const bool isFirst = &pipelines == part.layout.classes.data();
        part.most = isFirst ? pipelines.microBatches : std::max(part.most, pipelines.microBatches);
        part.fewest = isFirst ? pipelines.microBatches : std::min(part.fewest, pipelines.microBatches);
    }
    part.layout.idle.clear(); // nobody asks for sentences
    // The class with most micro-batches stands for all.
    std::ranges::stable_sort(part.layout.classes, std::greater {}, &PipelineClass::microBatches);
    return part;
}

OrderPart orderPart(WorkloadInTurn &turns, const Layout &at, Reasons &reasons)
{
    OrderPart part;
    const Requested &asked = turns.asked();
    const ScheduleTraits &schedule = traitsOf(*asked.plan);
    const Degrees &degrees = asked.degrees;
    part.schedule = &schedule;
    part.isShared = !schedule.isSliced() && schedule.room != RoomUse::RunTime;
    if (auto chunks = checkChunks(schedule, schedule.isSliced() ? 1 : degrees.programChunks()); !chunks)
        part.wrong = reasons.of(sentence(chunks.error()));
    else if (!schedule.stages.accepts(degrees.pipeline))
        part.wrong = reasons.of(
            std::to_string(degrees.pipeline) + " stages under " + schedule.label + ", " + schedule.stages.why);
    if (part.wrong)
        return part;
    part.wrongCount = reasons.of(std::string("the micro-batches of a pipeline do not suit ") + schedule.label
        + ", which " + schedule.microBatches.why);
    part.chunks =
        splitLayers(asked.model, degrees.pipeline, degrees.chunks, schedule.placement, asked.plan->placement.layers);
    Layout layout = at;
    layout.chunks = part.chunks;
    const Workload &workload = turns.at(std::move(layout));
    for (int stage = 0; stage < degrees.pipeline; ++stage) {
        if (stage == 0 || !isLikeStageBefore(workload, stage))
            part.firstOfKind.push_back(stage);
        part.kindOf.push_back(int(part.firstOfKind.size()) - 1);
    }
    if (schedule.repeatsAfter == 0)
        return part;
    const int many = schedule.repeatsAfter * degrees.pipeline;
    if (const auto program = makeProgram(schedule, { degrees.pipeline, many, degrees.programChunks(), {} }))
        for (int device = 0; device < degrees.pipeline; ++device)
            part.forwardsBefore.push_back(forwardsBeforeGradients(*program, device));
    return part;
}

int walkedMicroBatches(const OrderPart &order, int microBatches)
{
    const ScheduleTraits &schedule = *order.schedule;
    if (schedule.orderedBy() != OrderedBy::Shape || schedule.room != RoomUse::None)
        return 1;
    const int devices = int(order.chunks.size()), chunks = int(order.chunks.front().size());
    if (schedule.repeatsAfter > 0)
        microBatches = std::min(microBatches, schedule.repeatsAfter * devices);
    return std::int64_t(microBatches) * devices * chunks <= kMostWalked ? microBatches : 1;
}

WalkPart walkPart(const OrderPart &order, int microBatches, bool isRecomputing, bool recomputesLast, Reasons &reasons)
{
    WalkPart part;
    const ScheduleTraits &schedule = *order.schedule;
    const int devices = int(order.chunks.size()), chunks = int(order.chunks.front().size());
    Program program;
    if (schedule.orderedBy() == OrderedBy::Shape && schedule.room == RoomUse::None
        && std::int64_t(microBatches) * devices * chunks <= kMostWalked) {
        auto made = makeProgram(schedule, { devices, microBatches, chunks, {} });
        if (!made) {
            if (microBatches > 1)
                part.wrong = reasons.of(sentence(made.error()));
            program = orderOfOne(schedule, devices, chunks);
        } else {
            program = std::move(*made);
            part.isExact = true;
        }
    } else {
        program = orderOfOne(schedule, devices, chunks);
    }
    if (recomputesLast)
        for (std::vector<Op> &ops : program.order)
            for (Op &op : ops)
                op.recomputes = makesGradient(op.kind);
    std::vector<FullMoments> full(order.firstOfKind.size(), FullMoments(chunks));
    for (int device = 0; device < devices; ++device)
        full[std::size_t(order.kindOf[std::size_t(device)])].add(program, device, isRecomputing);
    for (const FullMoments &ofKind : full)
        part.moments.push_back(ofKind.moments());
    return part;
}

} // namespace trainyard
