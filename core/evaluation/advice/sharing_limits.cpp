// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/sharing_limits.h"

#include "core/evaluation/advice/sharing_shapes.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/layouts/layered_problem.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/placement/place.h"
#include "core/iteration/placement/stage_source.h"
#include "core/systems/unequal_gpus/limits.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace trainyard {

namespace {

constexpr int kManyTimes = 16; // what fits with so many times the micro-batches fits with any number
constexpr int kMostLayers = 1 << 14, kMostSize = 1 << 20;

/// The largest number for which it holds, from `least` on; 0: not even that. What holds for one holds for all below.
int largest(int least, int most, const std::function<bool(int)> &holds)
{
    if (!holds(least))
        return 0;
    int fits = least, over = least;
    while (over <= most && fits == over)
        if (over = fits * 2; over <= most && holds(over))
            fits = over;
    while (over - fits > 1) {
        const int middle = fits + (over - fits) / 2;
        (middle <= most && holds(middle) ? fits : over) = middle;
    }
    return fits;
}

ShareWay wayOf(const Heterogeneity &h)
{
    const bool isWork = h.compute == ComputeSharing::Balanced, isState = h.state != StateSharing::Even;
    return !h.isLayered()   ? ShareWay::Whale
        : isWork && isState ? ShareWay::Balanced
        : isWork            ? ShareWay::ComputeBalanced
        : isState           ? ShareWay::StateBalanced
                            : ShareWay::EvenAccumulated;
}

double parametersOf(const Requested &asked)
{
    const auto &profiles = asked.plan->layerProfiles;
    return profiles && profiles->parameters ? *profiles->parameters : totalParameters(asked.model);
}

std::optional<SharingLimits> byEquations(const Plan &plan, const RunContext &context)
{
    const ShareWay way = wayOf(plan.heterogeneity);
    Plan layered = plan;
    layered.heterogeneity.accumulation = Accumulation::Layered;
    layered.heterogeneity.assign.clear();
    auto asked = resolve(std::make_shared<const Plan>(layered), context.catalogue);
    if (!asked)
        return std::nullopt;
    const Workload workload = place(*std::move(asked), candidateModes(layered).back());
    if (workload.layout.data == 0)
        return std::nullopt;
    const ShareProblem problem = shareProblem(workload, replicaRuns(workload));
    SharingLimits limits { .isByEquations = true };
    const auto batch = largestBatch(way, problem);
    limits.isBatchBounded = batch.has_value();
    limits.batch = batch.value_or(0);
    if (problem.stateBytes > 0)
        limits.parameters = largestStates(way, problem) / problem.stateBytes * parametersOf(workload);
    return limits;
}

/// The plan of a model with another number of equal layers.
Plan withLayers(const Plan &plan, const ModelSpec &model, int layers)
{
    Plan next = plan;
    next.workload.model.clear();
    next.workload.inlineModel = model;
    next.workload.inlineModel->layers = layers;
    if (next.layerProfiles) {
        LayerProfiles &measured = *next.layerProfiles;
        measured.layers = layers;
        if (measured.parameters)
            *measured.parameters *= double(layers) / model.layers;
    }
    return next;
}

std::optional<SharingLimits> byMemory(const PlanPtr &plan, const RunContext &context)
{
    auto workload = resolve(plan, context.catalogue);
    const auto now = run(plan, Depth::Fit, context);
    if (!workload || !now || (*now)->layout.data == 0)
        return std::nullopt;
    const Layout &layout = (*now)->layout;
    const bool isOne = std::ranges::all_of(layout.classes, [](const PipelineClass &c) { return c.microBatches == 1; });
    SharingLimits limits;
    Plan most = recomputed(*plan);
    if (isOne) {
        most.parallelism.data = layout.data;
        const int size = largest(1, kMostSize / layout.data, [&](int m) {
            most.workload.microBatch = m;
            most.workload.globalBatch = m * layout.data;
            return canRun(most, context);
        });
        limits.isBatchBounded = size < kMostSize / layout.data;
        limits.batch = std::int64_t(size) * layout.data;
    } else {
        most.workload.microBatch = 1;
        most.workload.globalBatch = plan->workload.globalBatch * kManyTimes;
        limits.isBatchBounded = !canRun(most, context);
        most.workload.globalBatch = plan->workload.globalBatch;
    }
    Plan deeper = recomputed(*plan);
    if (!isOne)
        deeper.workload.microBatch = 1;
    limits.layers = largest(workload->degrees.pipeline * workload->degrees.chunks, kMostLayers,
        [&](int layers) { return canRun(withLayers(deeper, workload->model, layers), context); });
    if (limits.layers > 0) {
        const Plan large = withLayers(*plan, workload->model, limits.layers);
        if (const auto grown = resolve(std::make_shared<const Plan>(large), context.catalogue))
            limits.parameters = parametersOf(*grown);
    }
    return limits;
}

} // namespace

std::optional<SharingLimits> sharingLimits(const PlanPtr &plan, const RunContext &context)
{
    if (!stageFacts(*plan).hasLayers || hasJobs(*plan))
        return std::nullopt;
    const Heterogeneity &h = plan->heterogeneity;
    return h.isLayered() || (plan->parallelism.pipeline == 1 && !h.assign.empty()) ? byEquations(*plan, context)
                                                                                   : byMemory(plan, context);
}

} // namespace trainyard
