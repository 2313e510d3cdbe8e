// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/rivals/view.h"

#include "core/facts/cluster/wan.h"
#include "core/facts/cluster/zone_links.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/placement/activation_shape.h"
#include "core/iteration/placement/place.h"
#include "core/iteration/model_states/stage_states.h"
#include "core/facts/workload/model_math.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace trainyard::rivals {

namespace {

/// Of what a cloud charges inside one of its regions, and less than what it charges between them (gcp-zones).
constexpr double kUsdPerGbInRegion = 0.015;
constexpr int kLargestMicroBatch = 8; // the largest that Sailor's profiles have for all GPUs

/// The plan as a single stage would see it, with nothing shared out and nothing placed.
Plan plainPlan(const Plan &plan, int tensor, int microBatch)
{
    Plan plain = plan;
    plain.parallelism = {};
    plain.parallelism.tensor = tensor;
    plain.parallelism.data = 1;
    plain.parallelism.zeroStage = 0;
    plain.parallelism.sequenceParallel = plan.parallelism.sequenceParallel;
    plain.schedule = Plan {}.schedule; // the standard, 1F1B
    plain.placement = {};
    plain.heterogeneity = {};
    plain.bubbleFill = {};
    plain.wan = {};
    plain.workload.microBatch = microBatch;
    return plain;
}

double chunkSeconds(const ChunkCost &cost)
{
    return (cost.forward + cost.recompute + cost.inputGrad + cost.weightGrad).total().value;
}

/// One stage of the whole model on one GPU of the site.
void standAt(Workload &workload, const Site &site)
{
    workload.layout = {};
    workload.layout.mode = PlacementMode::PipelineAcross;
    workload.layout.data = 1;
    workload.layout.classes = { { 0, 1, 1, { { site.datacenter, site.pool } } } };
    workload.layout.chunks = splitLayers(workload.model, 1, 1);
}

LayerFigures figuresAt(const Workload &workload)
{
    StageCoster coster(workload);
    const StageCoster::Layers parts = coster.layers(workload.layout.classes.front(), 0);
    return { chunkSeconds(parts.dense), chunkSeconds(parts.embedding), chunkSeconds(parts.head),
        layerActivations(workload.model, false, activationShape(workload), workload.stack).kept };
}

std::vector<int> powersUpTo(int most)
{
    std::vector<int> powers;
    for (int n = 1; n <= most; n *= 2)
        powers.push_back(n);
    return powers;
}

void addKinds(View &view, const Workload &base)
{
    const Plan &plan = *base.plan;
    const auto &datacenters = plan.cluster.datacenters;
    for (std::size_t d = 0; d < datacenters.size(); ++d) {
        for (std::size_t p = 0; p < datacenters[d].pools.size(); ++p) {
            const Pool &pool = datacenters[d].pools[p];
            const GpuSpec &gpu = *base.gpus[d][p];
            if (pool.gpus() == 0)
                continue;
            const double usd = pool.usdPerGpuHour.value_or(gpu.usdPerHour) / 3600;
            const auto known = std::ranges::find_if(view.kinds, [&](const Kind &kind) {
                return kind.gpu == gpu.id && kind.gpusPerNode == pool.gpusPerNode && kind.usdPerSecond == usd;
            });
            view.sites.push_back({ int(d), int(p), int(known - view.kinds.begin()), pool.gpus(), 0 });
            if (known == view.kinds.end())
                view.kinds.push_back(
                    { gpu.id, pool.gpusPerNode, double(gpu.memoryBytes), gpu.peakFlops(plan.workload.precision),
                        1e9 * (gpu.linkGBps > 0 ? gpu.linkGBps : gpu.pcieGBps), usd, {} });
        }
    }
}

/// Errors are those of resolve(), which has seen the plan before: none is expected.
ExpectedAll<void> profile(View &view, const Plan &plan, const Catalogue &catalogue)
{
    for (Kind &kind : view.kinds)
        kind.figures.assign(view.tensors.size(), std::vector<LayerFigures>(view.microBatches.size()));
    for (std::size_t t = 0; t < view.tensors.size(); ++t) {
        for (std::size_t m = 0; m < view.microBatches.size(); ++m) {
            auto workload = resolve(
                std::make_shared<const Plan>(plainPlan(plan, view.tensors[t], view.microBatches[m])), catalogue);
            if (!workload)
                return std::unexpected(std::move(workload.error()));
            std::vector<bool> isDone(view.kinds.size());
            for (const Site &site : view.sites) {
                if (isDone[std::size_t(site.kind)] || view.kinds[std::size_t(site.kind)].gpusPerNode < view.tensors[t])
                    continue;
                isDone[std::size_t(site.kind)] = true;
                standAt(*workload, site);
                view.kinds[std::size_t(site.kind)].figures[t][m] = figuresAt(*workload);
            }
        }
    }
    return {};
}

/// What is the same for all messages.
LinkCurve constant(double bytesPerSecond)
{
    return { 0, 0, bytesPerSecond / 1e9 };
}

LinkCurve linkCurve(const View &view, const Workload &workload, const Catalogue &catalogue, int a, int b)
{
    const Site &from = view.sites[std::size_t(a)], &to = view.sites[std::size_t(b)];
    const auto fabric = [&](const Site &site) {
        const StageLocation at { site.datacenter, site.pool };
        return locationFabric(workload, at).bandwidth.value * workload.pool(at).gpusPerNode;
    };
    if (from.datacenter == to.datacenter)
        return constant(std::min(fabric(from), fabric(to)));
    const Cluster &cluster = workload.plan->cluster;
    const auto &datacenters = cluster.datacenters;
    const int link =
        cluster.linkBetween(datacenters[std::size_t(from.datacenter)].id, datacenters[std::size_t(to.datacenter)].id);
    if (link < 0)
        return {};
    const WanLink &wan = cluster.wanLinks[std::size_t(link)];
    if (const auto measured = zonePairRate(cluster, wan, Bytes { view.boundaryNumbers * view.bytesPerNumber }))
        return measured->slowest->curve;
    return constant(transportOf(wan, workload.plan->wan, catalogue).rate.value);
}

void addLinks(View &view, const Workload &workload, const Catalogue &catalogue)
{
    const int count = int(view.sites.size());
    view.links.resize(view.sites.size());
    view.usdPerByte.resize(view.sites.size());
    for (int a = 0; a < count; ++a) {
        for (int b = 0; b < count; ++b) {
            view.links[std::size_t(a)].push_back(linkCurve(view, workload, catalogue, a, b));
            const auto &datacenters = workload.plan->cluster.datacenters;
            const std::string &from = datacenters[std::size_t(view.sites[std::size_t(a)].datacenter)].id,
                              &to = datacenters[std::size_t(view.sites[std::size_t(b)].datacenter)].id;
            const int link = from == to ? -1 : workload.plan->cluster.linkBetween(from, to);
            double usd = 0;
            if (link >= 0) {
                const auto prices = egressUsdPerGb(*workload.plan, catalogue, link);
                usd = prices[workload.plan->cluster.wanLinks[std::size_t(link)].between[0] == from ? 0 : 1] / 1e9;
            }
            view.usdPerByte[std::size_t(a)].push_back(usd);
        }
    }
}

/// Zones of one region: those that a cheap link joins, one after the other.
void addRegions(View &view)
{
    const int count = int(view.sites.size());
    for (int a = 0; a < count; ++a)
        view.sites[std::size_t(a)].region = a;
    for (int a = 0; a < count; ++a) {
        for (int b = 0; b < count; ++b) {
            const Site &one = view.sites[std::size_t(a)], &other = view.sites[std::size_t(b)];
            const bool isNear = one.datacenter == other.datacenter
                || (view.rate(a, b, 1e6) > 0
                    && view.usdPerByte[std::size_t(a)][std::size_t(b)] * 1e9 < kUsdPerGbInRegion);
            if (!isNear || one.region == other.region)
                continue;
            const int kept = std::min(one.region, other.region), gone = std::max(one.region, other.region);
            for (Site &site : view.sites)
                site.region = site.region == gone ? kept : site.region;
        }
    }
}

} // namespace

