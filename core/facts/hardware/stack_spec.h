#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The habits of a training framework that move time and memory: what it overlaps, keeps, fuses and adds on its own.
// Named sets live in resources/catalog/stacks.json; a plan names one or overrides fields of one. `ideal` adds nothing.

#include "core/base/error.h"

#include <map>
#include <string>
#include <vector>

namespace trainyard {

/// One release of a stack: its kernel and host time over that of the stack as fitted (stack_releases.json, written by
/// tools/fit_releases). Models without and with experts apart. docs/model.md, "Stacks".
struct StackRelease {
    /// "26.02"
    std::string id;
    /// times
    double dense = 1, experts = 1;
    int densePlans = 0,
        expertPlans = 0; // plans that this very release shares with others; 0: taken from its neighbour in age
    [[nodiscard]] double time(bool isMoe) const { return isMoe ? experts : dense; }
    [[nodiscard]] int plans(bool isMoe) const { return isMoe ? expertPlans : densePlans; }
    bool operator==(const StackRelease &) const = default;
};

struct StackSpec {
    /// "megatron-core"
    std::string id;
    std::string name;
    /// no s x s matrix is stored
    bool flashAttention = true;
    /// launch floor is hidden: the whole iteration is captured
    bool cudaGraphs = false;
    /// attention, norms, router and dense MLPs are captured; what follows the routing of tokens is launched by the host
    bool partialGraphs = false;
    /// the router of an expert layer runs fused kernels
    bool fusedRouter = false;
    /// one kernel for the products of all experts of a GPU; 0: one for each expert
    bool groupedProducts = true;
    /// classic GPT recipe: 1 byte an element
    bool storesDropoutMasks = false;
    /// bytes of a main gradient element
    double gradientBytes = 4;
    /// elements reduced at a time while backward runs; 0 = all in one
    double gradientBucket = 0;
    /// the same for each data-parallel rank, where that is more
    double gradientBucketPerRank = 0;
    /// full recompute also on the last stage, whose activations are still there
    bool recomputesLastStage = true;
    /// every optimizer step waits for all reductions (gradient clipping)
    bool gradientNormBarrier = false;
    // Options of a run, for overrides: they choose among the figures below.
    /// context ranks share the causal triangle evenly; 0: the last has the longest rows
    bool balancedContext = true;
    /// 0: eager element-wise kernels, and tensors saved that backward does not read
    bool compiled = true;
    /// tensor-parallel communication in pieces between the pieces of its product
    bool asyncTensor = false;
    /// 8-bit operands scaled by row instead of by tensor
    bool float8Rowwise = false;
    bool synchronousLaunches =
        false; // the host waits for each kernel before it launches the next (CUDA_LAUNCH_BLOCKING)
    /// unfused attention of plain tensor operations: mask, softmax and casts a kernel each
    bool eagerAttention = false;
    bool contextGather =
        false; // context ranks gather all keys and values before attention instead of passing them round
    bool freesStageInputs =
        false; // the input of a stage is not kept: its first norm's backward works from the norm's output
    // Time habits, fitted to published runs (stack_times.json, written by tools/fit_stacks). docs/model.md, "Stacks".
    /// the host's time to launch a kernel; shows where the GPU is faster
    double hostUsPerKernel = 0;
    /// speed of kernels within a training step relative to alone
    double kernelEfficiency = 1;
    /// the same of 8- and 4-bit products, which were measured in inference libraries
    double narrowEfficiency = 1;
    /// memory passes of norms, activation, residual relative to a fused minimum
    double elementwisePasses = 1.0;
    /// the same where nothing is compiled
    double eagerPasses = 2.0;
    /// memory traffic of adding one parameter's gradient to the main gradient
    double accumulationBytes = 0;
    /// passes over the operands of an 8- or 4-bit product to scale and round them
    double castPasses = 0;
    /// the same with scales by row
    double rowwiseCastPasses = 0;
    /// share of tensor-parallel communication hidden under GEMMs
    double tensorOverlap = 0;
    /// the same with asyncTensor
    double asyncTensorOverlap = 0;
    /// share of a local boundary transfer hidden under compute
    double pipelineOverlap = 0;
    /// share of backward under which the data-parallel reduction may hide
    double gradientOverlap = 0;
    /// share of compute under which the ZeRO all-gather may hide
    double parameterOverlap = 0;
    double rankCopyUs =
        0; // of a gather or scatter into a list of tensors, for each rank: the host launches one small copy
    double liveParameters =
        0; // weights gathered by tensor: with one at work of so many elements none is fetched ahead (0: any)
    /// compute lost per second of communication that runs beside it
    double overlapSlowdown = 0;
    /// host work of one micro-batch on one stage, each way
    double microBatchOverheadUs = 0;
    /// host work of an iteration: data, logging, gradient norm, launches of the optimizer
    double iterationOverheadMs = 0;
    /// what is left of it where CUDA graphs capture the iteration: data, one launch, reading the loss
    double graphedOverheadMs = 0;
    [[nodiscard]] double overheadMs() const { return cudaGraphs ? graphedOverheadMs : iterationOverheadMs; }
    /// share of a GPU's speed that kernels of one micro-batch lose beside an exchange of another with experts, beyond
    /// the multiprocessors that the exchange holds
    double pairLoss = 0;
    /// bytes a vocabulary element of the loss keeps live at its peak
    double logitsBytesPerElement = 6;
    /// CUDA context and libraries
    double contextBytes = 0;
    /// NCCL buffers of one communicator
    double communicatorBytes = 0;
    double workspaceBytes = 0;
    /// reserved by the allocator / allocated
    double fragmentation = 1.0;
    // Habits that move memory only; docs/model.md, "Memory".
    bool weightsKeptInFp32 =
        false; // FSDP: the 32-bit shard is the parameter, 16-bit copies are gathered for the moment
    /// the optimizer keeps a 32-bit copy of 16-bit weights
    bool masterWeights = true;
    /// selective: every second product is recomputed, not the attention core
    bool operatorLevelSelective = false;
    /// 8- and 4-bit products keep their inputs in that format
    bool keepsQuantizedInputs = false;
    /// of routed tokens, because probabilities are applied after them
    bool storesExpertOutputs = false;
    /// the host learns how many tokens each expert gets before it launches the rest
    bool waitsForRouting = false;
    /// context parallel by exchanging heads instead of a ring of keys and values
    bool contextAllToAll = false;
    /// the output of a stage lives until its backward
    bool keepsStageOutputs = false;
    /// gradients of the layer and of the weights at work exist beside what is kept
    bool backwardTemporaries = false;
    /// one 16-bit gradient buffer for each shape of weight stays allocated
    bool keepsWeightGradientBuffers = false;
    bool pipelineKeepsGathered =
        false; // ZeRO-2 and 3 in a pipeline: gradients stay whole and weights gathered for the iteration
    /// ZeRO-2 and 3 cannot run in a pipeline
    bool refusesShardedPipelines = false;
    bool shardsOptimizerOnly =
        false; // has ZeRO-1 alone in a pipeline: the rest is modelled as another framework would do it
    /// ZeRO-3 gathers every weight matrix on its own, not a layer at a time
    bool gathersByTensor = false;
    /// and again for the recomputation, before it gathers for backward
    bool gathersToRecompute = false;
    /// bytes a vocabulary element between forward and backward of the loss
    double lossKeptBytesPerElement = 4;
    /// of a vocabulary element at the peak, where tensor ranks share the vocabulary
    double parallelLossExtraBytes = 0;
    /// of an element that a rank owns: a 32-bit gradient copy for the step
    double gradientShardBytes = 0;
    /// data-parallel ranks gather weights as 8- and 4-bit products read them (FP8 parameter gather)
    bool gathersQuantized = false;
    /// layers gathered at once under ZeRO-3: at work and fetched ahead
    double gatheredLayers = 2;
    /// reduction bucket under ZeRO
    double bucketBytes = 0;
    /// 8- or 4-bit copies of a weight beside the 16-bit one
    double quantizedWeightCopies = 0;
    /// that are known, oldest first
    std::vector<StackRelease> releases;
    std::map<std::string, std::string> sources;
    /// nullptr where unknown
    [[nodiscard]] const StackRelease *release(const std::string &id) const;
    bool operator==(const StackSpec &) const = default;
};

/// The stack with fields replaced, by their names in stacks.json ("host_us_per_kernel"); booleans as 0 and 1.
/// Errors: UnknownKey with the nearest field.
[[nodiscard]] Expected<StackSpec> withOverrides(const StackSpec &base, const std::map<std::string, double> &overrides);

/// The stack with all its kernels and host work taking `time` times as long: what a release changes. Communication,
/// overlaps and memory stay.
[[nodiscard]] StackSpec slowedBy(const StackSpec &stack, double time);

} // namespace trainyard
