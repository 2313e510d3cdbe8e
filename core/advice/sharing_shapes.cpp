// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/advice/sharing_shapes.h"

#include "core/base/words.h"
#include "core/layouts/layered_shares.h"
#include "core/layouts/placements.h"
#include "core/mixed/baselines.h"
#include "core/placement/place.h"
#include "core/placement/shard_exchange.h"
#include "core/schedule/traits.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

constexpr std::size_t kMostFitted = 8; // shapes, fastest estimate first, whose memory is looked at

/// Even in every way, wherever it fits.
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

/// Every GPU, or group of context ranks, goes through the whole model and shards all that there is.
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

/// As it is where that can run; else with everything computed again, where that can.
Plan recomputedIfNeeded(Plan plan, const RunContext &context)
{
    if (plan.memory.recompute == Recompute::Full || canRun(plan, context))
        return plan;
    Plan next = plan;
    next.memory.recompute = Recompute::Full;
    next.memory.recomputeLayers.reset();
    return canRun(next, context) ? next : plan;
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

namespace {

/// Equal GPUs of one datacenter: of each kind how many, and the GPUs of its smallest node.
struct EqualGpus {
    int gpus = 0, node = std::numeric_limits<int>::max();
};
std::vector<EqualGpus> equalGpus(const Plan &plan)
{
    std::map<std::pair<std::size_t, std::string>, EqualGpus> kinds;
    for (std::size_t d = 0; d < plan.cluster.datacenters.size(); ++d) {
        for (const Pool &pool : plan.cluster.datacenters[d].pools) {
            if (pool.gpus() == 0)
                continue;
            EqualGpus &kind = kinds[{ d, pool.inlineGpu ? pool.inlineGpu->id : pool.gpu }];
            kind.gpus += pool.gpus();
            kind.node = std::min(kind.node, pool.gpusPerNode);
        }
    }
    std::vector<EqualGpus> all;
    for (const auto &[key, kind] : kinds)
        all.push_back(kind);
    return all;
}

/// Estimated in the order of their times, those that fit first, the first that fits in truth; else the fastest.
Expected<Plan> fastestThatFits(const std::vector<Plan> &plans, const RunContext &context)
{
    struct Estimated {
        PlanPtr plan;
        bool isFeasible;
        double seconds;
    };
    std::vector<Estimated> all;
    std::string why = "no shape of a pipeline can be made of these GPUs";
    for (const Plan &plan : plans) {
        auto shared = std::make_shared<const Plan>(plan);
        const auto estimate = run(shared, Depth::Estimate, context);
        if (!estimate)
            why = estimate.error().front().what;
        else if ((*estimate)->metrics.iterationTime)
            all.push_back({ shared, (*estimate)->feasible(), *(*estimate)->metrics.iterationTime });
        else if (!(*estimate)->layout.unplaced.empty())
            why = (*estimate)->layout.unplaced;
    }
    if (all.empty())
        return std::unexpected(Error { ErrorCode::BadValue, "parallelism.pipeline", why, {} });
    std::ranges::stable_sort(all, [](const Estimated &a, const Estimated &b) {
        return std::tuple(!a.isFeasible, a.seconds) < std::tuple(!b.isFeasible, b.seconds);
    });
    for (std::size_t i = 0; i < std::min(kMostFitted, all.size()); ++i)
        if (canRun(*all[i].plan, context))
            return *all[i].plan;
    return *all.front().plan;
}

/// Micro-batches of 1, 2, 4 … that leave each pipeline as many as it has stages, or one.
void addSizes(std::vector<Plan> &out, Plan plan, int data)
{
    const int batch = plan.workload.globalBatch, stages = plan.parallelism.pipeline;
    for (int m = 1; m == 1 || batch / m >= data * stages; m *= 2) {
        if (batch % m != 0)
            break;
        plan.workload.microBatch = m;
        out.push_back(plan);
    }
}

/// Pipelines over all GPUs whose stages are `data` replicas of tensor groups on equal GPUs.
std::vector<Plan> pipelines(const Plan &from, const std::vector<EqualGpus> &kinds, int tensor, int data)
{
    int stages = 0;
    for (const EqualGpus &kind : kinds)
        stages += kind.node % tensor == 0 ? kind.gpus / (tensor * data) : 0;
    std::vector<Plan> plans;
    if (stages < 2 || data > from.workload.globalBatch)
        return plans;
    Plan plan = evened(from);
    plan.parallelism.tensor = tensor;
    if (tensor == 1)
        plan.parallelism.sequenceParallel.reset();
    plan.parallelism.context = 1;
    plan.parallelism.pipeline = stages;
    plan.parallelism.data = data;
    plan.parallelism.zeroStage = std::min(1, from.parallelism.zeroStage);
    plan.heterogeneity.layers = LayerSharing::BySpeed;
    addSizes(plans, std::move(plan), data);
    return plans;
}

int commonGpus(const std::vector<EqualGpus> &kinds, int EqualGpus::*count)
{
    int common = 0;
    for (const EqualGpus &kind : kinds)
        common = std::gcd(common, kind.*count);
    return std::max(1, common);
}

Error oneKind()
{
    return { ErrorCode::BadValue, "cluster", "all GPUs are alike and in one datacenter, so that there is one group",
        {} };
}

} // namespace

Expected<Plan> unevenPipeline(const Plan &plan, const RunContext &context)
{
    const std::vector<EqualGpus> kinds = equalGpus(plan);
    const int group = commonGpus(kinds, &EqualGpus::gpus), node = commonGpus(kinds, &EqualGpus::node);
    std::vector<Plan> shapes;
    for (const int tensor : std::set { 1, plan.parallelism.tensor, node })
        for (const int gpus : std::set { group, node, tensor })
            if (gpus % tensor == 0)
                for (Plan &shape : pipelines(plan, kinds, tensor, gpus / tensor))
                    shapes.push_back(std::move(shape));
    auto found = fastestThatFits(shapes, context);
    if (!found)
        return found;
    return recomputedIfNeeded(std::move(*found), context);
}

Expected<Plan> pipelineOfGroups(const Plan &plan, const RunContext &context)
{
    const std::vector<EqualGpus> kinds = equalGpus(plan);
    if (kinds.size() < 2)
        return std::unexpected(oneKind());
    std::vector<Plan> shapes = pipelines(plan, kinds, 1, commonGpus(kinds, &EqualGpus::gpus));
    for (std::size_t i = 0, plain = shapes.size(); i < plain; ++i) {
        shapes[i].parallelism.zeroStage = 2;
        Plan inTurns = shapes[i]; // two parts of the model for each group
        inTurns.parallelism.virtualPipeline = 2;
        inTurns.schedule = scheduleForChunks(kPlainSchedule, 2);
        shapes.push_back(std::move(inTurns));
    }
    auto stack = resolve(std::make_shared<const Plan>(plan), context.catalogue);
    if (stack && !shapes.empty() && refusesSharding(shapes.front(), stack->stack))
        return std::unexpected(Error { ErrorCode::BadValue, "stack",
            plan.stack.name + " does not shard gradients in a pipeline", "another stack" });
    auto found = fastestThatFits(shapes, context);
    if (!found)
        return found;
    return recomputedIfNeeded(std::move(*found), context);
}

Plan cephalo(const Plan &plan)
{
    Plan next = fullySharded(plan);
    next.workload.microBatch = plan.heterogeneity.isLayered() ? plan.workload.microBatch : 1; // each rank has its own
    next.memory.recompute = Recompute::Full;
    next.memory.recomputeLayers.reset();
    next.memory.activationOffload = ActivationOffload::None;
    Heterogeneity &h = next.heterogeneity;
    h.compute = ComputeSharing::Balanced;
    h.state = plan.heterogeneity.state == StateSharing::MinUtilization ? StateSharing::MinUtilization
                                                                       : StateSharing::MinParams;
    h.accumulation = Accumulation::Layered;
    h.boundaryOffload = true;
    return next;
}

Expected<Plan> byFlops(const Plan &plan, const RunContext &context)
{
    Plan next = fullySharded(plan);
    next.workload.microBatch = 1; // of no replica: each has its own
    next = recomputedIfNeeded(std::move(next), context);
    Plan layered = next;
    layered.heterogeneity.accumulation = Accumulation::Layered; // whose layers are costed one by one
    auto workload = resolve(std::make_shared<const Plan>(layered), context.catalogue);
    if (!workload)
        return std::unexpected(workload.error().front());
    workload->layout = place(*workload, candidateModes(layered).back());
    if (workload->layout.data == 0)
        return std::unexpected(Error { ErrorCode::BadValue, "cluster", workload->layout.unplaced, {} });
    const std::vector<ReplicaRun> runs = replicaRuns(*workload);
    std::vector<double> speeds;
    for (const ReplicaRun &run : runs)
        speeds.push_back(workload->gpu(run.at).peakFlops(plan.workload.precision));
    const auto shares = sharesBy(ShareWay::Whale, shareProblem(*workload, runs), speeds);
    if (!shares)
        return std::unexpected(shares.error());
    for (const RankShare &share : shares->ranks) {
        const StageLocation at = runs[std::size_t(share.kind)].at;
        RankPin pin;
        pin.datacenter = plan.cluster.datacenters[std::size_t(at.datacenter)].id;
        pin.pool = workload->pool(at).id;
        pin.gpus = share.ranks * workload->degrees.gpusOfStage();
        pin.microBatch = share.microBatch;
        pin.microBatches = share.microBatches;
        next.heterogeneity.assign.push_back(std::move(pin));
    }
    return next;
}

} // namespace trainyard