int View::gpus() const
{
    return std::accumulate(sites.begin(), sites.end(), 0, [](int sum, const Site &site) { return sum + site.gpus; });
}

double View::rate(int from, int to, double message) const
{
    const LinkCurve &link = links[std::size_t(from)][std::size_t(to)];
    return link.c0 == 0 && link.c1 == 0 && link.c2 == 0 ? 0 : bandwidth(link, Bytes { message }).value;
}

double View::slowestRate(double message) const
{
    double slowest = std::numeric_limits<double>::infinity();
    for (int a = 0; a < int(sites.size()); ++a)
        for (int b = 0; b < int(sites.size()); ++b)
            if (const double reached = rate(a, b, message); reached > 0)
                slowest = std::min(slowest, reached);
    return slowest;
}

int View::tensorIndex(int tensor) const
{
    const auto found = std::ranges::find(tensors, tensor);
    return found == tensors.end() ? -1 : int(found - tensors.begin());
}

int View::microBatchIndex(int microBatch) const
{
    const auto found = std::ranges::find(microBatches, microBatch);
    return found == microBatches.end() ? -1 : int(found - microBatches.begin());
}

double View::stageParameters(int count, bool isFirst, bool isLast) const
{
    return count * layerParameters + (isFirst ? embeddingParameters : 0) + (isLast ? headParameters : 0);
}

