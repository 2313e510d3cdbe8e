// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/stage_memory.h"

#include "core/workload/model_math.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

/// Bytes of optimizer state an element: 32-bit master weight and moments; a 32-bit model is its own master.
double optimizerBytes(const WorkloadSpec &workload)
{
    const double master = weightBytes(workload.precision) >= 4 ? 0 : 4;
    switch (workload.optimizer) {
    case Optimizer::Adam: return master + 8;
    case Optimizer::Sgd: return master;
    case Optimizer::Lion: return master + 4;
    case Optimizer::Adafactor: return master + 0.1;   // row and column factors
    case Optimizer::Adam8bit: return master + 2 + 8.0 / 2048;
    }
    return master + 8;
}

ActivationShape activationShape(const Workload &workload, Recompute recompute)
{
    const Plan &plan = *workload.plan;
    const Parallelism &p = plan.parallelism;
    return {double(plan.workload.sequenceLength), double(plan.workload.microBatch), p.tensor, p.context, p.expert, p.expertTensor,
            p.usesSequenceParallel(), recompute, plan.moe.load()};
}

class StageMemoryModel {
public:
    StageMemoryModel(const Workload &workload, const Costs &costs) : m_work(workload)
    {
        m_inFlight.resize(std::size_t(workload.plan->parallelism.pipeline));
        for (const PipelineCosts &c : costs.iteration.classes) {
            const std::vector<double> peaks = peakInFlight(c.program);
            for (std::size_t i = 0; i < m_inFlight.size(); ++i)
                m_inFlight[i] = std::max(m_inFlight[i], peaks[i]);
        }
    }

    [[nodiscard]] StageMemory of(int stage) const
    {
        StageMemory m;
        m.stage = stage;
        m.inFlight = m_inFlight[std::size_t(stage)];
        addStates(m, stage);
        addActivations(m, stage);
        addBuffers(m, stage);
        m.peak = m.weights + m.gradients + m.optimizer + m.activations + m.buffers;
        m.reserved = std::llround(double(m.peak) * m_work.stack.fragmentation);
        if (m.reserved > m.peak)
            m.parts.emplace_back("allocator reserve", m.reserved - m.peak);
        const std::int64_t driver = std::llround(m_work.stack.contextBytes + communicators() * m_work.stack.communicatorBytes);
        if (driver > 0)
            m.parts.emplace_back("CUDA context and communicators", driver);
        m.device = m.reserved + driver;
        std::stable_sort(m.parts.begin(), m.parts.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
        return m;
    }

private:
    static void add(StageMemory &m, std::int64_t &field, const char *name, double bytes)
    {
        const std::int64_t whole = std::llround(bytes);
        field += whole;
        if (whole > 0)
            m.parts.emplace_back(name, whole);
    }

    void addStates(StageMemory &m, int stage) const
    {
        const Plan &plan = *m_work.plan;
        const Parallelism &p = plan.parallelism;
        const StageParameters parameters = stageParameters(m_work, stage);
        const double shards = double(m_work.layout.data) * p.context;
        const double expertShards = std::max(1.0, shards * p.tensor / (p.expert * p.expertTensor));
        const auto states = [&](double bytes, bool isSharded) {
            return bytes * (isSharded ? parameters.dense / shards + parameters.experts / expertShards : parameters.total());
        };
        add(m, m.weights, "weights", states(weightBytes(plan.workload.precision), p.zeroStage >= 3));
        add(m, m.gradients, "gradients", states(m_work.stack.gradientBytes, p.zeroStage >= 2));
        add(m, m.optimizer, "optimizer states", states(optimizerBytes(plan.workload), p.zeroStage >= 1));
    }

    void addActivations(StageMemory &m, int stage) const
    {
        const Plan &plan = *m_work.plan;
        const auto &chunks = m_work.layout.chunks[std::size_t(stage)];
        const double perMicroBatch = activationBytesPerMicroBatch(m_work, stage);
        m.activationPerMicroBatch = std::llround(perMicroBatch);
        add(m, m.activations, "activations", perMicroBatch * m.inFlight);
        if (plan.memory.recompute == Recompute::Full) {   // one layer is whole while it is recomputed
            const bool hasExperts = std::any_of(chunks.begin(), chunks.end(), [](const StageChunk &c) { return c.expertLayers > 0; });
            add(m, m.activations, "layer under recomputation",
                layerActivationBytes(m_work.model, hasExperts, activationShape(m_work, Recompute::None), m_work.stack));
        }
        const double tokens = double(plan.workload.microBatch) * plan.workload.sequenceLength / plan.parallelism.context;
        for (const StageChunk &chunk : chunks) {
            if (chunk.hasHead)
                add(m, m.activations, "logits and loss",
                    tokens * m_work.model.vocab / plan.parallelism.tensor * m_work.stack.logitsBytesPerElement);
        }
    }

    void addBuffers(StageMemory &m, int stage) const
    {
        const Parallelism &p = m_work.plan->parallelism;
        add(m, m.buffers, "workspace", m_work.stack.workspaceBytes);
        if (p.zeroStage >= 3) {   // the layer at work and the one that is fetched ahead
            const LayerParameters layer = layerParameters(m_work.model, m_work.model.isMoe());
            const double elements = (layer.attention + layer.mlp) / p.tensor + layer.experts / (p.expert * p.expertTensor);
            add(m, m.buffers, "gathered layers", 2 * weightBytes(m_work.plan->workload.precision) * elements);
        }
        if (p.pipeline > 1) {     // one received and one sent tensor at each boundary
            const double copies = stage > 0 && stage + 1 < p.pipeline ? 4 : 2;
            add(m, m.buffers, "boundary buffers", copies * m_work.boundaryBytes(false) / (p.usesSequenceParallel() ? p.tensor : 1));
        }
    }

    [[nodiscard]] int communicators() const
    {
        const Parallelism &p = m_work.plan->parallelism;
        return 1 + (p.tensor > 1) + (p.pipeline > 1) + (m_work.layout.data * p.context > 1) + (p.context > 1) + (p.expert > 1);
    }

    const Workload &m_work;
    std::vector<double> m_inFlight;
};

} // namespace

