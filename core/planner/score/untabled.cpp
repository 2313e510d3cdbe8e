// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/score/untabled.h"

#include "core/engine/schedule/traits.h"
#include "core/evaluation/evaluate/estimate.h"
#include "core/facts/plan/jobs.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/layouts/search_times.h"
#include "core/iteration/layouts/shares.h"
#include "core/iteration/memory/layered_memory.h"
#include "core/iteration/memory/stage_memory.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/as_placed.h"
#include "core/iteration/placement/class_workload.h"
#include "core/iteration/placement/location_book.h"
#include "core/iteration/placement/place.h"
#include "core/iteration/placement/ranks.h"
#include "core/iteration/placement/resolve.h"
#include "core/iteration/placement/shard_exchange.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace trainyard {

namespace {

constexpr std::size_t kMostFilled = 4; // placements whose states are looked at one by one

/// What it takes, in tasks of some 40 ns, as measured on the samples: a plan that is resolved; each placement that is
/// found; one that is looked at, with each stage of its classes; a class whose layers and states are dealt together.
constexpr std::int64_t kTasksOfPlan = 250, kTasksOfPlacement = 250, kTasksOfStage = 25, kTasksOfDealing = 750,
                       kTasksOfDealtStage = 80, kTasksOfLayeredClass = 5'000;

/// Of a layout that is dealt and bounded.
std::int64_t tasksOf(const Workload &workload)
{
    const auto classes = std::int64_t(workload.layout.classes.size()), stages = classes * workload.degrees.pipeline;
    return workload.plan->heterogeneity.isLayered() ? kTasksOfLayeredClass * classes
        : sharesOut(*workload.plan)                 ? kTasksOfDealing + kTasksOfDealtStage * stages
                                                    : kTasksOfStage * stages;
}

/// The bound of the only placement, which placements() does not give.
double boundOfOne(const Requested &asked, const Layout &layout)
{
    if (layout.classes.empty())
        return 0;
    const bool isAcross = layout.mode == PlacementMode::PipelineAcross;
    SearchTimes times = searchTimes(asked, isAcross ? layout.data : 1);
    if (!isAcross)
        times.microBatches = times.fewest = totalMicroBatches(*asked.plan) / layout.data;
    double bound = 0;
    for (const PipelineClass &pipelines : layout.classes)
        bound = std::max(bound, boundBlocks(times, blocksOf(pipelines)).seconds);
    return bound;
}

/// Of even shares.
double leastTime(const Requested &asked, const Placements &open)
{
    // Of pipelines across with one mode open those of the least bounds are listed; the engine takes them from the same
    // list.
    double least = std::numeric_limits<double>::infinity();
    for (const PlacedLayout &placed : open.found)
        least = std::min(least, placed.bound);
    return open.found.size() == 1 ? boundOfOne(asked, open.found.front().layout) : least;
}

/// What one micro-batch keeps between its last forward and its first gradient on a stage, whatever the schedule.
LiveBytes keptOfOne(const Workload &workload, int stage)
{
    LiveBytes live;
    if (workload.degrees.copies > 1 || traitsOf(*workload.plan).isSliced()
        || activationsLeaveTo(workload.plan->memory) != ActivationOffload::None)
        return live;
    for (const ChunkMemory &chunk : chunkMemory(workload, stage)) {
        live.activations += chunk.kept;
        live.ends += chunk.ends;
    }
    return live;
}

/// What its states and one micro-batch fill of the fullest GPU.
double leastFillOf(const Workload &workload)
{
    ClassWorkloads views(workload);
    double fill = 0;
    for (int stage = 0; stage < workload.degrees.pipeline; ++stage) {
        if (isLikeStageBefore(workload, stage))
            continue;
        for (const PipelineClass *kind : unlikeClasses(workload, stage)) {
            const Workload &view = views.of(*kind, stage);
            const StageMemory memory =
                stageMemory(view, rankSet(workload, *kind, stage), keptOfOne(view, stage), {}, false);
            fill = std::max(fill, double(memory.device) / double(std::max<std::int64_t>(1, memory.capacity)));
        }
    }
    return fill;
}

/// Of the placements, where they are few enough to look at each, the least that any of them takes and fills, and the
/// first as it is dealt. Those that are dealt boldly may be dealt cautiously, too.
Layout lookAtEach(UntabledScore &score, const Requested &asked, const Placements &open)
{
    Layout first;
    const Plan &plan = *asked.plan;
    const bool isShared = sharesOut(plan), isTwice = dealsTwice(plan), estimatesAreCautious = offloadFreesShares(plan);
    double seconds = std::numeric_limits<double>::infinity(), fill = seconds;
    Workload workload(asked, {});
    const auto look = [&](const Layout &undealt, bool isBold) {
        const auto count = [&] {
            score.tasks += tasksOf(workload);
            if (isShared)
                seconds = std::min(seconds, dealtBound(workload));
            fill = std::min(fill, workload.source.hasMemory ? leastFillOf(workload) : 0);
        };
        std::vector<Layout> sized;
        workload = dealt({ std::move(workload), undealt }, isBold, false, isShared && isBold ? &sized : nullptr);
        count();
        for (Layout &layout : sized) {
            std::swap(workload.layout, layout);
            count();
            std::swap(workload.layout, layout);
        }
    };
    for (const PlacedLayout &placed : open.found) {
        look(placed.layout, true);
        const bool isBold =
            workload.layout.chunks != placed.layout.chunks || (isTwice && plan.heterogeneity.isLayered());
        const bool isFirst = &placed == &open.found.front();
        if (isFirst && !(isBold && estimatesAreCautious))
            first = std::move(workload.layout);
        if (!isBold)
            continue;
        look(placed.layout, false);
        if (isFirst && estimatesAreCautious)
            first = std::move(workload.layout);
    }
    score.leastFill = fill;
    score.leastSeconds = isShared ? seconds : 0;
    return first;
}

/// How many replicas there are says whether each has work and experts find ranks.
bool hasNoShape(const Requested &asked, const Placements &open)
{
    WorkloadInTurn turns(asked);
    return std::ranges::none_of(open.found, [&](const PlacedLayout &placed) {
        Layout layout;
        layout.data = placed.layout.data;
        const Workload &workload = turns.at(std::move(layout));
        return everyReplicaHasWork(workload) && expertsDivideRanks(workload);
    });
}

} // namespace

