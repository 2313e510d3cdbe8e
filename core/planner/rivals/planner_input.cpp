// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/rivals/planner_input.h"

#include "core/facts/cluster/wan.h"
#include "core/facts/cluster/zone_links.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/model_states/stage_states.h"
#include "core/iteration/placement/activation_shape.h"
#include "core/iteration/placement/place.h"

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
Layout aloneAt(const Site &site, const ModelSpec &model)
{
    Layout layout;
    layout.data = 1;
    layout.classes = { { 0, 1, 1, { { site.datacenter, site.pool } } } };
    layout.chunks = splitLayers(model, 1, 1);
    return layout;
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

void addKinds(PlannerInput &input, const Requested &base)
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
            const auto known = std::ranges::find_if(input.kinds, [&](const Kind &kind) {
                return kind.gpu == gpu.id && kind.gpusPerNode == pool.gpusPerNode && kind.usdPerSecond == usd;
            });
            input.sites.push_back({ int(d), int(p), int(known - input.kinds.begin()), pool.gpus(), 0 });
            if (known == input.kinds.end())
                input.kinds.push_back(
                    { gpu.id, pool.gpusPerNode, double(gpu.memoryBytes), gpu.peakFlops(plan.workload.precision),
                        1e9 * (gpu.linkGBps > 0 ? gpu.linkGBps : gpu.pcieGBps), usd, {} });
        }
    }
}

