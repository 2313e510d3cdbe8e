// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/sharing_results.h"

#include "core/evaluation/evaluate/comparable.h"
#include "core/facts/cluster/pool_gpu.h"

#include <algorithm>
#include <future>
#include <mutex>

namespace trainyard {

namespace {

std::string whyItCannotRun(const Evaluation &evaluation)
{
    const auto blocking = std::ranges::find(evaluation.problems, Severity::Blocking, &Problem::severity);
    return blocking != evaluation.problems.end() ? blocking->text
        : !evaluation.layout.unplaced.empty()    ? evaluation.layout.unplaced
        : !evaluation.layout.shares.why.empty()  ? evaluation.layout.shares.why
                                                 : "it cannot be placed";
}

/// Layers of a stage, those of its chunks together.
int layersOf(const Layout &layout, int stage)
{
    int layers = 0;
    for (const StageChunk &chunk : layout.chunks[std::size_t(stage)])
        layers += chunk.layers;
    return layers;
}

/// From what the evaluation says of its sets of equal GPUs.
void addSets(SharingResult &result, const Evaluation &evaluation, const Catalogue &catalogue)
{
    const Layout &layout = evaluation.layout;
    const double iteration = evaluation.metrics.iterationTime.value_or(0);
    std::vector<DeviceMetrics> devices = evaluation.metrics.devices;
    std::ranges::stable_sort(devices, {}, &DeviceMetrics::stage);
    double work = 0, bytes = 0;
    for (const DeviceMetrics &device : devices) {
        const Datacenter &datacenter = evaluation.plan->cluster.datacenters[std::size_t(device.at.datacenter)];
        const Pool &pool = datacenter.pools[std::size_t(device.at.pool)];
        const GpuSpec *gpu = gpuOf(pool, catalogue);
        SetShare set { datacenter.label(), pool.id, gpu ? gpu->name : pool.gpu, device.stage, int(layout.chunks.size()),
            device.ranks };
        set.samples = double(device.microBatch) * device.microBatches;
        set.computeShare =
            set.samples * layout.classes[std::size_t(device.pipelineClass)].pipelines * layersOf(layout, device.stage);
        set.stateShare = device.states * set.gpus;
        set.idle = iteration > 0 ? device.wait / iteration : 0;
        work += set.computeShare;
        bytes += set.stateShare;
        result.sets.push_back(std::move(set));
    }
    for (SetShare &set : result.sets) {
        set.computeShare /= work > 0 ? work : 1;
        set.stateShare /= bytes > 0 ? bytes : 1;
    }
}

/// From a thread outside the pool: `work` on one of its own.
void onThreadOf(RunPool &pool, const std::function<void()> &work)
{
    std::promise<void> done;
    pool.threads().submit(WorkPool::Rank::Search, [&] {
        try {
            work();
            done.set_value();
        } catch (...) {
            done.set_exception(std::current_exception());
        }
    });
    done.get_future().get();
}

/// What is compared deals its work to all GPUs: as many replicas as there is room for.
RunContext contextOf(RunPool &pool, const Catalogue &catalogue, const std::stop_token &stop)
{
    return { .catalogue = catalogue,
        .workspace = pool.workspace(),
        .stop = stop,
        .cache = &pool.cache(),
        .replicas = OpenReplicas::Most };
}

/// On a thread of the pool: all that have nothing but a plan, and their limits.
void evaluateAll(
    std::vector<SharingResult> &results, const Catalogue &catalogue, RunPool &pool, const std::stop_token &stop)
{
    pool.threads().each(results.size(), [&](std::size_t i) {
        if (stop.stop_requested())
            return;
        const RunContext context = contextOf(pool, catalogue, stop);
        results[i] = sharingResult(std::move(results[i].of), context);
        if (results[i].of.plan && results[i].isCompared)
            results[i].limits = sharingLimits(results[i].of.plan, context);
    });
}

} // namespace

SharingResult sharingResult(SharingPlan of, const RunContext &context)
{
    SharingResult result;
    result.of = std::move(of);
    if (!result.of.plan) {
        result.why = result.of.whyNot;
        return result;
    }
    const auto evaluated = run(result.of.plan, Depth::Score, context);
    if (!evaluated) {
        result.why = evaluated.error().front().what;
        return result;
    }
    const Evaluation &evaluation = **evaluated;
    result.why = whyNotCompared(evaluation);
    result.isCompared = result.why.empty();
    if (!result.isCompared)
        return result;
    const Metrics &metrics = evaluation.metrics;
    result.isEvaluated = metrics.iterationTime.has_value();
    result.isFeasible = evaluation.feasible();
    result.fits = evaluation.feasibility.fitsGpus && evaluation.feasibility.fitsHosts;
    result.iterationTime = metrics.iterationTime;
    if (metrics.iterationTime && *metrics.iterationTime > 0)
        result.samplesPerSecond = result.of.plan->workload.globalBatch / *metrics.iterationTime;
    result.usdPerIteration = metrics.cost.usdPerIteration;
    if (evaluation.layout.shares.layerTime > 0)
        result.layerTime = evaluation.layout.shares.layerTime;
    if (metrics.memory) {
        const auto fullest =
            std::ranges::find(metrics.memory->perStage, metrics.memory->fullestStage, &StageMemory::stage);
        result.capacity = metrics.memory->capacity;
        result.peak = fullest != metrics.memory->perStage.end() ? fullest->device : metrics.memory->peak;
    }
    if (!result.isFeasible)
        result.why = whyItCannotRun(evaluation);
    if (result.isEvaluated)
        addSets(result, evaluation, context.catalogue);
    return result;
}

void eachSharingResult(std::span<const SharingBaseline> which, const PlanPtr &plan, const Catalogue &catalogue,
    RunPool &pool, const std::stop_token &stop,
    const std::function<void(std::size_t index, SharingResult result)> &found)
{
    std::mutex mutex;
    pool.threads().each(which.size(), [&](std::size_t i) {
        if (stop.stop_requested())
            return;
        const RunContext context = contextOf(pool, catalogue, stop);
        SharingResult result = sharingResult(sharingBaseline(which[i], plan, context), context);
        const std::lock_guard lock(mutex);
        if (!stop.stop_requested())
            found(i, std::move(result));
    });
}

std::vector<SharingResult> sharingResults(std::span<const SharingBaseline> which, const PlanPtr &plan,
    const Catalogue &catalogue, RunPool &pool, const std::stop_token &stop)
{
    std::vector<SharingResult> results(which.size());
    onThreadOf(pool, [&] {
        pool.threads().each(which.size(),
            [&](std::size_t i) { results[i].of = sharingBaseline(which[i], plan, contextOf(pool, catalogue, stop)); });
        evaluateAll(results, catalogue, pool, stop);
    });
    return results;
}

std::vector<SharingResult> ablationResults(
    const PlanPtr &plan, const Catalogue &catalogue, RunPool &pool, const std::stop_token &stop)
{
    std::vector<SharingResult> results;
    onThreadOf(pool, [&] {
        std::vector<SharingPlan> plans = sharingAblations(plan, contextOf(pool, catalogue, stop));
        for (SharingPlan &one : plans)
            results.emplace_back().of = std::move(one);
        evaluateAll(results, catalogue, pool, stop);
    });
    return results;
}

} // namespace trainyard