double activationBytesPerMicroBatch(const Workload &workload, int stage)
{
    const ActivationShape shape = activationShape(workload, workload.plan->memory.recompute);
    const double dense = layerActivationBytes(workload.model, false, shape, workload.stack);
    const double expert = workload.model.isMoe() ? layerActivationBytes(workload.model, true, shape, workload.stack) : 0;
    double bytes = 0;
    for (const StageChunk &chunk : workload.layout.chunks[std::size_t(stage)]) {
        bytes += (chunk.layers - chunk.expertLayers) * dense + chunk.expertLayers * expert;
        if (chunk.hasEmbedding && workload.stack.storesDropoutMasks)
            bytes += shape.microBatch * shape.sequence / shape.context * workload.model.hidden / (shape.sequenceParallel ? shape.tensor : 1);
    }
    return bytes;
}

std::vector<StageMemory> stageMemory(const Workload &workload, const Costs &costs)
{
    std::vector<StageMemory> stages;
    if (workload.plan->profile)
        return stages;
    const StageMemoryModel model(workload, costs);
    for (int stage = 0; stage < workload.plan->parallelism.pipeline; ++stage) {
        StageMemory memory = model.of(stage);
        memory.capacity = workload.gpu(workload.layout.classes.front().seats[std::size_t(stage)]).memoryBytes;
        for (const PipelineClass &c : workload.layout.classes)
            memory.capacity = std::min(memory.capacity, workload.gpu(c.seats[std::size_t(stage)]).memoryBytes);
        stages.push_back(std::move(memory));
    }
    return stages;
}

std::vector<std::vector<Evaluation::MemoryStep>> memoryCurves(const std::vector<StageMemory> &stages, const Layout &layout,
                                                              const Timeline &timeline)
{
    std::vector<std::vector<Evaluation::MemoryStep>> curves(stages.size());
    for (const Track &track : timeline.tracks) {
        if (track.stream != Stream::Compute || track.pipelineClass != 0 || std::size_t(track.stage) >= stages.size())
            continue;
        const StageMemory &memory = stages[std::size_t(track.stage)];
        const auto chunks = std::max<std::size_t>(1, layout.chunks[std::size_t(track.stage)].size());
        const std::int64_t perChunk = memory.activationPerMicroBatch / std::int64_t(chunks);
        // Everything but the micro-batches in flight, the transient parts of the peak included.
        std::int64_t bytes = memory.device - std::llround(double(memory.activationPerMicroBatch) * memory.inFlight);
        auto &curve = curves[std::size_t(track.stage)];
        curve.reserve(track.last - track.first + 2);
        curve.push_back({0, bytes});
        for (std::uint32_t span = track.first; span < track.last; ++span) {
            if (timeline.kind[span] == WorkKind::Forward)
                curve.push_back({timeline.start[span], bytes += perChunk});
            else if (timeline.kind[span] == WorkKind::Backward || timeline.kind[span] == WorkKind::WeightGrad)
                curve.push_back({timeline.end[span], bytes -= perChunk});
        }
        curve.push_back({timeline.duration, bytes});
    }
    return curves;
}

} // namespace trainyard
