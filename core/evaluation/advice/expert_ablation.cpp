// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/expert_ablation.h"

#include "core/systems/experts/traffic_aware.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Of all pieces, with the way to itself.
Seconds aloneOn(const Exchange &exchange, Way way)
{
    Seconds sum;
    for (const Leg &leg : exchange.legs)
        if (leg.way == way)
            sum += leg.start * exchange.pieces + leg.moving + leg.lag;
    return sum;
}

/// What a rank's kernels take grows with: rows of its experts, the share of an expert that it has, shared experts.
struct KernelShare {
    double rows = 1, expert = 1, shared = 1;
};

/// Ranks that share an expert see the tokens of all of them, which are different ones unless the group holds the same;
/// where slices travel each rank has its own.
KernelShare kernelShare(const ExpertGroup &group, MoeDispatch dispatch)
{
    const int same = group.sameTokens.ranks, tensor = group.expertTensor.ranks;
    return { visitsComputed(tensor, same, dispatch == MoeDispatch::TensorSliced), 1.0 / tensor, 1.0 / same };
}

/// The layer's passes as they would be with another group.
LayerPasses scaled(const ExpertLayer &layer, const ExpertGroup &group)
{
    const MoeDispatch dispatch = layer.choice.dispatch;
    const KernelShare from = kernelShare(layer.request.group, dispatch), to = kernelShare(group, dispatch);
    const double rows = to.rows / from.rows;
    LayerPasses passes { layer.forward, layer.backward };
    for (LayerWork *work : { &passes.forward, &passes.backward }) {
        work->fullest.permute *= rows;
        work->fullest.unpermute *= rows;
        work->fullest.products *= rows * to.expert / from.expert;
        work->fullest.shared *= to.shared / from.shared;
    }
    return passes;
}

/// Inside a node as far as its links reach.
void resize(RankGroup &group, int ranks, const ExpertLayer &layer)
{
    group.ranksPerNode = std::min(ranks, std::max(group.ranksPerNode, layer.gpu ? layer.gpu->linkDomain : 1));
    group.ranks = ranks;
}

} // namespace

const char *toString(ExchangeStep step)
{
    static constexpr std::array kNames { "deepspeed", "sliced", "overlapped" };
    return kNames[std::size_t(step)];
}

const char *labelOf(ExchangeStep step)
{
    static constexpr std::array kLabels { "DeepSpeed", "Sliced", "Overlapped pieces" };
    return kLabels[std::size_t(step)];
}

MoeStrategy strategyOf(ExchangeStep step, MoeStrategy moe)
{
    static constexpr std::array kDispatch { MoeDispatch::Flat, MoeDispatch::TensorSliced, MoeDispatch::TrafficAware };
    moe.dispatch = kDispatch[std::size_t(step)];
    moe.forwardChunks.reset();
    moe.backwardChunks.reset();
    moe.overlapChunks.reset();
    if (step != ExchangeStep::Overlapped)
        moe.overlapChunks = 1;
    return moe;
}

Ablation ablationOf(const StepLayers &layers)
{
    Ablation steps;
    for (std::size_t i = 0; i < kExchangeSteps; ++i) {
        const ExpertLayer &layer = layers[i];
        StepTimes &step = steps[i];
        step.dispatch = layer.choice.dispatch;
        step.forwardPieces = layer.choice.forwardPieces;
        step.backwardPieces = layer.choice.backwardPieces;
        for (const Exchange *exchange : { &layer.choice.forwardDispatch, &layer.choice.forwardCombine }) {
            step.nicBytes += exchange->bytes(Way::Nic) + exchange->bytes(Way::Wan);
            step.allToAll += aloneOn(*exchange, Way::Nic) + aloneOn(*exchange, Way::Wan);
            step.inside += aloneOn(*exchange, Way::Nvlink);
            step.copies += aloneOn(*exchange, Way::Memory);
            step.exchange += exchange->alone();
        }
        step.forward = layer.forwardTimes.total;
        step.backward = layer.backwardTimes.total;
        step.exposed = layer.forwardTimes.exposed + layer.backwardTimes.exposed;
    }
    return steps;
}

std::optional<SparedTraffic> sparedTraffic(const Ablation &ablation)
{
    const StepTimes &all = ablation[std::size_t(ExchangeStep::DeepSpeed)],
                    &slices = ablation[std::size_t(ExchangeStep::Sliced)];
    if (slices.nicBytes <= 0 || slices.allToAll.value <= 0)
        return std::nullopt;
    return SparedTraffic { all.nicBytes / slices.nicBytes, all.allToAll.value / slices.allToAll.value };
}

std::string whyNothingToGain(const ExpertLayer &layer)
{
    if (layer.request.group.ranks <= 1)
        return "Experts are not spread over GPUs: no token travels";
    if (layer.request.group.sameTokens.ranks <= 1)
        return "No two ranks hold the same tokens: tensor parallelism is 1, or sequence parallelism already splits "
               "them. Nothing is sent twice, so that there is nothing to gain";
    return {};
}

StepLayers withTensorGroup(StepLayers layers, int ranks, const MoeStrategy &moe)
{
    const ExpertLayer &flat = layers[std::size_t(ExchangeStep::DeepSpeed)],
                      &sliced = layers[std::size_t(ExchangeStep::Sliced)];
    ExpertGroup group = flat.request.group;
    const bool expertsFollow = group.expertTensor.ranks == group.sameTokens.ranks;
    resize(group.sameTokens, ranks, flat);
    if (expertsFollow)
        resize(group.expertTensor, ranks, flat);
    // What the last step weighs are the first two: each with its own kernels.
    const ExchangeWorks works { scaled(flat, group), {}, scaled(sliced, group) };
    for (std::size_t i = 0; i < kExchangeSteps; ++i) {
        ExpertLayer &layer = layers[i];
        layer.request.group = group;
        layer.choice = chooseExchange(layer.request, strategyOf(ExchangeStep(i), moe), works);
        const LayerPasses &passes = layer.choice.dispatch == MoeDispatch::TensorSliced ? works.slices : works.whole;
        layer.forward = passes.forward;
        layer.backward = passes.backward;
        layer.forward.dispatch = layer.choice.forwardDispatch;
        layer.forward.combine = layer.choice.forwardCombine;
        layer.backward.dispatch = layer.choice.backwardDispatch;
        layer.backward.combine = layer.choice.backwardCombine;
        layer.forwardTimes = layerTimes(layer.forward);
        layer.backwardTimes = layerTimes(layer.backward);
    }
    return layers;
}

} // namespace trainyard
