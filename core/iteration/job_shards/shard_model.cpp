// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/job_shards/shard_model.h"

#include "core/facts/workload/model_math.h"
#include "core/iteration/cost/kernels/gemm.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/iteration_costs/iteration_costs.h"
#include "core/iteration/memory/chunk_memory.h"
#include "core/iteration/model_states/stage_states.h"
#include "core/iteration/model_states/states_off_gpu.h"
#include "core/iteration/placement/layer_facts.h"

#include <algorithm>
#include <string_view>

namespace trainyard {

namespace {

constexpr std::string_view kWorkspace = "workspace";
constexpr double kRounding = 64; // bytes: parts of a GPU's memory are counted whole

/// One chunk on one GPU.
Layout alone(StageLocation at, const StageChunk &chunk)
{
    Layout layout;
    layout.data = 1;
    layout.classes.emplace_back().locations = { at };
    layout.chunks = { { chunk } };
    return layout;
}

ShardSeconds secondsOf(const ChunkCost &cost)
{
    return { cost.forward.total().value, (cost.inputGrad + cost.weightGrad).total().value, 0 };
}

/// Beside states: what all units need alike is counted with the GPU.
double buffersOf(const StageStates &states)
{
    double sum = 0;
    for (const auto &[name, bytes] : states.buffers)
        sum += name == kWorkspace ? 0 : bytes;
    return sum;
}

} // namespace

ShardModel::ShardModel(const Requested &asked, const std::vector<StageLocation> &kinds)
    : m_turns(asked)
{
    m_turns.at(alone(kinds.front(), chunk({ 0, 0 })));
    m_ranks = rankSet(m_work, m_work.layout.classes.front(), 0);
    m_boundary = layerInputBytes(m_work);
    const ActivationShape shape = activationShape(m_work);
    int experts = 0;
    for (int layer = 0; layer < m_work.model.layers; ++layer) {
        m_expertsBefore.push_back(experts);
        experts += m_work.model.isExpertLayer(layer) ? 1 : 0;
    }
    m_expertsBefore.push_back(experts);
    if (experts < m_work.model.layers)
        m_layerTensors = layerActivations(m_work.model, false, shape, m_work.stack).whole;
    if (experts > 0)
        m_layerTensors = std::max(m_layerTensors, layerActivations(m_work.model, true, shape, m_work.stack).whole);
    for (const StageLocation at : kinds)
        addKind(at);
}

void ShardModel::addKind(StageLocation at)
{
    const Workload work(m_work, alone(at, chunk({ 0, pieces() })));
    StageCoster coster(work);
    const StageCoster::Parts parts = coster.parts(work.layout.classes.front(), 0);
    const GpuSpec &gpu = work.gpu(at);
    OfKind costs;
    costs.dense = secondsOf(parts.dense);
    costs.expert = secondsOf(parts.expert);
    costs.embedding = secondsOf(parts.embedding);
    costs.head = secondsOf(parts.head);
    const double host = microseconds(work.stack.cudaGraphs ? 0 : work.stack.microBatchOverheadUs).value;
    costs.chunk = { host, host, 0 };
    costs.stepOfParameter = (memoryTime(gpu, Bytes { updateTraffic(work) }) + galoreTime(work, gpu, 1)).value;
    costs.overhead = iterationOverhead(work).value;
    m_costs.push_back(costs);
}

StageChunk ShardModel::chunk(Pieces of) const
{
    StageChunk chunk;
    const int layers = m_work.model.layers;
    const int first = std::clamp(of.first - 1, 0, layers), last = std::clamp(of.last - 1, first, layers);
    chunk.firstLayer = first;
    chunk.layers = last - first;
    if (!m_expertsBefore.empty())
        chunk.expertLayers = m_expertsBefore[std::size_t(last)] - m_expertsBefore[std::size_t(first)];
    chunk.hasEmbedding = of.first == 0 && of.last > 0;
    chunk.hasHead = of.last == pieces() && of.first < of.last;
    return chunk;
}

ShardCut ShardModel::cut(Pieces of)
{
    const StageChunk c = chunk(of);
    return { c.firstLayer, c.layers, c.hasEmbedding, c.hasHead, bytes(of).parameters };
}

const ShardBytes &ShardModel::bytes(Pieces of)
{
    const StageChunk c = chunk(of);
    const auto [at, isNew] = m_known.try_emplace({ c.layers, c.expertLayers, c.hasEmbedding, c.hasHead });
    if (isNew)
        at->second = counted(c);
    return at->second;
}

ShardBytes ShardModel::counted(const StageChunk &of)
{
    m_turns.at(alone(m_work.layout.classes.front().locations.front(), of));
    const StageStates states = stageStates(m_work, m_ranks);
    const ChunkMemory memory = chunkMemory(m_work, 0).front();
    const double buffers = buffersOf(states), own = states.weights + states.optimizer;
    const double in = of.hasEmbedding ? 0 : m_boundary, out = of.hasHead ? 0 : m_boundary;
    ShardBytes bytes;
    bytes.parameters = stageParameters(m_work, 0).total();
    bytes.computed = bytes.parameters * weightBytes(m_work.plan->workload.precision);
    bytes.states = own;
    bytes.forward = states.weights + buffers + memory.ends + (of.layers > 0 ? m_layerTensors : 0) + in + out;
    // What comes in is the first tensor kept; its gradient leaves, that of the output comes
    bytes.backward = own + states.gradients + buffers + memory.kept + memory.ends + memory.loss
        + std::max({ 0.0, memory.forward.total(), memory.backward.total() }) + in + out;
    return bytes;
}

ShardSeconds ShardModel::seconds(Pieces of, std::size_t kind)
{
    const StageChunk c = chunk(of);
    const OfKind &costs = m_costs[kind];
    ShardSeconds sum = costs.chunk;
    const auto add = [&](const ShardSeconds &one, double times) {
        sum.forward += one.forward * times;
        sum.backward += one.backward * times;
    };
    add(costs.dense, c.layers - c.expertLayers);
    add(costs.expert, c.expertLayers);
    add(costs.embedding, c.hasEmbedding ? 1 : 0);
    add(costs.head, c.hasHead ? 1 : 0);
    sum.step = bytes(of).parameters * costs.stepOfParameter;
    return sum;
}

double roomForUnits(const Requested &asked, StageLocation at)
{
    const double device = double(asked.gpu(at).memoryBytes) * asked.plan->heterogeneity.memoryFraction;
    return std::max(
        0.0, (device - asked.stack.contextBytes) / asked.stack.fragmentation - asked.stack.workspaceBytes - kRounding);
}

} // namespace trainyard
