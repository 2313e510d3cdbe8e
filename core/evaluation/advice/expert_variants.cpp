// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/expert_variants.h"

#include "core/evaluation/evaluate/comparable.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/iteration/placement/degrees.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace trainyard {

namespace {

constexpr int kHalfOctaves = 6; // of a bandwidth, to either side of the plan's
constexpr int kMostTensorRanks = 16, kFewestTokens = 512;
constexpr double kLeastSequence = 0.25, kMostSequence = 16; // times the plan's
constexpr double kCloseEnough = 1.002; // two bandwidths of the bisection

PlanPtr changed(const PlanPtr &plan, const std::function<void(Plan &)> &change)
{
    Plan next = *plan;
    change(next);
    return std::make_shared<const Plan>(std::move(next));
}

/// To its neighbours: PCIe where a GPU has nothing else.
template <class Gpu> auto &linkOf(Gpu &gpu)
{
    return gpu.linkGBps > 0 ? gpu.linkGBps : gpu.pcieGBps;
}

void setFabric(Plan &plan, double gbps)
{
    for (Datacenter &datacenter : plan.cluster.datacenters) {
        datacenter.fabricGbpsPerGpu = gbps;
        datacenter.fabricMeasuredGBps.reset(); // of another fabric
    }
}

void scaleLinks(Plan &plan, const Catalogue &catalogue, double scale)
{
    for (Datacenter &datacenter : plan.cluster.datacenters)
        for (Pool &pool : datacenter.pools) {
            const GpuSpec *known = gpuOf(pool, catalogue);
            if (!known)
                continue;
            GpuSpec gpu = *known;
            linkOf(gpu) *= scale;
            pool.inlineGpu = std::move(gpu);
            pool.gpu.clear();
        }
}

std::string whyNoLayer(const Evaluation &evaluation)
{
    if (!evaluation.model.isMoe())
        return "The model has no experts";
    if (!stageFacts(*evaluation.plan).hasLayers)
        return "Stage times are measured: how much of them an expert layer takes is not known";
    return evaluation.layout.unplaced.empty() ? "No stage holds an expert layer" : evaluation.layout.unplaced;
}

/// Of the iteration, what traffic-aware saves.
Metric gainWith(const PlanPtr &plan, double nicGbps, const RunContext &context)
{
    const PlanPtr there = changed(plan, [nicGbps](Plan &p) { setFabric(p, nicGbps); });
    const auto timeOf = [&](ExchangeStep step) -> Metric {
        const auto evaluation = run(planWith(there, step), Depth::Score, context);
        return evaluation ? (*evaluation)->metrics.iterationTime : std::nullopt;
    };
    const Metric all = timeOf(ExchangeStep::DeepSpeed), aware = timeOf(ExchangeStep::Overlapped);
    if (!all || !aware || *all <= 0 || context.stop.stop_requested())
        return std::nullopt;
    return 1 - *aware / *all;
}

} // namespace

const char *toString(ExpertAxis axis)
{
    static constexpr std::array kNames { "nic_gbps", "nvlink_gbytes_per_s", "tensor_ranks", "sequence_length" };
    return kNames[std::size_t(axis)];
}

OpenedLayers openLayers(const PlanPtr &plan, const RunContext &context)
{
    OpenedLayers opened;
    const auto answer = run(plan, Depth::Score, context);
    if (!answer) {
        opened.why = answer.error().front().what;
        return opened;
    }
    opened.notCompared = whyNotCompared(**answer);
    StepLayers layers;
    Evaluation asked; // what is opened is a layer of this plan in that layout
    asked.layout = (*answer)->layout;
    for (std::size_t step = 0; step < kExchangeSteps; ++step) {
        asked.plan = planWith(plan, ExchangeStep(step));
        auto layer = expertLayer(asked, context.catalogue);
        if (!layer || !*layer) {
            opened.why = layer ? whyNoLayer(**answer) : layer.error().front().what;
            return opened;
        }
        layers[step] = std::move(**layer);
        layers[step].request.gpu = layers[step].gpu.get();
    }
    const PipelineClass &pipelines = asked.layout.classes[std::size_t(layers.front().pipelineClass)];
    const int at = pipelines.locations[std::size_t(layers.front().stage)].datacenter;
    opened.nicGbps =
        plan->cluster.datacenters[std::size_t(at)].fabricGbpsPerGpu.value_or(layers.front().gpu->fabricGbps);
    opened.layers = std::move(layers);
    return opened;
}

