// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/memory/chunk_memory.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/workload/weight_shapes.h"
#include "core/iteration/placement/ranks.h"
#include "core/iteration/placement/recompute.h"
#include "core/iteration/placement/shard_exchange.h"

#include <algorithm>

namespace trainyard {

namespace {

class ChunkModel {
public:
    explicit ChunkModel(const Workload &workload)
        : m_work(workload)
        , m_plan(*workload.plan)
        , m_p(workload.degrees)
        , m_stack(workload.stack)
        , m_model(workload.model)
        , m_shape(activationShape(workload))
        , m_weight(weightBytes(m_plan.workload.precision))
        , m_dense(layerActivations(m_model, false, m_shape, m_stack))
        , m_expert(m_model.isMoe() ? layerActivations(m_model, true, m_shape, m_stack) : LayerActivations {})
    {
        if (m_shape.recompute == Recompute::Full) {
            ActivationShape kept = m_shape;
            kept.recompute = Recompute::None;
            m_denseKept = layerActivations(m_model, false, kept, m_stack);
            m_expertKept = m_model.isMoe() ? layerActivations(m_model, true, kept, m_stack) : LayerActivations {};
        }
        if (m_stack.backwardTemporaries) {
            m_denseGradients = layerWeightGradients(false);
            m_expertGradients = layerWeightGradients(true);
        }
        m_tokens = m_shape.sequence * m_shape.microBatch / m_shape.context;
        m_hidden = m_tokens * m_shape.elementBytes * m_model.hidden;
        m_hiddenShare = m_hidden / (m_shape.sequenceParallel ? m_shape.tensor : 1);
        m_logits = m_tokens * m_model.vocab / m_p.tensor;
    }

    /// `again`: layers that are recomputed as a whole, of those that the chunk has.
    [[nodiscard]] ChunkMemory of(const StageChunk &chunk, RecomputedLayers recomputed) const
    {
        ChunkMemory m;
        const int dense = chunk.layers - chunk.expertLayers;
        const auto sum = [&](double LayerActivations::*part) {
            return dense * m_dense.*part + chunk.expertLayers * m_expert.*part;
        };
        if (chunk.hasEmbedding && m_stack.storesDropoutMasks)
            m.ends += m_hiddenShare / m_shape.elementBytes;
        if (!chunk.hasHead && m_stack.keepsStageOutputs && m_p.pipeline > 1)
            m.ends += m_hiddenShare;
        m.kept = sum(&LayerActivations::kept);
        if (m_shape.recompute == Recompute::Full) // the others keep theirs
            m.kept += (dense - recomputed.dense) * (m_denseKept.kept - m_dense.kept)
                + (chunk.expertLayers - recomputed.experts) * (m_expertKept.kept - m_expert.kept);
        m.whole = sum(&LayerActivations::whole);
        if (chunk.layers > 0 && freesStageInput(m_work)) {
            m.kept -= m_hiddenShare * m_shape.keptShare;
            m.whole -= m_hiddenShare;
        }
        m.forWeightGrads = sum(&LayerActivations::forWeightGrads);
        if (chunk.hasHead)
            addPredictors(m);
        if (chunk.hasHead)
            addLoss(m);
        m.backward = backward(chunk, m, true);
        m.sparedBackward = backward(chunk, m, false);
        if (chunk.layers > 0)
            m.atLayers = layers(chunk, m, true);
        if (chunk.hasHead)
            m.atHead = head(m).total() > m.forward.total() ? head(m) : m.forward;
        if (chunk.hasEmbedding && m_stack.backwardTemporaries)
            m.atEmbedding = embedding(chunk, m.kept, m.loss);
        return m;
    }

    [[nodiscard]] double predictorsKept() const
    {
        const LayerActivations &layer = hasExpertPredictor(m_model) ? m_expert : m_dense;
        return m_model.mtpLayers * (layer.kept + joined() * m_shape.keptShare);
    }

private:
    /// Inputs of the two norms before the product that joins a prediction with an embedding, and its own input.
    [[nodiscard]] double joined() const { return m_hiddenShare * 2 * (1 + m_shape.inputBytes / m_shape.elementBytes); }

    void addPredictors(ChunkMemory &m) const
    {
        if (m_model.mtpLayers == 0)
            return;
        const LayerActivations &layer = hasExpertPredictor(m_model) ? m_expert : m_dense;
        m.kept += predictorsKept();
        m.whole += m_model.mtpLayers * (layer.whole + joined());
        m.forWeightGrads += m_model.mtpLayers * (layer.forWeightGrads + joined());
    }

    /// Bytes of the loss at its peak, all of the vocabulary elements of a rank.
    [[nodiscard]] double lossPeak() const
    {
        return m_logits * (m_stack.logitsBytesPerElement + (m_p.tensor > 1 ? m_stack.parallelLossExtraBytes : 0));
    }

    void addLoss(ChunkMemory &m) const
    {
        const double logits = m_logits * std::min(m_stack.lossKeptBytesPerElement, m_stack.logitsBytesPerElement);
        m.loss = (1 + m_model.mtpLayers) * (logits + 2 * m_hiddenShare); // and the final norm's input and output
        m.forward.logits = lossPeak() - logits;
    }

    [[nodiscard]] Workspace backward(const StageChunk &chunk, const ChunkMemory &m, bool recomputes) const
    {
        Workspace worst = chunk.layers > 0 ? layers(chunk, m, recomputes) : Workspace {};
        const auto consider = [&](const Workspace &other) {
            if (other.total() > worst.total())
                worst = other;
        };
        if (chunk.hasHead) {
            consider(m.forward);
            consider(head(m));
        }
        if (chunk.hasEmbedding && m_stack.backwardTemporaries)
            consider(embedding(chunk, recomputes ? m.kept : m.whole, m.loss));
        return worst;
    }

