// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/memory_fit/memory_savings.h"

#include "core/iteration/memory/off_gpu.h"
#include "core/iteration/placement/degrees.h"
#include "core/iteration/placement/shard_exchange.h"

#include <algorithm>

namespace trainyard {

namespace {

int smallestNode(const Cluster &cluster)
{
    int smallest = 1 << 20;
    for (const Datacenter &datacenter : cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            smallest = std::min(smallest, pool.gpusPerNode);
    return smallest;
}

class Ladder {
public:
    Ladder(const Plan &plan, const ModelSpec &model, const StackSpec &stack)
        : m_plan(plan)
        , m_model(model)
        , m_stack(stack)
        , m_hasDrives(allHaveDrives(plan.cluster))
    {
    }

    std::vector<MemorySaving> memorySavings()
    {
        free();
        recompute();
        activations();
        sharding();
        offload();
        numerics();
        shape();
        return std::move(m_rungs);
    }

private:
    template <class Apply>
    void add(bool isNews, const char *id, std::string name, const char *price, SavingCost cost, Apply apply,
        SavingAim aim = SavingAim::Other)
    {
        if (isNews)
            m_rungs.push_back({ id, std::move(name), price, cost, std::move(apply), aim });
    }

    void free()
    {
        const Degrees p = degreesOf(m_plan);
        add(refusesSharding(m_plan, m_stack), "zero-1", "ZeRO-1: the stack refuses more in a pipeline",
            "gradients and weights stay whole", SavingCost::Nothing,
            [](Plan &next) { next.parallelism.zeroStage = 1; });
        add(p.tensor > 1 && !p.isSequenceParallel, "sequence-parallel", "Split norms and dropout along the sequence",
            "a gather and a scatter move what the all-reduce moved", SavingCost::Nothing,
            [](Plan &next) { next.parallelism.sequenceParallel.reset(); });
        add(p.zeroStage < 1, "zero-1", "Shard optimizer states (ZeRO-1)",
            "a scatter and a gather move what the all-reduce moved", SavingCost::Nothing,
            [](Plan &next) { next.parallelism.zeroStage = 1; });
    }

    void recompute()
    {
        const MemoryStrategy &memory = m_plan.memory;
        const bool isFull = memory.recompute == Recompute::Full && !memory.recomputeLayers;
        add(memory.recompute == Recompute::None && !m_stack.flashAttention, "recompute-attention",
            "Recompute the attention core (selective)", "its products run once more", SavingCost::Compute,
            [](Plan &next) { next.memory.recompute = Recompute::Selective; });
        add(!isFull && !memory.recomputeNorms, "recompute-norms", "Recompute norms",
            "one pass over the norms' inputs more", SavingCost::Compute,
            [](Plan &next) { next.memory.recomputeNorms = true; });
        add(!isFull && !memory.recomputeActivationFunction, "recompute-activation", "Recompute activation functions",
            "one pass over the MLP's inner tensors more", SavingCost::Compute,
            [](Plan &next) { next.memory.recomputeActivationFunction = true; });
        addExperts(isFull);
        add(memory.recompute == Recompute::None && m_stack.flashAttention && m_stack.operatorLevelSelective,
            "recompute-selective", "Recompute every second product (selective)", "half the products run once more",
            SavingCost::Compute, [](Plan &next) { next.memory.recompute = Recompute::Selective; });
    }

    /// What latent attention and experts let spare, where other recomputation leaves anything of it.
    void addExperts(bool isFull)
    {
        const MemoryStrategy &memory = m_plan.memory;
        const bool isByTensor =
            !isFull && !(memory.recompute == Recompute::Selective && m_stack.operatorLevelSelective);
        add(isByTensor && m_model.isMoe() && m_stack.storesExpertOutputs && m_plan.moe.permute == MoePermute::Standard,
            "permute-memory-efficient", "Apply probabilities before the experts' second product",
            "the experts' results are not there for the backward, which does not need them then", SavingCost::Nothing,
            [](Plan &next) { next.moe.permute = MoePermute::MemoryEfficient; });
        add(isByTensor && m_model.attention == AttentionKind::Latent && !memory.recomputeUpProjection,
            "recompute-up-projection", "Recompute the up-projections of latent attention",
            "queries, keys and values are made twice", SavingCost::Compute,
            [](Plan &next) { next.memory.recomputeUpProjection = true; });
        add(isByTensor && m_model.isMoe() && m_model.sharedExpertFfn > 0 && !memory.recomputeSharedExperts,
            "recompute-shared-experts", "Recompute shared experts", "their products run once more", SavingCost::Compute,
            [](Plan &next) { next.memory.recomputeSharedExperts = true; });
        add(isByTensor && m_model.isMoe() && memory.activationOffload == ActivationOffload::None
                && !memory.offloadExpertInput,
            "expert-input-host", "The experts' input in host memory", "what PCIe does not hide shows",
            SavingCost::Traffic, [](Plan &next) { next.memory.offloadExpertInput = true; });
    }

    void activations()
    {
        const bool keepsActivations = m_plan.memory.activationOffload == ActivationOffload::None;
        const auto leave = [](ActivationOffload target) {
            return [target](Plan &next) {
                if (next.memory.activationOffload
                    == ActivationOffload::None) // not where a saving before sent them elsewhere
                    next.memory.activationOffload = target;
            };
        };
        add(keepsActivations && m_hasDrives, "activations-drives", "Activations on drives (SSDTrain)",
            "drives wear out; what does not fit their bandwidth stays", SavingCost::Traffic,
            leave(ActivationOffload::Ssd));
        add(keepsActivations, "activations-host", "Activations in host memory",
            "what does not fit the bandwidth of PCIe stays", SavingCost::Traffic, leave(ActivationOffload::Host));
    }

    void sharding()
    {
        const Degrees p = degreesOf(m_plan);
        const auto gains = [&](int zero) { // in a pipeline gradients and weights may stay whole whatever is sharded
            Plan next = m_plan;
            next.parallelism.zeroStage = zero;
            const bool isOffered = p.pipeline == 1 || !(m_stack.shardsOptimizerOnly || m_stack.refusesShardedPipelines);
            return isOffered && shardExchange(next, m_stack) != ShardExchange::Once;
        };
        add(
            p.zeroStage < 2 && gains(2), "zero-2", "Shard gradients too (ZeRO-2)",
            p.pipeline == 1 ? "every micro-batch scatters its gradients"
                            : "every run of micro-batches scatters its gradients",
            SavingCost::Traffic,
            [](Plan &next) { next.parallelism.zeroStage = std::max(2, next.parallelism.zeroStage); },
            SavingAim::ShardGradients);
        const MemoryStrategy &memory = m_plan.memory;
        const bool isFull = memory.recompute == Recompute::Full && !memory.recomputeLayers;
        add(
            !isFull, "recompute-full", "Recompute every layer", "every forward runs a second time", SavingCost::Compute,
            [](Plan &next) {
                next.memory.recompute = Recompute::Full;
                next.memory.recomputeLayers.reset();
            },
            SavingAim::RecomputeLayers);
        add(m_plan.workload.microBatch > 1, "micro-batch-1", "Micro-batch 1", "smaller products, more of them",
            SavingCost::Kernels, [](Plan &next) { next.workload.microBatch = 1; });
        add(
            p.zeroStage < 3 && gains(3), "zero-3", "Shard weights too (ZeRO-3)",
            p.pipeline == 1 ? "every micro-batch gathers the weights twice"
                            : "every run of micro-batches gathers the weights",
            SavingCost::Traffic, [](Plan &next) { next.parallelism.zeroStage = 3; }, SavingAim::ShardGradients);
    }

    void offload()
    {
        const MemoryStrategy &memory = m_plan.memory;
        add(
            memory.optimizerOffload == OptimizerOffload::None, "optimizer-host",
            "Optimizer states in host memory (ZeRO-Offload)",
            "the processors do the update, gradients and weights cross PCIe", SavingCost::Traffic,
            [](Plan &next) { next.memory.optimizerOffload = OptimizerOffload::Host; }, SavingAim::MoveStates);
        add(
            memory.optimizerOffload != OptimizerOffload::Ssd && m_hasDrives, "optimizer-drives",
            "Optimizer states on drives (ZeRO-Infinity)", "the update waits for drives to read and write them",
            SavingCost::Traffic, [](Plan &next) { next.memory.optimizerOffload = OptimizerOffload::Ssd; },
            SavingAim::MoveStates);
        const bool canShard = degreesOf(m_plan).pipeline == 1 || !m_stack.refusesShardedPipelines;
        add(
            memory.parameterOffload == ParameterOffload::None && canShard, "parameters-host",
            "Parameters in host memory (ZeRO-Infinity)", "every micro-batch fetches the weights over PCIe",
            SavingCost::Traffic,
            [](Plan &next) {
                next.memory.parameterOffload = ParameterOffload::Host;
                if (next.memory.optimizerOffload == OptimizerOffload::None)
                    next.memory.optimizerOffload = OptimizerOffload::Host;
                next.parallelism.zeroStage = 3;
            },
            SavingAim::MoveStates);
        add(
            memory.parameterOffload != ParameterOffload::Ssd && m_hasDrives && canShard, "parameters-drives",
            "Parameters and optimizer states on drives (ZeRO-Infinity)",
            "every micro-batch reads the weights from drives", SavingCost::Traffic,
            [](Plan &next) {
                next.memory.parameterOffload = ParameterOffload::Ssd;
                next.memory.optimizerOffload = OptimizerOffload::Ssd;
                next.parallelism.zeroStage = 3;
            },
            SavingAim::MoveStates);
    }

    void numerics()
    {
        add(m_plan.workload.optimizer == Optimizer::Adam && m_plan.memory.optimizerOffload == OptimizerOffload::None,
            "adam-8bit", "Moments in 8 bits", "the optimizer rounds its moments", SavingCost::Numerics, [](Plan &next) {
                if (next.memory.optimizerOffload == OptimizerOffload::None)
                    next.workload.optimizer = Optimizer::Adam8bit;
            });
    }

    void shape()
    {
        const Degrees p = degreesOf(m_plan);
        for (int t = p.tensor * 2; t <= std::min(smallestNode(m_plan.cluster), 8) && m_model.heads % t == 0; t *= 2) {
            add(true, t == p.tensor * 2 ? "tensor-2x" : "tensor-4x", "Tensor parallel " + std::to_string(t),
                "more exchange inside each layer, fewer replicas", SavingCost::Shape, [t](Plan &next) {
                    next.parallelism.tensor = t;
                    next.parallelism.data.reset();
                });
        }
        for (const int factor : { 2, 4 }) {
            const int stages = p.pipeline * factor;
            add(stages <= m_model.layers && m_plan.placement.stages.empty() && m_plan.placement.layers.empty(),
                factor == 2 ? "stages-2x" : "stages-4x", std::to_string(stages) + " pipeline stages",
                "a longer bubble, fewer replicas", SavingCost::Shape, [stages](Plan &next) {
                    next.parallelism.pipeline = stages;
                    next.parallelism.data.reset();
                });
        }
    }

    const Plan &m_plan;
    const ModelSpec &m_model;
    const StackSpec &m_stack;
    bool m_hasDrives;
    std::vector<MemorySaving> m_rungs;
};

} // namespace

std::vector<MemorySaving> memorySavings(const Plan &plan, const ModelSpec &model, const StackSpec &stack)
{
    return Ladder(plan, model, stack).memorySavings();
}

} // namespace trainyard