ExpectedAll<View> viewOf(const PlanPtr &plan, const Catalogue &catalogue)
{
    const auto resolved = resolve(std::make_shared<const Plan>(plainPlan(*plan, 1, 1)), catalogue);
    if (!resolved)
        return std::unexpected(resolved.error());
    Workload workload = *resolved;
    if (!workload.source.hasLayers || workload.model.isMoe() || !plan->jobs.empty() || plan->jobGrid)
        return std::unexpected(
            Errors { { ErrorCode::BadValue, "workload.model", "these planners know dense models, layer by layer, alone",
                "a dense model without measured stages or jobs" } });
    View view;
    const ModelSpec &model = workload.model;
    view.layers = model.layers;
    view.batch = plan->workload.globalBatch;
    view.layerParameters = trainyard::layerParameters(model, false).total();
    view.embeddingParameters = trainyard::embeddingParameters(model);
    view.headParameters =
        trainyard::headParameters(model) + (model.tiedEmbeddings ? double(model.vocab) * model.hidden : 0);
    view.hidden = model.hidden;
    view.sequence = plan->workload.sequenceLength;
    view.vocabulary = model.vocab;
    view.boundaryNumbers = view.sequence * view.hidden;
    view.bytesPerNumber = weightBytes(plan->workload.precision);
    addKinds(view, workload);
    if (view.sites.empty())
        return std::unexpected(
            Errors { { ErrorCode::BadValue, "cluster.datacenters", "there are no GPUs", "a pool with nodes" } });
    int perNode = 0;
    for (const Kind &kind : view.kinds)
        perNode = std::max(perNode, kind.gpusPerNode);
    for (const int tensor : powersUpTo(perNode))
        if (model.heads % tensor == 0 && (model.kvHeads <= 0 || model.kvHeads % tensor == 0))
            view.tensors.push_back(tensor);
    view.microBatches = powersUpTo(std::min(kLargestMicroBatch, std::max(1, view.batch)));
    if (auto done = profile(view, *plan, catalogue); !done)
        return std::unexpected(std::move(done.error()));
    standAt(workload, view.sites.front());
    const StageStates states = stageStates(workload, rankSet(workload, workload.layout.classes.front(), 0));
    view.stateBytes = (states.weights + states.gradients + states.optimizer) / totalParameters(model);
    addLinks(view, workload, catalogue);
    addRegions(view);
    return view;
}

} // namespace trainyard::rivals
