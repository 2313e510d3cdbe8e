// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/offload/modules.h"

#include "core/facts/workload/saved_tensors.h"
#include "core/iteration/memory/chunk_memory.h"
#include "core/iteration/placement/activations_leave.h"

namespace trainyard {

namespace {

struct ChildBytes {
    double offloadable = 0, resident = 0;
};
struct LayerBytes {
    ChildBytes attention, mlp;
};

/// Later slices of the tokens read keys and values again, forward and backward.
bool isReadByLaterSlices(SavedName tensor)
{
    using enum SavedName;
    return tensor == CompressedQueryAndKeyValue || tensor == QueryAndKey || tensor == Key || tensor == Value
        || tensor == KeyAndValue;
}

bool isOfCore(SavedName tensor)
{
    using enum SavedName;
    return tensor == LogSumExp || tensor == Softmax || tensor == SoftmaxDropoutMask || tensor == SoftmaxDropoutOutput;
}

/// The tensor that the first layer of a stage need not keep.
bool isFreed(const Workload &workload, SavedName tensor, bool isFirst)
{
    return isFirst && tensor == SavedName::AttentionNormInput && freesStageInput(workload);
}

LayerBytes layerBytes(const Workload &workload, bool expertLayer, bool isWhole, bool isFirst, double minElements)
{
    LayerBytes bytes;
    const int slices = tokenSlices(*workload.plan);
    ActivationShape shape = activationShape(workload);
    if (shape.recompute == Recompute::Full && !isWhole)
        shape.recompute = Recompute::None;
    for (const SavedTensor &tensor : savedTensors(workload.model, expertLayer, shape, workload.stack)) {
        if (isFreed(workload, tensor.name, isFirst))
            continue;
        ChildBytes &child = tensor.child == LayerChild::Attention ? bytes.attention : bytes.mlp;
        const bool stays = !mayLeave(workload.plan->memory, tensor, minElements * slices)
            || (slices > 1 && isReadByLaterSlices(tensor.name));
        (stays ? child.resident : child.offloadable) += tensor.bytes / slices;
    }
    return bytes;
}

OffloadModule moduleOf(ModulePart part, int layer, const ChildBytes &bytes, const ChunkCost &cost)
{
    return { part, layer, bytes.offloadable, bytes.resident, 0, false, cost.forward.total(), cost.inputGrad.total(),
        cost.weightGrad.total(), cost.recompute.total() };
}

void addLayer(std::vector<OffloadModule> &modules, int layer, const LayerBytes &bytes, const ChunkCost &cost,
    const AttentionShare &share, bool isWhole)
{
    if (isWhole) {
        const ChildBytes both { bytes.attention.offloadable + bytes.mlp.offloadable,
            bytes.attention.resident + bytes.mlp.resident };
        modules.push_back(moduleOf(ModulePart::Layer, layer, both, cost));
        return;
    }
    const OffloadModule all = moduleOf(ModulePart::Layer, layer, {}, cost);
    modules.push_back({ ModulePart::Attention, layer, bytes.attention.offloadable, bytes.attention.resident, 0, false,
        all.forward * share.forward, all.inputGrad * share.inputGrad, all.weightGrad * share.weightGrad,
        all.recompute * share.recompute });
    modules.push_back({ ModulePart::Mlp, layer, bytes.mlp.offloadable, bytes.mlp.resident, 0, false,
        all.forward * (1 - share.forward), all.inputGrad * (1 - share.inputGrad),
        all.weightGrad * (1 - share.weightGrad), all.recompute * (1 - share.recompute) });
}

PolicyLayer policyLayer(
    const Workload &workload, bool expertLayer, bool isFirst, const ChunkCost &cost, const AttentionShare &share)
{
    PolicyLayer layer;
    ChildBytes all;
    for (const SavedTensor &tensor :
        savedTensors(workload.model, expertLayer, activationShape(workload), workload.stack)) {
        if (isFreed(workload, tensor.name, isFirst))
            continue;
        all.offloadable += tensor.bytes;
        if (tensor.name == SavedName::AttentionNormInput)
            layer.input += tensor.bytes;
        else if (tensor.name == SavedName::AttentionOutput || isOfCore(tensor.name))
            layer.attention += tensor.bytes;
    }
    layer.module = moduleOf(ModulePart::Layer, 0, all, cost);
    layer.recompute = cost.recompute;
    layer.wholeRecompute = cost.forward;
    layer.wholeRecompute.data = layer.wholeRecompute.offload = Seconds {};
    layer.withoutCore = layer.wholeRecompute;
    layer.withoutCore.compute *= 1 - share.core;
    return layer;
}

} // namespace

std::vector<PolicyLayer> chunkLayers(const Workload &workload, const StageChunk &chunk, const StageCoster::Parts &parts)
{
    const auto layerOf = [&](bool isExpert, bool isFirst) {
        return isExpert ? policyLayer(workload, true, isFirst, parts.expert, parts.expertAttention)
                        : policyLayer(workload, false, isFirst, parts.dense, parts.denseAttention);
    };
    const PolicyLayer dense = layerOf(false, false),
                      expert = workload.model.isMoe() ? layerOf(true, false) : PolicyLayer {};
    std::vector<PolicyLayer> layers;
    for (int layer = chunk.firstLayer; layer < chunk.firstLayer + chunk.layers; ++layer) {
        const bool isExpert = workload.model.isExpertLayer(layer);
        layers.push_back(layer == chunk.firstLayer ? layerOf(isExpert, true) : isExpert ? expert : dense);
        layers.back().module.layer = layer;
    }
    return layers;
}

int tokenSlices(const Plan &plan)
{
    return degreesOf(plan).slices;
}

std::vector<OffloadModule> chunkModules(const Workload &workload, const StageChunk &chunk, RecomputedLayers recomputed,
    const StageCoster::Parts &parts, double minElements)
{
    std::vector<OffloadModule> modules;
    if (chunk.hasEmbedding)
        modules.push_back(moduleOf(ModulePart::Embedding, -1, {}, parts.embedding));
    const bool hasExperts = workload.model.isMoe();
    const LayerBytes dense[] = { layerBytes(workload, false, false, false, minElements),
        layerBytes(workload, false, true, false, minElements) };
    const LayerBytes expert[] = { hasExperts ? layerBytes(workload, true, false, false, minElements) : LayerBytes {},
        hasExperts ? layerBytes(workload, true, true, false, minElements) : LayerBytes {} };
    const bool isFull = workload.plan->memory.recompute == Recompute::Full;
    for (int layer = chunk.firstLayer; layer < chunk.firstLayer + chunk.layers; ++layer) {
        const bool isExpert = workload.model.isExpertLayer(layer);
        int &left = isExpert ? recomputed.experts : recomputed.dense;
        const bool isWhole = isFull && left-- > 0;
        ChunkCost cost = isExpert ? parts.expert : parts.dense;
        if (isFull && !isWhole)
            cost.recompute = isExpert ? parts.expertAgain : parts.denseAgain;
        const LayerBytes &bytes = isExpert ? expert[isWhole] : dense[isWhole];
        addLayer(modules, layer,
            layer == chunk.firstLayer ? layerBytes(workload, isExpert, isWhole, true, minElements) : bytes, cost,
            isExpert ? parts.expertAttention : parts.denseAttention, isWhole);
    }
    if (chunk.hasHead)
        modules.push_back(
            moduleOf(ModulePart::Head, -1, { 0, predictorsKept(workload) / tokenSlices(*workload.plan) }, parts.head));
    return modules;
}

} // namespace trainyard
