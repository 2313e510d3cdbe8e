// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/sharing_shapes.h"

#include "core/engine/schedule/traits.h"
#include "core/iteration/layouts/layered_problem.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/placement/place.h"
#include "core/systems/unequal_gpus/baselines.h"

#include <algorithm>

namespace trainyard {

Plan evened(const Plan &plan)
{
    Plan next = plan;
    Heterogeneity &h = next.heterogeneity;
    h.compute = ComputeSharing::Even;
    h.state = StateSharing::Even;
    h.layers = LayerSharing::Even;
    h.accumulation = Accumulation::Standard;
    h.boundaryOffload = false;
    h.gatherPrefetch = true;
    h.assign.clear();
    next.placement = Placement();
    next.placement.extra = plan.placement.extra;
    next.parallelism.data.reset();
    next.parallelism.virtualPipeline = 1;
    next.schedule = scheduleForChunks(kPlainSchedule, 1);
    return next;
}

Plan fullySharded(const Plan &plan)
{
    Plan next = evened(plan);
    next.parallelism.pipeline = next.parallelism.tensor = next.parallelism.expertTensor = 1;
    next.parallelism.sequenceParallel.reset();
    next.parallelism.zeroStage = 3;
    return next;
}

bool canRun(const Plan &plan, const RunContext &context)
{
    const auto fitted = run(std::make_shared<const Plan>(plan), Depth::Fit, context);
    return fitted && (*fitted)->feasible();
}

Plan recomputed(Plan plan)
{
    plan.memory.recompute = Recompute::Full;
    plan.memory.recomputeLayers.reset();
    return plan;
}

namespace {

/// As it is where that can run; else with everything computed again, where that can.
Plan recomputedIfNeeded(Plan plan, const RunContext &context)
{
    if (plan.memory.recompute == Recompute::Full || canRun(plan, context))
        return plan;
    Plan next = recomputed(plan);
    return canRun(next, context) ? next : plan;
}

/// What an optimizer says, as a sentence: "batch of 64 samples: is more than …".
Error withWhere(const Error &error)
{
    return { error.code, error.where, error.where.empty() ? error.what : error.where + " " + error.what, error.right };
}

/// Sizes of micro-batches that leave every replica one, smallest first; equally many for everyone where there are such.
std::vector<int> sizesFor(int batch, int replicas)
{
    std::vector<int> all, even;
    for (int m = 1; m <= batch / std::max(1, replicas); ++m) {
        if (batch % m != 0)
            continue;
        all.push_back(m);
        if (batch / m % replicas == 0)
            even.push_back(m);
    }
    if (all.empty())
        all.push_back(1);
    return even.empty() ? all : even;
}

int wholeReplicas(const Plan &plan)
{
    return std::max(1, std::min(plan.workload.globalBatch, plan.cluster.gpus() / plan.parallelism.context));
}

} // namespace

Expected<Plan> evenSplit(const Plan &plan, const RunContext &context)
{
    Plan next = fullySharded(plan);
    next.workload.microBatch = sizesFor(next.workload.globalBatch, wholeReplicas(next)).back();
    return recomputedIfNeeded(std::move(next), context);
}

Expected<Plan> evenAccumulated(const Plan &plan, const RunContext &context)
{
    Plan next = fullySharded(plan);
    const std::vector<int> sizes = sizesFor(next.workload.globalBatch, wholeReplicas(next));
    next.workload.microBatch = sizes.front();
    next = recomputedIfNeeded(std::move(next), context);
    // Memory grows with the micro-batch: what fits is found by halving. Where the smallest does not, it stays.
    std::size_t fits = 0, over = sizes.size();
    while (over - fits > 1) {
        const std::size_t middle = fits + (over - fits) / 2;
        next.workload.microBatch = sizes[middle];
        (canRun(next, context) ? fits : over) = middle;
    }
    next.workload.microBatch = sizes[fits];
    return next;
}

Plan cephalo(const Plan &plan)
{
    Plan next = fullySharded(plan);
    next.workload.microBatch = plan.heterogeneity.isLayered() ? plan.workload.microBatch : 1; // each rank has its own
    next = recomputed(std::move(next));
    next.memory.activationOffload = ActivationOffload::None;
    next.memory.offloadExpertInput = false;
    Heterogeneity &h = next.heterogeneity;
    h.compute = ComputeSharing::Balanced;
    h.state = plan.heterogeneity.state == StateSharing::MinUtilization ? StateSharing::MinUtilization
                                                                       : StateSharing::MinParams;
    h.accumulation = Accumulation::Layered;
    h.boundaryOffload = true;
    return next;
}

namespace {

/// Samples by peak FLOPS, pinned to pools.
Expected<std::vector<RankPin>> pinsByFlops(const Plan &plan, const RunContext &context)
{
    Plan layered = plan;
    layered.heterogeneity.accumulation = Accumulation::Layered; // whose layers are costed one by one
    auto asked = resolve(std::make_shared<const Plan>(layered), context.catalogue);
    if (!asked)
        return std::unexpected(asked.error().front());
    const Workload workload = place(*std::move(asked), candidateModes(layered).back());
    if (workload.layout.data == 0)
        return std::unexpected(Error { ErrorCode::BadValue, "cluster", workload.layout.unplaced, {} });
    const std::vector<ReplicaRun> runs = replicaRuns(workload);
    std::vector<double> speeds;
    for (const ReplicaRun &run : runs)
        speeds.push_back(workload.gpu(run.at()).peakFlops(plan.workload.precision));
    const auto shares = sharesBy(ShareWay::Whale, shareProblem(workload, runs), speeds);
    if (!shares)
        return std::unexpected(withWhere(shares.error()));
    std::vector<RankPin> pins;
    for (const RankShare &share : shares->ranks) {
        const StageLocation at = runs[std::size_t(share.kind)].at();
        RankPin pin;
        pin.datacenter = plan.cluster.datacenters[std::size_t(at.datacenter)].id;
        pin.pool = workload.pool(at).id;
        pin.gpus = share.ranks * workload.degreesAt(at).gpusOfStage();
        pin.microBatch = share.microBatch;
        pin.microBatches = share.microBatches;
        pins.push_back(std::move(pin));
    }
    return pins;
}

} // namespace

Expected<Plan> byFlops(const Plan &plan, const RunContext &context)
{
    Plan next = fullySharded(plan);
    next.workload.microBatch = 1; // of no replica: each has its own
    auto pins = pinsByFlops(next, context);
    if (pins)
        next.heterogeneity.assign = *pins;
    if ((!pins || !canRun(next, context)) && plan.memory.recompute != Recompute::Full) {
        Plan again = recomputed(next);
        again.heterogeneity.assign.clear();
        if (auto fewer = pinsByFlops(again, context)) {
            again.heterogeneity.assign = std::move(*fewer);
            return again;
        }
    }
    if (!pins)
        return std::unexpected(pins.error());
    return next;
}

} // namespace trainyard
