// SPDX-License-Identifier: GPL-3.0-or-later
// What would be faster on unequal GPUs: work by speed, without the slow ones, or with activations where they are. Every
// plan is evaluated.
#include "core/base/number_text.h"
#include "core/evaluation/advice/fixes_internal.h"
#include "core/evaluation/evaluate/problems/fix_of.h"
#include "core/evaluation/evaluate/problems/unequal_gpus.h"
#include "core/facts/cluster/edits.h"
#include "core/facts/hardware/gpu_name.h"
#include "core/iteration/layouts/shares.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

/// Pools that the plan is tried without: each is a plan of its own, with all of its datacenters.
constexpr std::size_t kMostSlowPools = 64;

/// The plan without some nodes of a pool, with as many replicas as that leaves room for.
std::optional<Fix> withoutNodes(const Plan &plan, StageLocation at, int nodes, const std::string &gpu)
{
    const Datacenter &datacenter = plan.cluster.datacenters[std::size_t(at.datacenter)];
    const Pool &pool = datacenter.pools[std::size_t(at.pool)];
    Plan next = plan;
    if (nodes < pool.nodes)
        next.cluster.datacenters[std::size_t(at.datacenter)].pools[std::size_t(at.pool)].nodes -= nodes;
    else {
        auto cluster = datacenter.pools.size() == 1 ? withoutDatacenter(plan.cluster, at.datacenter)
                                                    : withoutPool(plan.cluster, at.datacenter, at.pool);
        if (!cluster)
            return std::nullopt;
        next.cluster = std::move(*cluster);
    }
    next.parallelism.data.reset();
    return Fix { "Without " + std::to_string(nodes * pool.gpusPerNode) + " " + gpu + " of " + datacenter.label(),
        std::make_shared<const Plan>(std::move(next)) };
}

} // namespace

std::vector<Fix> unequalFixes(const Evaluation &evaluation, FixSearch &search)
{
    const Plan &plan = *evaluation.plan;
    const bool hasStages = degreesOf(plan).pipeline > 1 && plan.placement.layers.empty();
    const auto deal = [](Plan &p) { p.heterogeneity.compute = ComputeSharing::Balanced; };
    const auto cut = [](Plan &p) { p.heterogeneity.layers = LayerSharing::BySpeed; };
    std::vector<Fix> candidates;
    if (plan.heterogeneity.compute == ComputeSharing::Even && evaluation.layout.data > 1)
        candidates.push_back(fixOf(plan, "Micro-batches by speed", deal));
    if (hasStages && plan.heterogeneity.layers == LayerSharing::Even)
        candidates.push_back(fixOf(plan, "Layers by speed", cut));
    if (candidates.size() == 2)
        candidates.push_back(fixOf(plan, "Both by speed", [&](Plan &p) {
            deal(p);
            cut(p);
        }));
    std::vector<Fix> fixes;
    for (TimedFix &timed : fasterFixes(evaluation, search, std::move(candidates)))
        fixes.push_back(std::move(timed.fix));
    return fixes;
}

std::optional<Problem> slowGpusProblem(const Evaluation &evaluation, const Workload &workload, FixSearch &search)
{
    const std::vector<GpuPace> paces = gpuPaces(evaluation, workload);
    if (paces.size() < 2 || !workload.source.hasLayers || !evaluation.feasible() || !evaluation.metrics.iterationTime)
        return std::nullopt;
    const Plan &plan = *evaluation.plan;
    const Precision precision = plan.workload.precision;
    double fastest = 0;
    for (const GpuPace &pace : paces)
        fastest = std::max(fastest, pace.gpu->peakFlops(precision));
    std::set<std::pair<int, int>> pools;
    for (const GpuRun &run : evaluation.layout.runs)
        pools.insert({ run.datacenter, run.pool });
    std::vector<StageLocation> slower;
    for (const auto &[datacenter, number] : pools)
        if (workload.gpu({ datacenter, number }).peakFlops(precision) < fastest)
            slower.push_back({ datacenter, number });
    // The slowest, and of those the smallest, cost least to be without.
    std::ranges::stable_sort(slower, {}, [&](const StageLocation &at) {
        const Pool &pool = workload.pool(at);
        return std::pair { workload.gpu(at).peakFlops(precision), std::int64_t(pool.nodes) * pool.gpusPerNode };
    });
    const std::size_t all = slower.size();
    slower.resize(std::min(all, kMostSlowPools));
    std::ranges::sort(slower, {}, [](const StageLocation &at) {
        return std::pair { at.datacenter, at.pool };
    }); // as they were found
    std::vector<Fix> candidates;
    for (const StageLocation &at : slower) {
        const GpuSpec &gpu = workload.gpu(at);
        const int nodes = workload.pool(at).nodes;
        for (const int fewer : std::set { nodes, (nodes + 1) / 2 })
            if (auto fix = withoutNodes(plan, at, fewer, shortName(gpu)))
                candidates.push_back(std::move(*fix));
    }
    std::vector<TimedFix> found = fasterFixes(evaluation, search, std::move(candidates));
    if (found.empty())
        return std::nullopt;
    TimedFix &best = found.front();
    std::string without = best.fix.label.substr(0, best.fix.label.rfind(':'));
    return Problem { Severity::Note,
        without + " an iteration takes " + secondsText(best.seconds) + " instead of "
            + secondsText(*evaluation.metrics.iterationTime)
            + (all > kMostSlowPools ? ". Tried were the " + std::to_string(kMostSlowPools) + " slowest of "
                        + std::to_string(all) + " pools"
                                    : std::string()),
        "cluster", { std::move(best.fix) }, FixSearchKind::None };
}

std::optional<Problem> vainOffloadProblem(const Evaluation &evaluation, FixSearch &search)
{
    const Plan &plan = *evaluation.plan;
    if (plan.memory.activationOffload == ActivationOffload::None || !sharesOut(plan) || !evaluation.feasible()
        || !evaluation.metrics.iterationTime || !evaluation.metrics.memory)
        return std::nullopt;
    const Fix fix = fixOf(
        plan, "Keep activations on the GPU", [](Plan &p) { p.memory.activationOffload = ActivationOffload::None; });
    EvaluationWorkspace workspace;
    const auto without = run(fix.plan, Depth::Score,
        { .catalogue = search.footprints().catalogue(), .workspace = workspace, .stop = search.footprints().stop() });
    constexpr double kLonger = 1.005;
    if (!without || !(*without)->feasible() || !(*without)->metrics.iterationTime || !(*without)->metrics.memory
        || *evaluation.metrics.iterationTime < kLonger * *(*without)->metrics.iterationTime)
        return std::nullopt;
    const auto fullest = [](const Metrics &m) {
        const StageMemory &stage = *std::ranges::max_element(m.memory->perStage, {},
            [](const StageMemory &s) { return double(s.device) / double(std::max<std::int64_t>(1, s.capacity)); });
        return bytesText(double(stage.device)) + " of " + bytesText(double(stage.capacity));
    };
    return Problem { Severity::Note,
        "Activation offload makes an iteration longer: " + secondsText(*evaluation.metrics.iterationTime)
            + " instead of " + secondsText(*(*without)->metrics.iterationTime) + ". The fullest GPU holds "
            + fullest(evaluation.metrics) + " with it and " + fullest((*without)->metrics) + " without",
        "memory.activation_offload", { fix }, FixSearchKind::None };
}

} // namespace trainyard
