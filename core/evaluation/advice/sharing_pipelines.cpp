// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/sharing_shapes.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/iteration/placement/resolve.h"
#include "core/iteration/placement/resolve_model.h"
#include "core/iteration/placement/shard_exchange.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

constexpr std::size_t kMostScored = 16; // shapes, fastest estimate first, that are simulated

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
            EqualGpus &kind = kinds[{ d, gpuIdOf(pool) }];
            kind.gpus += pool.gpus();
            kind.node = std::min(kind.node, pool.gpusPerNode);
        }
    }
    std::vector<EqualGpus> all;
    for (const auto &[key, kind] : kinds)
        all.push_back(kind);
    return all;
}

/// Of those whose estimates come first the fastest that can run.
std::optional<Plan> fastestThatRuns(const std::vector<PlanPtr> &plans, const RunContext &context)
{
    EvaluationPtr best;
    for (std::size_t i = 0; i < std::min(kMostScored, plans.size()); ++i) {
        const auto scored = run(plans[i], Depth::Score, context);
        if (scored && (*scored)->feasible() && (*scored)->metrics.iterationTime
            && (!best || *(*scored)->metrics.iterationTime < *best->metrics.iterationTime))
            best = *scored;
    }
    return best ? std::optional(*best->plan) : std::nullopt;
}

/// Estimated, and sorted by time, those that seem to fit first. `why` says why there is none.
std::vector<PlanPtr> byEstimate(const std::vector<Plan> &plans, const RunContext &context, std::string &why)
{
    struct Estimated {
        PlanPtr plan;
        bool isFeasible;
        double seconds;
    };
    std::vector<Estimated> all;
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
    std::ranges::stable_sort(all, [](const Estimated &a, const Estimated &b) {
        return std::tuple(!a.isFeasible, a.seconds) < std::tuple(!b.isFeasible, b.seconds);
    });
    std::vector<PlanPtr> sorted;
    for (Estimated &one : all)
        sorted.push_back(std::move(one.plan));
    return sorted;
}

/// The fastest that fits, as it is or with everything computed again; else the fastest.
Expected<Plan> fastestThatFits(std::vector<Plan> plans, const RunContext &context)
{
    std::string why = "no shape of a pipeline can be made of these GPUs";
    const std::vector<PlanPtr> sorted = byEstimate(plans, context, why);
    if (sorted.empty())
        return std::unexpected(Error { ErrorCode::BadValue, "parallelism.pipeline", why, {} });
    if (auto fits = fastestThatRuns(sorted, context))
        return std::move(*fits);
    if (plans.front().memory.recompute != Recompute::Full) {
        std::ranges::transform(plans, plans.begin(), recomputed);
        if (auto fits = fastestThatRuns(byEstimate(plans, context, why), context))
            return std::move(*fits);
    }
    return *sorted.front();
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
void addPipelines(
    std::vector<Plan> &out, const Plan &from, const std::vector<EqualGpus> &kinds, int tensor, int data, int layers)
{
    int stages = 0;
    for (const EqualGpus &kind : kinds)
        stages += kind.node % tensor == 0 ? kind.gpus / (tensor * data) : 0;
    if (stages < 2 || stages > layers || data > from.workload.globalBatch)
        return;
    Plan plan = evened(from);
    plan.parallelism.tensor = tensor;
    if (tensor == 1)
        plan.parallelism.sequenceParallel.reset();
    plan.parallelism.context = 1;
    plan.parallelism.pipeline = stages;
    plan.parallelism.data = data;
    plan.parallelism.zeroStage = std::min(1, from.parallelism.zeroStage);
    plan.heterogeneity.layers = LayerSharing::BySpeed;
    addSizes(out, std::move(plan), data);
}

/// Of a stage on all of as many equal GPUs, on half of them and so on.
std::set<int> replicasOnParts(int gpus, int tensor)
{
    std::set<int> replicas;
    for (; gpus >= tensor; gpus /= 2)
        replicas.insert(gpus / tensor);
    return replicas;
}

int commonGpus(const std::vector<EqualGpus> &kinds, int EqualGpus::*count)
{
    int common = 0;
    for (const EqualGpus &kind : kinds)
        common = std::gcd(common, kind.*count);
    return std::max(1, common);
}

} // namespace

Expected<Plan> unevenPipeline(const Plan &plan, const RunContext &context)
{
    const auto model = resolveModel(plan.workload, plan.baseDir, context.catalogue);
    if (!model)
        return std::unexpected(model.error());
    const std::vector<EqualGpus> kinds = equalGpus(plan);
    const int group = commonGpus(kinds, &EqualGpus::gpus), node = commonGpus(kinds, &EqualGpus::node);
    std::set<int> tensors { plan.parallelism.tensor };
    for (int tensor = 1; tensor <= node; tensor *= 2)
        tensors.insert(tensor);
    std::vector<Plan> shapes;
    for (const int tensor : tensors) {
        std::set<int> replicas = replicasOnParts(group, tensor);
        replicas.insert(std::max(1, node / tensor));
        for (const int data : replicas)
            addPipelines(shapes, plan, kinds, tensor, data, model->layers);
    }
    return fastestThatFits(std::move(shapes), context);
}

Expected<Plan> pipelineOfGroups(const Plan &plan, const RunContext &context)
{
    auto workload = resolve(std::make_shared<const Plan>(fullySharded(plan)), context.catalogue);
    if (!workload)
        return std::unexpected(workload.error().front());
    const std::vector<EqualGpus> kinds = equalGpus(plan);
    if (kinds.size() < 2)
        return std::unexpected(Error { ErrorCode::BadValue, "cluster",
            "all GPUs are alike and in one datacenter, so that there is one group", {} });
    std::vector<Plan> shapes;
    for (const int data : replicasOnParts(commonGpus(kinds, &EqualGpus::gpus), 1))
        addPipelines(shapes, plan, kinds, 1, data, workload->model.layers);
    for (std::size_t i = 0, plain = shapes.size(); i < plain; ++i) {
        shapes[i].parallelism.zeroStage = 2;
        Plan inTurns = shapes[i]; // two parts of the model for each group
        inTurns.parallelism.virtualPipeline = 2;
        inTurns.schedule = scheduleForChunks(kPlainSchedule, 2);
        shapes.push_back(std::move(inTurns));
    }
    if (!shapes.empty() && refusesSharding(shapes.front(), workload->stack))
        return std::unexpected(Error { ErrorCode::BadValue, "stack",
            plan.stack.name + " does not shard gradients in a pipeline", "another stack" });
    return fastestThatFits(std::move(shapes), context);
}

} // namespace trainyard
