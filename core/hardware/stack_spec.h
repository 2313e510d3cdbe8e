#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The habits of a training framework that move time and memory: what it overlaps, keeps, fuses and adds on its own.
// Named sets live in resources/catalog/stacks.json; a plan names one or overrides fields of one. `ideal` adds nothing.

#include "core/base/error.h"

#include <map>
#include <string>

namespace trainyard {

struct StackSpec {
    std::string id;                        // "megatron-core"
    std::string name;
    bool flashAttention = true;            // no s x s matrix is stored
    bool cudaGraphs = false;               // launch floor is hidden
    bool storesDropoutMasks = false;       // classic GPT recipe: 1 byte an element
    double gradientBytes = 4;              // bytes of a main gradient element
    double kernelOverheadUs = 0;           // host time between dependent kernels that the GPU waits for
    bool recomputesLastStage = true;       // full recompute also on the last stage, whose activations are still there
    bool gradientNormBarrier = false;      // every optimizer step waits for all reductions (gradient clipping)
    double elementwisePasses = 1.0;        // memory passes of norms, activation, residual relative to a fused minimum
    double tensorOverlap = 0;              // share of tensor-parallel communication hidden under GEMMs
    double pipelineOverlap = 0;            // share of a local boundary transfer hidden under compute
    double gradientOverlap = 0;            // share of the data-parallel reduction that may hide under backward
    double parameterOverlap = 0;           // share of the ZeRO all-gather that may hide under forward
    double iterationOverheadMs = 0;        // host work of an iteration: data, logging, gradient norm
    double logitsBytesPerElement = 6;      // bytes a vocabulary element of the loss keeps live at its peak
    double contextBytes = 0;               // CUDA context and libraries
    double communicatorBytes = 0;          // NCCL buffers of one communicator
    double workspaceBytes = 0;
    double fragmentation = 1.0;            // reserved by the allocator / allocated
    std::map<std::string, std::string> sources;
    bool operator==(const StackSpec &) const = default;
};

/// The stack with fields replaced, by their names in stacks.json ("kernel_overhead_us"); booleans as 0 and 1.
/// Errors: UnknownKey with the nearest field.
[[nodiscard]] Expected<StackSpec> withOverrides(const StackSpec &base, const std::map<std::string, double> &overrides);

} // namespace trainyard