/// Errors are those of resolve(), which has seen the plan before: none is expected.
ExpectedAll<void> profile(PlannerInput &input, const Plan &plan, const Catalogue &catalogue)
{
    for (Kind &kind : input.kinds)
        kind.figures.assign(input.tensors.size(), std::vector<LayerFigures>(input.microBatches.size()));
    for (std::size_t t = 0; t < input.tensors.size(); ++t) {
        for (std::size_t m = 0; m < input.microBatches.size(); ++m) {
            auto asked = resolve(
                std::make_shared<const Plan>(plainPlan(plan, input.tensors[t], input.microBatches[m])), catalogue);
            if (!asked)
                return std::unexpected(std::move(asked.error()));
            WorkloadInTurn turns(*std::move(asked));
            std::vector<bool> isDone(input.kinds.size());
            for (const Site &site : input.sites) {
                if (isDone[std::size_t(site.kind)]
                    || input.kinds[std::size_t(site.kind)].gpusPerNode < input.tensors[t])
                    continue;
                isDone[std::size_t(site.kind)] = true;
                input.kinds[std::size_t(site.kind)].figures[t][m] =
                    figuresAt(turns.at(aloneAt(site, turns.asked().model)));
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

LinkCurve linkCurve(const PlannerInput &input, const Workload &workload, const Catalogue &catalogue, int a, int b)
{
    const Site &from = input.sites[std::size_t(a)], &to = input.sites[std::size_t(b)];
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
    if (const auto measured = zonePairRate(cluster, wan, Bytes { input.boundaryNumbers * input.bytesPerNumber }))
        return measured->slowest->curve;
    return constant(transportOf(wan, workload.plan->wan, catalogue).rate.value);
}

void addLinks(PlannerInput &input, const Workload &workload, const Catalogue &catalogue)
{
    const int count = int(input.sites.size());
    input.links.resize(input.sites.size());
    input.usdPerByte.resize(input.sites.size());
    for (int a = 0; a < count; ++a) {
        for (int b = 0; b < count; ++b) {
            input.links[std::size_t(a)].push_back(linkCurve(input, workload, catalogue, a, b));
            const auto &datacenters = workload.plan->cluster.datacenters;
            const std::string &from = datacenters[std::size_t(input.sites[std::size_t(a)].datacenter)].id,
                              &to = datacenters[std::size_t(input.sites[std::size_t(b)].datacenter)].id;
            const int link = from == to ? -1 : workload.plan->cluster.linkBetween(from, to);
            double usd = 0;
            if (link >= 0) {
                const auto prices = egressUsdPerGb(*workload.plan, catalogue, link);
                usd = prices[workload.plan->cluster.wanLinks[std::size_t(link)].between[0] == from ? 0 : 1] / 1e9;
            }
            input.usdPerByte[std::size_t(a)].push_back(usd);
        }
    }
}

/// Zones of one region: those that a cheap link joins, one after the other.
void addRegions(PlannerInput &input)
{
    const int count = int(input.sites.size());
    for (int a = 0; a < count; ++a)
        input.sites[std::size_t(a)].region = a;
    for (int a = 0; a < count; ++a) {
        for (int b = 0; b < count; ++b) {
            const Site &one = input.sites[std::size_t(a)], &other = input.sites[std::size_t(b)];
            const bool isNear = one.datacenter == other.datacenter
                || (input.rate(a, b, 1e6) > 0
                    && input.usdPerByte[std::size_t(a)][std::size_t(b)] * 1e9 < kUsdPerGbInRegion);
            if (!isNear || one.region == other.region)
                continue;
            const int kept = std::min(one.region, other.region), gone = std::max(one.region, other.region);
            for (Site &site : input.sites)
                site.region = site.region == gone ? kept : site.region;
        }
    }
}

} // namespace

int PlannerInput::gpus() const
{
    return std::accumulate(sites.begin(), sites.end(), 0, [](int sum, const Site &site) { return sum + site.gpus; });
}

double PlannerInput::rate(int from, int to, double message) const
{
    const LinkCurve &link = links[std::size_t(from)][std::size_t(to)];
    return link.c0 == 0 && link.c1 == 0 && link.c2 == 0 ? 0 : bandwidth(link, Bytes { message }).value;
}

double PlannerInput::slowestRate(double message) const
{
    double slowest = std::numeric_limits<double>::infinity();
    for (int a = 0; a < int(sites.size()); ++a)
        for (int b = 0; b < int(sites.size()); ++b)
            if (const double reached = rate(a, b, message); reached > 0)
                slowest = std::min(slowest, reached);
    return slowest;
}

int PlannerInput::tensorIndex(int tensor) const
{
    const auto found = std::ranges::find(tensors, tensor);
    return found == tensors.end() ? -1 : int(found - tensors.begin());
}

int PlannerInput::microBatchIndex(int microBatch) const
{
    const auto found = std::ranges::find(microBatches, microBatch);
    return found == microBatches.end() ? -1 : int(found - microBatches.begin());
}

double PlannerInput::stageParameters(int count, bool isFirst, bool isLast) const
{
    return count * layerParameters + (isFirst ? embeddingParameters : 0) + (isLast ? headParameters : 0);
}

ExpectedAll<PlannerInput> plannerInputOf(const PlanPtr &plan, const Catalogue &catalogue)
{
    const auto resolved = resolve(std::make_shared<const Plan>(plainPlan(*plan, 1, 1)), catalogue);
    if (!resolved)
        return std::unexpected(resolved.error());
    const Requested &asked = *resolved;
    if (!asked.source.hasLayers || asked.model.isMoe() || !plan->jobs.empty() || plan->jobGrid)
        return std::unexpected(
            Errors { { ErrorCode::BadValue, "workload.model", "these planners know dense models, layer by layer, alone",
                "a dense model without measured stages or jobs" } });
    if (auto unranked = whyUnranked(asked.model.doubts))
        return std::unexpected(Errors { *std::move(unranked) });
    PlannerInput input;
    const ModelSpec &model = asked.model;
    input.layers = model.layers;
    input.batch = plan->workload.globalBatch;
    input.layerParameters = trainyard::layerParameters(model, false).total();
    input.embeddingParameters = trainyard::embeddingParameters(model);
    input.headParameters =
        trainyard::headParameters(model) + (model.tiedEmbeddings ? double(model.vocab) * model.hidden : 0);
    input.hidden = model.hidden;
    input.sequence = plan->workload.sequenceLength;
    input.vocabulary = model.vocab;
    input.boundaryNumbers = input.sequence * input.hidden;
    input.bytesPerNumber = weightBytes(plan->workload.precision);
    addKinds(input, asked);
    if (input.sites.empty())
        return std::unexpected(
            Errors { { ErrorCode::BadValue, "cluster.datacenters", "there are no GPUs", "a pool with nodes" } });
    int perNode = 0;
    for (const Kind &kind : input.kinds)
        perNode = std::max(perNode, kind.gpusPerNode);
    for (const int tensor : powersUpTo(perNode))
        if (model.heads % tensor == 0 && (model.kvHeads <= 0 || model.kvHeads % tensor == 0))
            input.tensors.push_back(tensor);
    input.microBatches = powersUpTo(std::min(kLargestMicroBatch, std::max(1, input.batch)));
    if (auto done = profile(input, *plan, catalogue); !done)
        return std::unexpected(std::move(done.error()));
    const Workload workload(asked, aloneAt(input.sites.front(), asked.model));
    const StageStates states = stageStates(workload, rankSet(workload, workload.layout.classes.front(), 0));
    input.stateBytes = (states.weights + states.gradients + states.optimizer) / totalParameters(model);
    addLinks(input, workload, catalogue);
    addRegions(input);
    return input;
}

} // namespace trainyard::rivals
