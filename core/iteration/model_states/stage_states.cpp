// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/model_states/stage_states.h"

#include "core/facts/hardware/host_spec.h"
#include "core/facts/workload/weight_shapes.h"
#include "core/iteration/model_states/stage_parameters.h"
#include "core/iteration/model_states/states_off_gpu.h"
#include "core/iteration/placement/activation_shape.h"
#include "core/iteration/placement/class_workload.h"
#include "core/iteration/placement/shard_exchange.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace trainyard {

namespace {

/// Elements of a stage on one GPU that are treated alike.
struct StageElements { // ends: token table and output matrix
    double dense = 0, experts = 0, embedding = 0, ends = 0;
};

class StateModel {
public:
    StateModel(const Workload &workload, const RankSet &ranks)
        : m_work(workload)
        , m_plan(*workload.plan)
        , m_p(ranks.degrees)
        , m_stack(workload.stack)
        , m_model(workload.model)
        , m_chunks(workload.layout.chunks[std::size_t(ranks.stage)])
        , m_stage(ranks.stage)
        , m_at(ranks.at)
        , m_weight(weightBytes(m_plan.workload.precision))
    {
        const StageParameters parameters = stageParameters(workload, m_stage);
        m_elements.dense = parameters.dense;
        m_elements.experts = parameters.experts;
        for (const StageChunk &chunk : m_chunks) {
            if (chunk.hasEmbedding)
                m_elements.embedding += embeddingParameters(m_model) / m_p.tensor;
            if (chunk.hasHead)
                m_elements.ends += double(m_model.vocab) * m_model.hidden / m_p.tensor;
        }
        m_elements.ends += m_elements.embedding;
        m_shards = stateShards(workload, ranks);
        m_expertShards = std::max(1.0, m_shards * m_p.tensor / (m_p.expert * m_p.expertTensor));
    }

    [[nodiscard]] StageStates states() const
    {
        StageStates s;
        // Where the 32-bit weight is the parameter, stage 2 shards it too and leaves only its 16-bit copy gathered.
        s.weights =
            state(m_stack.weightsKeptInFp32 ? 4 : m_weight, m_p.zeroStage >= (m_stack.weightsKeptInFp32 ? 2 : 3));
        s.gradients = state(m_stack.gradientBytes, m_p.zeroStage >= 2);
        if (m_p.zeroStage >= 1)
            s.gradients += state(m_stack.gradientShardBytes, true);
        s.optimizer = state(optimizerStateBytes(m_work), m_p.zeroStage >= 1);
        if (m_plan.workload.optimizer == Optimizer::Adam8bit) // moments of the token table stay in 32 bits
            s.optimizer += m_elements.embedding * (8 - kMoments8Bit) / (m_p.zeroStage >= 1 ? m_shards : 1);
        moveOptimizer(s);
        moveParameters(s);
        if (trainsLocally(
                m_work)) // local SGD's outer optimizer: momentum and the parameters of the last exchange, 32 bits each
            s.optimizer += state(8, m_p.zeroStage >= 1);
        addGathered(s);
        addFrameworkBuffers(s);
        addCommunicationBuffers(s);
        return s;
    }

private:
    [[nodiscard]] double state(double bytes, bool isSharded) const
    {
        return bytes
            * (isSharded ? m_elements.dense / m_shards + m_elements.experts / m_expertShards
                         : m_elements.dense + m_elements.experts);
    }

    static void moveOff(StageStates &s, double bytes, bool isOnDrives)
    {
        (isOnDrives ? s.onDrives : s.inHost) += bytes;
    }

    /// Of an interleaved update: what the GPU does of the parameters that it owns.
    [[nodiscard]] double gpuShare(double own) const
    {
        if (m_plan.memory.optimizerOffload != OptimizerOffload::Interleaved)
            return 0;
        const int stride = offloadedStep(m_work, m_at, own).stride;
        return stride > 0 ? 1.0 / stride : 0;
    }

    /// Optimizer states in host memory or on drives, with the gradients where those leave during backward; what is
    /// under way.
    void moveOptimizer(StageStates &s) const
    {
        const OptimizerOffload offload = m_plan.memory.optimizerOffload;
        if (offload == OptimizerOffload::None)
            return;
        const bool isOnDrives = offload == OptimizerOffload::Ssd;
        const double own = m_elements.dense / m_shards + m_elements.experts / m_expertShards;
        const double group = std::min(builtinHost().subGroupParameters, own);
        moveOff(s, s.optimizer, isOnDrives);
        s.optimizer = 0;
        if (gradientsLeave(m_work)) { // widened to 32 bits there; those of what the GPU updates itself stay
            const double stays = gpuShare(own);
            moveOff(s, state(4, true) * (1 - stays), isOnDrives);
            s.gradients *= stays;
        }
        if (offload == OptimizerOffload::Interleaved) // one group comes, one is updated, one goes, with its gradients
            add(s, "states under update", std::min(3 * group, own) * (optimizerStateBytes(m_work) + 4));
        else
            add(s, "gradients and weights under way", std::min(2 * group, own) * (m_weight + m_stack.gradientBytes));
    }