UntabledScore untabledScore(const PlanPtr &plan, const Catalogue &catalogue)
{
    UntabledScore score;
    if (hasJobs(*plan) || plan->jobGrid)
        return score;
    score.tasks = kTasksOfPlan;
    auto asked = resolve(plan, catalogue);
    if (!asked) {
        score.wrong = asked.error().front().where + ": " + asked.error().front().what;
        return score;
    }
    if (refusesSharding(*plan, asked->stack)) {
        score.wrong = "the stack does not shard gradients in a pipeline";
        return score;
    }
    const Placements open = undealtPlacements(*asked);
    score.tasks += kTasksOfPlacement * std::int64_t(open.found.size());
    if (open.found.empty()) {
        score.wrong = open.unplaced.unplaced.empty() ? "it cannot be placed" : open.unplaced.unplaced;
        return score;
    }
    if (hasNoShape(*asked, open)) {
        score.wrong = "replicas get no micro-batch, or experts' ranks do not divide";
        return score;
    }
    Layout first;
    if (open.found.size() <= kMostFilled)
        first = lookAtEach(score, *asked, open);
    if (score.leastFill > 1)
        return score;
    if (!sharesOut(*plan))
        score.leastSeconds = leastTime(*asked, open);
    if (traitsOf(*plan).pairs && asked->model.isMoe())
        score.leastSeconds = 0; // pairs hide more of what experts exchange than the placement's bounds know
    score.gpusUsed = open.found.front().layout.gpusUsed;
    const bool isDealt = first.data > 0;
    Workload workload(*std::move(asked), isDealt ? std::move(first) : open.found.front().layout);
    if (!isDealt) {
        workload = dealt(std::move(workload), true, false);
        score.tasks += tasksOf(workload);
    }
    score.estimate = estimatedSeconds(workload);
    return score;
}

} // namespace trainyard
