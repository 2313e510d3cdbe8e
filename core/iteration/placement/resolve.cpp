// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/resolve.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/cluster/zone_links.h"
#include "core/facts/plan/validate.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/calibrated.h"
#include "core/iteration/placement/resolve_model.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <numeric>

namespace trainyard {

namespace {

std::string pointer(std::size_t datacenter, std::size_t pool, const char *key)
{
    return "cluster.datacenters[" + std::to_string(datacenter) + "].pools[" + std::to_string(pool) + "]." + key;
}

template <class Item> std::vector<std::string> idsOf(const std::vector<Item> &items)
{
    std::vector<std::string> ids;
    for (const Item &item : items)
        ids.push_back(item.id);
    return ids;
}

Error unknownName(
    std::string where, const std::string &kind, const std::string &name, const std::vector<std::string> &known)
{
    const std::string nearest = nearestName(name, known);
    return { ErrorCode::UnknownName, std::move(where), "no " + kind + " is called \"" + name + "\"",
        nearest.empty() ? "a name that trainyard-cli catalog lists" : "\"" + nearest + "\"?" };
}

std::string shortNumber(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

std::string listed(const std::vector<std::string> &names)
{
    std::string text;
    for (const std::string &name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

std::string stacksWithReleases(const Catalogue &catalogue)
{
    std::vector<std::string> ids;
    for (const StackSpec &stack : catalogue.stacks)
        if (!stack.releases.empty())
            ids.push_back(stack.id);
    return listed(ids);
}

/// What a release changes first, then what the plan sets itself: that is meant as it is.
Expected<StackSpec> resolveStack(const Stack &stack, bool isMoe, const Catalogue &catalogue)
{
    const StackSpec *base = catalogue.stack(stack.name);
    if (!base)
        return std::unexpected(unknownName("stack", "software stack", stack.name, idsOf(catalogue.stacks)));
    if (stack.release.empty())
        return withOverrides(*base, stack.overrides);
    const StackRelease *release = base->release(stack.release);
    if (!release)
        return std::unexpected(Error { ErrorCode::UnknownName, "stack.release",
            "no release of " + base->id + " is known as \"" + stack.release + "\"",
            base->releases.empty() ? "null: nothing is known of its releases, only of " + stacksWithReleases(catalogue)
                                   : "one of " + listed(idsOf(base->releases)) });
    return withOverrides(slowedBy(*base, release->time(isMoe)), stack.overrides);
}

/// Tensor parallel degrees that some replicas have of their own.
void checkOwnDegrees(const Plan &plan, const ModelSpec &model, Errors &errors)
{
    for (std::size_t i = 0; i < plan.heterogeneity.assign.size(); ++i) {
        const std::optional<int> tensor = plan.heterogeneity.assign[i].tensor;
        const std::string where = "heterogeneity.assign[" + std::to_string(i) + "].tensor";
        if (tensor && (*tensor < 1 || model.heads % *tensor != 0))
            errors.push_back({ ErrorCode::BadValue, where,
                std::to_string(*tensor) + " does not divide the model's " + std::to_string(model.heads)
                    + " attention heads",
                "a divisor of " + std::to_string(model.heads) });
        else if (tensor && *tensor != plan.parallelism.tensor && model.isMoe())
            errors.push_back({ ErrorCode::BadValue, where,
                "replicas of a model with experts have one tensor parallel degree: what several would exchange with "
                "the experts is not modelled",
                std::to_string(plan.parallelism.tensor) + ", as parallelism.tensor" });
    }
}

void checkParallelism(const Plan &plan, const ModelSpec &model, Errors &errors)
{
    const Parallelism &p = plan.parallelism;
    if (!stageFacts(plan).hasLayers) { // measured stage times: shapes need not divide
        for (std::size_t i = 0; i < plan.heterogeneity.assign.size(); ++i)
            if (plan.heterogeneity.assign[i].tensor.value_or(p.tensor) != p.tensor)
                errors.push_back({ ErrorCode::BadValue, "heterogeneity.assign[" + std::to_string(i) + "].tensor",
                    "measured stage times say nothing of another tensor parallel degree",
                    std::to_string(p.tensor) + ", as parallelism.tensor" });
        return;
    }
    if (model.heads % p.tensor != 0)
        errors.push_back({ ErrorCode::BadValue, "parallelism.tensor",
            std::to_string(p.tensor) + " does not divide the model's " + std::to_string(model.heads)
                + " attention heads",
            "a divisor of " + std::to_string(model.heads) });
    // The embedding and the head may have a virtual stage of their own, as in Llama 3 405B.
    if (const int virtualStages = stagesInChain(traitsOf(plan).placement, p.pipeline, degreesOf(plan).chunks);
        model.layers + 2 < virtualStages)
        errors.push_back({ ErrorCode::BadValue, "parallelism.pipeline",
            std::to_string(virtualStages) + " virtual stages for " + std::to_string(model.layers) + " layers",
            "at most one virtual stage per layer, and one each for embedding and head" });
    if (model.isMoe() && p.data
        && (std::int64_t(p.tensor) * p.context * *p.data) % (std::int64_t(p.expert) * p.expertTensor) != 0)
        errors.push_back({ ErrorCode::BadValue, "parallelism.expert",
            "expert x expert_tensor = " + std::to_string(p.expert * p.expertTensor) + " does not divide the "
                + std::to_string(p.tensor * p.context * *p.data) + " ranks of a stage (tensor x context x data)",
            "a divisor of them" });
    if (plan.layerProfiles && plan.layerProfiles->layers.value_or(model.layers) != model.layers)
        errors.push_back({ ErrorCode::BadValue, "layer_profiles.layers",
            "the profile is of a model with " + std::to_string(*plan.layerProfiles->layers) + " layers",
            std::to_string(model.layers) + ", those of the model" });
    checkOwnDegrees(plan, model, errors);
    const std::vector<int> &layers = plan.placement.layers;
    if (!layers.empty()) {
        if (layers.size() != 1 && layers.size() != std::size_t(p.pipeline))
            errors.push_back(
                { ErrorCode::BadValue, "placement.layers", "has " + std::to_string(layers.size()) + " entries",
                    "one number, or one for each of " + std::to_string(p.pipeline) + " stages" });
        else if (const int sum =
                     std::accumulate(layers.begin(), layers.end(), 0) * (layers.size() == 1 ? p.pipeline : 1);
                 sum != model.layers)
            errors.push_back({ ErrorCode::BadValue, "placement.layers", "adds up to " + std::to_string(sum) + " layers",
                std::to_string(model.layers) + ", those of the model" });
    }
    if (const std::size_t loads = plan.moe.expertLoads.size();
        model.isMoe() && loads > 0 && loads != std::size_t(model.experts))
        errors.push_back({ ErrorCode::BadValue, "moe.load", "has " + std::to_string(loads) + " entries",
            std::to_string(model.experts) + ", one for each expert of a layer" });
    if (model.isMoe() && model.experts % p.expert != 0)
        errors.push_back({ ErrorCode::BadValue, "parallelism.expert",
            std::to_string(p.expert) + " does not divide the model's " + std::to_string(model.experts) + " experts",
            "a divisor of " + std::to_string(model.experts) });
}

/// A measured rate above the nominal one is most often that of a whole node, which nccl-tests prints for rings over all
/// its GPUs.
void checkMeasuredFabric(const Requested &workload, Errors &errors)
{
    const auto &datacenters = workload.plan->cluster.datacenters;
    for (std::size_t d = 0; d < datacenters.size(); ++d) {
        double nominal = datacenters[d].fabricGbpsPerGpu.value_or(0) / 8;
        for (const GpuSpec *gpu : workload.gpus[d])
            nominal = datacenters[d].fabricGbpsPerGpu || !gpu ? nominal : std::max(nominal, gpu->fabricGbps / 8);
        if (nominal > 0 && datacenters[d].fabricMeasuredGBps.value_or(0) > nominal)
            errors.push_back(
                { ErrorCode::BadValue, "cluster.datacenters[" + std::to_string(d) + "].fabric_measured_gbytes_per_s",
                    shortNumber(*datacenters[d].fabricMeasuredGBps) + " GB/s per GPU measured where its NIC carries "
                        + shortNumber(nominal) + " GB/s (fabric_gbps_per_gpu / 8)",
                    "at most " + shortNumber(nominal)
                        + "; a busbw over whole nodes is that of all GPUs of a node: divide by them" });
    }
}

/// Measured stages need no model: one layer a virtual stage stands for what was measured.
ModelSpec measuredStages(const Plan &plan)
{
    ModelSpec model;
    model.name = "measured stages";
    model.layers = degreesOf(plan).pipeline * degreesOf(plan).chunks;
    model.hidden = model.heads = model.kvHeads = model.headDim = model.ffn = model.vocab = 1;
    return model;
}

struct RequestInMaking : Requested {
    using Requested::setPlan;
};

} // namespace

/// Pools that describe the same GPU share it: who compares pointers sees the same hardware.
static const GpuSpec *firstEqual(const GpuSpec &gpu, std::vector<const GpuSpec *> &described)
{
    const auto found = std::ranges::find_if(described, [&](const GpuSpec *known) { return *known == gpu; });
    if (found != described.end())
        return *found;
    described.push_back(&gpu);
    return &gpu;
}

ExpectedAll<Requested> resolve(PlanPtr plan, const Catalogue &catalogue)
{
    Errors errors = validatePlan(*plan);
    RequestInMaking workload;
    workload.setPlan(plan);
    workload.links = LinkIndex(plan->cluster);
    std::vector<const GpuSpec *> described;
    for (std::size_t d = 0; d < plan->cluster.datacenters.size(); ++d) {
        auto &row = workload.gpus.emplace_back();
        auto &rates = workload.sustained.emplace_back();
        const auto &pools = plan->cluster.datacenters[d].pools;
        for (std::size_t p = 0; p < pools.size(); ++p) {
            const GpuSpec *spec =
                pools[p].inlineGpu ? firstEqual(*pools[p].inlineGpu, described) : catalogue.gpu(pools[p].gpu);
            if (!spec)
                errors.push_back(unknownName(pointer(d, p, "gpu"), "GPU", pools[p].gpu, idsOf(catalogue.gpus)));
            if (spec && pools[p].gpusPerNode > 1 && pools[p].nodes > 0 && spec->linkGBps <= 0 && spec->pcieGBps <= 0)
                errors.push_back({ ErrorCode::BadValue, pointer(d, p, "gpu.pcie_gbytes_per_s"),
                    "the GPUs of a node have no way to each other",
                    "pcie_gbytes_per_s or link_gbytes_per_s, above 0" });
            row.push_back(spec);
            rates.push_back(spec ? trainyard::sustainedRates(catalogue.sustained, *spec) : SustainedRates {});
        }
    }
    checkMeasuredFabric(workload, errors);
    for (std::size_t i = 0; i < plan->cluster.wanLinks.size(); ++i) {
        const WanLink &link = plan->cluster.wanLinks[i];
        if (!link.cloud.empty() && !catalogue.cloud(link.cloud)) {
            errors.push_back(unknownName(
                "cluster.wan_links[" + std::to_string(i) + "].cloud", "cloud", link.cloud, idsOf(catalogue.clouds)));
            if (nearestName(link.cloud, idsOf(catalogue.clouds)).empty())
                errors.back().right = "a cloud of the catalogue: " + listed(idsOf(catalogue.clouds));
        }
    }
    auto model = !workload.source.hasLayers && plan->workload.model.empty() && !plan->workload.inlineModel
        ? Expected<ModelSpec>(measuredStages(*plan))
        : resolveModel(plan->workload, plan->baseDir, catalogue);
    if (model) {
        workload.model = std::move(*model);
        if (!workload.source.hasLayers) // measured stages stand for the model
            workload.model.doubts.clear();
        std::ranges::move(doubtsOfSources(*plan), std::back_inserter(workload.model.doubts));
        workload.setPlan(plan);
    } else
        errors.push_back(model.error());
    auto stack = resolveStack(plan->stack, model && workload.model.isMoe(), catalogue);
    if (stack) {
        workload.stack = std::move(*stack);
        workload.stack.sources.clear(); // a workload is copied often, and nobody asks it for these
        workload.stack.releases.clear();
    } else
        errors.push_back(stack.error());
    if (workload.source.includesFabric) // nor does a framework add or hide anything
        workload.stack.iterationOverheadMs = workload.stack.graphedOverheadMs = workload.stack.gradientOverlap = 0;
    if (workload.source.layersOnly)
        workload.stack.iterationOverheadMs = workload.stack.graphedOverheadMs = workload.stack.microBatchOverheadUs = 0;
    if (model)
        checkParallelism(*plan, workload.model, errors);
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    for (const WanLink &link : plan->cluster.wanLinks) {
        const auto measured = zonePairRate(plan->cluster, link, workload.crossingBytes());
        workload.transports.push_back(
            transportOf(link, plan->wan, catalogue, measured ? std::optional(measured->rate) : std::nullopt));
    }
    if (!plan->calibration.empty())
        if (auto applied = applyCalibration(workload); !applied)
            return std::unexpected(std::move(applied.error()));
    return static_cast<Requested &&>(workload); // what is made, without the means to change it
}

bool sharesNames(const Plan &resolved, const Plan &plan)
{
    const auto isOfLayers = [](const Plan &p) {
        return stageFacts(p).hasLayers && !p.profile && !p.layerProfiles && p.calibration.empty()
            && p.cluster.wanLinks.empty();
    };
    return isOfLayers(resolved) && isOfLayers(plan) && resolved.workload.model == plan.workload.model
        && resolved.workload.inlineModel == plan.workload.inlineModel && resolved.baseDir == plan.baseDir
        && resolved.stack == plan.stack && resolved.cluster == plan.cluster;
}

Errors errorsBesideNames(const Requested &asked)
{
    Errors errors = validateBesideCluster(*asked.plan);
    checkParallelism(*asked.plan, asked.model, errors);
    return errors;
}

} // namespace trainyard
