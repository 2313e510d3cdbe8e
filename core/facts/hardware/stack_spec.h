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
    std::string id; // "26.02"
    double dense = 1, experts = 1; // times
    int densePlans = 0,
        expertPlans = 0; // plans that this very release shares with others; 0: taken from its neighbour in age
    [[nodiscard]] double time(bool isMoe) const { return isMoe ? experts : dense; }
    [[nodiscard]] int plans(bool isMoe) const { return isMoe ? expertPlans : densePlans; }
    bool operator==(const StackRelease &) const = default;
};

struct StackSpec {
    std::string id; // "megatron-core"
    std::string name;
    bool flashAttention = true; // no s x s matrix is stored
    bool cudaGraphs = false; // launch floor is hidden
    bool storesDropoutMasks = false; // classic GPT recipe: 1 byte an element
    double gradientBytes = 4; // bytes of a main gradient element
    double gradientBucket = 0; // elements reduced at a time while backward runs; 0 = all in one
    double gradientBucketPerRank = 0; // the same for each data-parallel rank, where that is more
    bool recomputesLastStage = true; // full recompute also on the last stage, whose activations are still there
    bool gradientNormBarrier = false; // every optimizer step waits for all reductions (gradient clipping)
    // Options of a run, for overrides: they choose among the figures below.
    bool balancedContext = true; // context ranks share the causal triangle evenly; 0: the last has the longest rows
    bool compiled = true; // 0: eager element-wise kernels, and tensors saved that backward does not read
    bool asyncTensor = false; // tensor-parallel communication in pieces between the pieces of its product
    bool float8Rowwise = false; // 8-bit operands scaled by row instead of by tensor
    bool synchronousLaunches =
        false; // the host waits for each kernel before it launches the next (CUDA_LAUNCH_BLOCKING)
    bool eagerAttention = false; // unfused attention of plain tensor operations: mask, softmax and casts a kernel each
    bool contextGather =
        false; // context ranks gather all keys and values before attention instead of passing them round
    bool freesStageInputs =
        false; // the input of a stage is not kept: its first norm's backward works from the norm's output
    // Time habits, fitted to published runs (stack_times.json, written by tools/fit_stacks). docs/model.md, "Stacks".
    double hostUsPerKernel = 0; // the host's time to launch a kernel; shows where the GPU is faster
    double kernelEfficiency = 1; // speed of kernels within a training step relative to alone
    double narrowEfficiency = 1; // the same of 8- and 4-bit products, which were measured in inference libraries
    double elementwisePasses = 1.0; // memory passes of norms, activation, residual relative to a fused minimum
    double eagerPasses = 2.0; // the same where nothing is compiled
    double accumulationBytes = 0; // memory traffic of adding one parameter's gradient to the main gradient
    double castPasses = 0; // passes over the operands of an 8- or 4-bit product to scale and round them
    double rowwiseCastPasses = 0; // the same with scales by row
    double tensorOverlap = 0; // share of tensor-parallel communication hidden under GEMMs
    double asyncTensorOverlap = 0; // the same with asyncTensor
    double pipelineOverlap = 0; // share of a local boundary transfer hidden under compute
    double gradientOverlap = 0; // share of backward under which the data-parallel reduction may hide
    double parameterOverlap = 0; // share of compute under which the ZeRO all-gather may hide
    double rankCopyUs =
        0; // of a gather or scatter into a list of tensors, for each rank: the host launches one small copy
    double liveParameters =
        0; // weights gathered by tensor: with one at work of so many elements none is fetched ahead (0: any)
    double overlapSlowdown = 0; // compute lost per second of communication that runs beside it
    double microBatchOverheadUs = 0; // host work of one micro-batch on one stage, each way
    double iterationOverheadMs = 0; // host work of an iteration: data, logging, gradient norm
    double logitsBytesPerElement = 6; // bytes a vocabulary element of the loss keeps live at its peak
    double contextBytes = 0; // CUDA context and libraries
    double communicatorBytes = 0; // NCCL buffers of one communicator
    double workspaceBytes = 0;
    double fragmentation = 1.0; // reserved by the allocator / allocated
    // Habits that move memory only; docs/model.md, "Memory".
    bool weightsKeptInFp32 =
        false; // FSDP: the 32-bit shard is the parameter, 16-bit copies are gathered for the moment
    bool masterWeights = true; // the optimizer keeps a 32-bit copy of 16-bit weights
    bool operatorLevelSelective = false; // selective: every second product is recomputed, not the attention core
    bool keepsQuantizedInputs = false; // 8- and 4-bit products keep their inputs in that format
    bool storesExpertOutputs = false; // of routed tokens, because probabilities are applied after them
    bool waitsForRouting = false; // the host learns how many tokens each expert gets before it launches the rest
    bool contextAllToAll = false; // context parallel by exchanging heads instead of a ring of keys and values
    bool keepsStageOutputs = false; // the output of a stage lives until its backward
    bool backwardTemporaries = false; // gradients of the layer and of the weights at work exist beside what is kept
    bool keepsWeightGradientBuffers = false; // one 16-bit gradient buffer for each shape of weight stays allocated
    bool pipelineKeepsGathered =
        false; // ZeRO-2 and 3 in a pipeline: gradients stay whole and weights gathered for the iteration
    bool refusesShardedPipelines = false; // ZeRO-2 and 3 cannot run in a pipeline
    bool shardsOptimizerOnly =
        false; // has ZeRO-1 alone in a pipeline: the rest is modelled as another framework would do it
    bool gathersByTensor = false; // ZeRO-3 gathers every weight matrix on its own, not a layer at a time
    bool gathersToRecompute = false; // and again for the recomputation, before it gathers for backward
    double lossKeptBytesPerElement = 4; // bytes a vocabulary element between forward and backward of the loss
    double parallelLossExtraBytes = 0; // of a vocabulary element at the peak, where tensor ranks share the vocabulary
    double gradientShardBytes = 0; // of an element that a rank owns: a 32-bit gradient copy for the step
    double gatheredLayers = 2; // layers gathered at once under ZeRO-3: at work and fetched ahead
    double bucketBytes = 0; // reduction bucket under ZeRO
    double quantizedWeightCopies = 0; // 8- or 4-bit copies of a weight beside the 16-bit one
    std::vector<StackRelease> releases; // that are known, oldest first
    std::map<std::string, std::string> sources;
    [[nodiscard]] const StackRelease *release(const std::string &id) const; // nullptr where unknown
    bool operator==(const StackSpec &) const = default;
};

/// The stack with fields replaced, by their names in stacks.json ("host_us_per_kernel"); booleans as 0 and 1.
/// Errors: UnknownKey with the nearest field.
[[nodiscard]] Expected<StackSpec> withOverrides(const StackSpec &base, const std::map<std::string, double> &overrides);

/// The stack with all its kernels and host work taking `time` times as long: what a release changes. Communication,
/// overlaps and memory stay.
[[nodiscard]] StackSpec slowedBy(const StackSpec &stack, double time);

} // namespace trainyard