double placeOn(ExpertAxis axis, const Plan &plan, const OpenedLayers &opened)
{
    if (!opened.layers)
        return 0;
    switch (axis) {
    case ExpertAxis::NicGbps:
        return opened.nicGbps;
    case ExpertAxis::NvlinkGBps:
        return linkOf(*opened.first().gpu);
    case ExpertAxis::TensorRanks:
        return opened.first().request.group.sameTokens.ranks;
    case ExpertAxis::SequenceLength:
        return plan.workload.sequenceLength;
    }
    return 0;
}

std::vector<double> valuesAround(ExpertAxis axis, double now, const Plan &plan)
{
    std::vector<double> values;
    if (now <= 0)
        return values;
    switch (axis) {
    case ExpertAxis::NicGbps:
    case ExpertAxis::NvlinkGBps:
        for (int step = -kHalfOctaves; step <= kHalfOctaves; ++step)
            values.push_back(now * std::exp2(step / 2.0));
        break;
    case ExpertAxis::TensorRanks:
        for (double ranks = 1; ranks <= std::max<double>(kMostTensorRanks, now); ranks *= 2)
            values.push_back(ranks);
        break;
    case ExpertAxis::SequenceLength: {
        const int pieces = 2 * degreesOf(plan).context;
        for (double scale = kLeastSequence; scale <= kMostSequence; scale *= 2)
            if (const double tokens = now * scale; tokens >= kFewestTokens && std::fmod(tokens, pieces) == 0)
                values.push_back(tokens);
        break;
    }
    }
    if (std::ranges::find(values, now) == values.end())
        values.insert(std::ranges::lower_bound(values, now), now);
    return values;
}

PlanPtr planWith(const PlanPtr &plan, ExchangeStep step)
{
    return changed(plan, [step](Plan &p) { p.moe = strategyOf(step, p.moe); });
}

PlanPtr planWith(const PlanPtr &plan, const Catalogue &catalogue, ExpertAxis axis, double from, double to)
{
    if (axis == ExpertAxis::TensorRanks || from == to)
        return plan;
    return changed(plan, [&](Plan &p) {
        if (axis == ExpertAxis::NicGbps)
            setFabric(p, to);
        else if (axis == ExpertAxis::NvlinkGBps)
            scaleLinks(p, catalogue, to / from);
        else
            p.workload.sequenceLength = int(to);
    });
}

std::optional<PublishedGain> publishedGain(
    const PlanPtr &plan, double nicGbps, double wanted, const RunContext &context)
{
    const Metric now = gainWith(plan, nicGbps, context);
    if (!now || nicGbps <= 0)
        return std::nullopt;
    PublishedGain result { .wanted = wanted, .now = *now, .gbps = {}, .lastGbps = nicGbps, .lastGain = *now };
    const bool isEnough = *now >= wanted;
    const double step = isEnough ? 2 : 0.5;
    double before = nicGbps;
    while ((result.lastGain >= wanted) == isEnough) {
        const double next = result.lastGbps * step;
        if (std::max(next / nicGbps, nicGbps / next) > kMostNicScale)
            return result;
        const Metric gain = gainWith(plan, next, context);
        if (!gain)
            return std::nullopt;
        before = result.lastGbps;
        result.lastGbps = next;
        result.lastGain = *gain;
    }
    double enough = isEnough ? before : result.lastGbps, tooFast = isEnough ? result.lastGbps : before;
    while (tooFast > enough * kCloseEnough) {
        const double middle = std::sqrt(enough * tooFast);
        const Metric gain = gainWith(plan, middle, context);
        if (!gain)
            return std::nullopt;
        (*gain >= wanted ? enough : tooFast) = middle;
    }
    result.gbps = enough;
    return result;
}

} // namespace trainyard