    /// The layer with most beside what is kept; the loss is over by then.
    [[nodiscard]] Workspace layers(const StageChunk &chunk, const ChunkMemory &m, bool recomputes) const
    {
        const auto workspace = [&](const LayerActivations &layer, bool isExpert) {
            Workspace t;
            t.logits = -m.loss;
            t.recomputed = recomputes ? layer.whole - layer.kept : 0;
            if (!m_stack.backwardTemporaries)
                return t;
            t.gradients = layer.temporaries;
            t.weightGradients = isExpert ? m_expertGradients : m_denseGradients;
            return t;
        };
        const Workspace dense = workspace(m_dense, false), expert = workspace(m_expert, true);
        const bool takesExpert =
            chunk.expertLayers == chunk.layers || (chunk.expertLayers > 0 && expert.total() > dense.total());
        return takesExpert ? expert : dense;
    }

    [[nodiscard]] double layerWeightGradients(bool isExpert) const
    {
        if (m_p.zeroStage >= 3
            && shardExchange(m_plan, m_stack)
                == ShardExchange::InLayers) { // a layer's, and their copy in the precision of the reduction
            const LayerParameters layer = layerParameters(m_model, isExpert);
            const double elements =
                (layer.attention + layer.mlp) / m_p.tensor + layer.experts / (m_p.expert * m_p.expertTensor);
            return elements * (m_weight + m_stack.gradientBytes);
        }
        return m_stack.keepsWeightGradientBuffers ? 0 : m_weight * largestMatrixElements(m_model, m_p.tensor);
    }

    /// Backward of the output matrix: gradients of logits, input and matrix.
    [[nodiscard]] Workspace head(const ChunkMemory &m) const
    {
        Workspace t;
        if (!m_stack.backwardTemporaries)
            return t;
        t.logits = m_shape.elementBytes * m_logits + 2 * m_hiddenShare - m.loss;
        t.gradients = m_hidden * (m_shape.sequenceParallel && m_p.tensor > 1 ? 2 : 1); // and the gathered input
        t.weightGradients = m_weight * double(m_model.vocab) * m_model.hidden / m_p.tensor;
        return t;
    }

    /// Backward of the token table, which gives a gradient of the whole table; the micro-batch is done by then.
    [[nodiscard]] Workspace embedding(const StageChunk &chunk, double kept, double loss) const
    {
        Workspace t;
        t.kept = -kept;
        t.logits = -loss;
        t.gradients = m_hiddenShare;
        double elements = embeddingParameters(m_model) / m_p.tensor;
        if (m_p.zeroStage >= 3 && chunk.hasHead)
            elements += headParameters(m_model) / m_p.tensor;
        t.weightGradients = elements * (m_weight + (m_p.zeroStage >= 3 ? m_stack.gradientBytes : 0));
        return t;
    }

    const Workload &m_work;
    const Plan &m_plan;
    const Degrees &m_p;
    const StackSpec &m_stack;
    const ModelSpec &m_model;
    ActivationShape m_shape;
    double m_weight;
    LayerActivations m_dense, m_expert;
    LayerActivations m_denseKept, m_expertKept; // of layers that full recomputation leaves out
    double m_denseGradients = 0, m_expertGradients = 0; // bytes of a layer's gradients of weights
    double m_tokens = 0;
    double m_hidden = 0, m_hiddenShare = 0; // bytes of one hidden tensor, whole and as a tensor rank holds it
    double m_logits = 0; // vocabulary elements of a rank
};

/// Of 1 / slices of the tokens: all but the gradients of weights.
ChunkMemory sliced(ChunkMemory m, int slices)
{
    for (double ChunkMemory::*part : { &ChunkMemory::kept, &ChunkMemory::whole, &ChunkMemory::ends, &ChunkMemory::loss,
             &ChunkMemory::forWeightGrads })
        m.*part /= slices;
    for (Workspace *workspace : { &m.forward, &m.backward, &m.sparedBackward, &m.atHead, &m.atLayers, &m.atEmbedding })
        for (double Workspace::*part :
            { &Workspace::kept, &Workspace::logits, &Workspace::recomputed, &Workspace::gradients })
            workspace->*part /= slices;
    return m;
}

} // namespace

double predictorsKept(const Workload &workload)
{
    return workload.model.mtpLayers > 0 ? ChunkModel(workload).predictorsKept() : 0;
}

bool freesStageInput(const Workload &workload)
{
    const Plan &plan = *workload.plan;
    return workload.stack.freesStageInputs && workload.degrees.pipeline > 1 && plan.memory.recompute == Recompute::None
        && !plan.memory.recomputeNorms;
}

std::vector<ChunkMemory> chunkMemory(const Workload &workload, int stage)
{
    const ChunkModel model(workload);
    std::vector<ChunkMemory> memory;
    const std::vector<StageChunk> &chunks = workload.layout.chunks[std::size_t(stage)];
    const std::vector<RecomputedLayers> recomputed = recomputedLayers(workload, stage);
    memory.reserve(chunks.size());
    for (std::size_t c = 0; c < chunks.size(); ++c) {
        const bool isLikeTheOneBefore =
            c > 0 && areAsLarge(chunks[c], chunks[c - 1]) && recomputed[c] == recomputed[c - 1];
        memory.push_back(isLikeTheOneBefore ? memory.back() : model.of(chunks[c], recomputed[c]));
    }
    if (traitsOf(*workload.plan).isSliced()) // counted as equally long
        memory.assign(std::size_t(workload.degrees.slices), sliced(memory.front(), workload.degrees.slices));
    return memory;
}

} // namespace trainyard