    /// Weights of the layers in host memory or on drives; token table and output matrix stay.
    void moveParameters(StageStates &s) const
    {
        const ParameterOffload offload = m_plan.memory.parameterOffload;
        if (offload == ParameterOffload::None)
            return;
        const double all = m_elements.dense + m_elements.experts,
                     stays = all > 0 ? std::min(1.0, m_elements.ends / all) : 1;
        moveOff(s, s.weights * (1 - stays), offload == ParameterOffload::Ssd);
        s.weights *= stays;
    }

    static void add(StageStates &s, const char *name, double bytes)
    {
        if (bytes > 0)
            s.buffers.emplace_back(name, bytes);
    }

    /// Elements of the `count` chunks of the stage that have most.
    [[nodiscard]] double largestChunks(int count) const
    {
        if (count == 0)
            return 0;
        std::vector<double> elements;
        for (std::size_t c = 0; c < m_chunks.size(); ++c)
            elements.push_back(chunkParameters(m_work, m_stage, int(c)).total());
        std::ranges::sort(elements, std::greater {});
        elements.resize(std::min(elements.size(), std::size_t(count)));
        return std::accumulate(elements.begin(), elements.end(), 0.0);
    }

    void addGathered(StageStates &s) const
    {
        const double all = m_elements.dense + m_elements.experts;
        const int wholeWeights = m_shards > 1 ? chunksWithWholeWeights(m_plan, m_stack) : 0;
        if (m_stack.weightsKeptInFp32 && m_p.zeroStage <= 2)
            add(s, "gathered weights", m_weight < 4 ? m_weight * all : 0);
        else if (wholeWeights > 0)
            add(s, "gathered weights", m_weight * largestChunks(wholeWeights));
        if (m_shards > 1)
            add(s, "gradients before reduction",
                m_stack.gradientBytes * largestChunks(chunksWithWholeGradients(m_plan, m_stack)));
        const bool arePartsFetched = m_p.zeroStage >= 3 || m_plan.memory.parameterOffload != ParameterOffload::None;
        if (!arePartsFetched || wholeWeights > 0)
            return;
        // Token table and output matrix are gathered under ZeRO-3; below, they stay among the weights.
        const LayerParameters layer = layerParameters(m_model, m_model.isMoe());
        const double elements =
            (layer.attention + layer.mlp) / m_p.tensor + layer.experts / (m_p.expert * m_p.expertTensor);
        const double layers = m_stack.gatheredLayers * elements, ends = m_p.zeroStage >= 3 ? m_elements.ends : 0;
        add(s, "gathered layers",
            std::min(
                m_weight * all, gatheredWeightBytes(m_plan.workload.precision, m_stack) * layers + m_weight * ends));
    }

    void addFrameworkBuffers(StageStates &s) const
    {
        add(s, "workspace", m_stack.workspaceBytes);
        if (m_p.zeroStage >= 1)
            add(s, "reduction bucket", m_stack.bucketBytes);
        if (m_stack.keepsWeightGradientBuffers && m_stack.backwardTemporaries)
            add(s, "weight gradient buffers", m_weight * distinctWeightElements(m_model, layersHere()));
        if (m_stack.quantizedWeightCopies > 0 && keptInputBytes(m_plan.workload.precision, m_stack) < m_weight)
            add(s, "8- and 4-bit weights",
                m_stack.quantizedWeightCopies * keptInputBytes(m_plan.workload.precision, m_stack)
                    * (m_elements.dense + m_elements.experts - m_elements.ends));
    }

    void addCommunicationBuffers(StageStates &s) const
    {
        if (m_stage == 0 && m_p.context <= 1)
            return;
        const ActivationShape shape = activationShape(m_work);
        const double tokens = shape.sequence * shape.microBatch / shape.context;
        if (m_stage > 0) // the next micro-batch arrives while this one is worked on
            add(s, "boundary buffer",
                tokens * shape.elementBytes * m_model.hidden / (shape.sequenceParallel ? m_p.tensor : 1));
        if (m_p.context > 1) { // keys and values of the next rank, and their gradients
            const double width = m_model.attention == AttentionKind::Latent
                ? m_model.heads * double(m_model.latent.nopeDim + m_model.latent.ropeDim + m_model.latent.valueDim)
                : 2.0 * m_model.kvHeads * m_model.headDim;
            const double shares = m_stack.contextGather ? m_p.context : 1; // gathered: those of all ranks
            add(s, m_stack.contextGather ? "gathered keys and values" : "context ring buffers",
                2 * tokens * shape.elementBytes * width / m_p.tensor * shares);
        }
    }

    [[nodiscard]] LayersHere layersHere() const
    {
        LayersHere layers { false, false, m_p.tensor, m_p.expertTensor };
        for (const StageChunk &chunk : m_chunks) {
            layers.dense |= chunk.layers > chunk.expertLayers;
            layers.experts |= chunk.expertLayers > 0;
        }
        return layers;
    }

    const Workload &m_work;
    const Plan &m_plan;
    const Degrees m_p;
    const StackSpec &m_stack;
    const ModelSpec &m_model;
    const std::vector<StageChunk> &m_chunks;
    int m_stage;
    StageLocation m_at;
    double m_weight;
    StageElements m_elements;
    double m_shards = 1, m_expertShards = 1;
};

} // namespace

StageStates stageStates(const Workload &workload, const RankSet &ranks)
{
    if (ranks.degrees.tensor != workload.degrees.tensor)
        return StateModel(withTensor(workload, ranks.degrees.tensor), ranks).states();
    return StateModel(workload, ranks).states();
}

} // namespace trainyard
