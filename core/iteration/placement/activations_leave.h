#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether activations wait outside the GPU, and where: those that activation offload chooses, or the experts' input
// alone (`memory.offload_expert_input`), or the inputs of layers of a layer loop (`heterogeneity.boundary_offload`).
// Where activation offload is on it decides about those tensors too.

#include "core/facts/plan/plan.h"
#include "core/facts/workload/saved_tensors.h"

namespace trainyard {

[[nodiscard]] inline bool onlyExpertInputLeaves(const MemoryStrategy &memory)
{
    return memory.offloadExpertInput && memory.activationOffload == ActivationOffload::None;
}

[[nodiscard]] inline ActivationOffload activationsLeaveTo(const MemoryStrategy &memory)
{
    return onlyExpertInputLeaves(memory) ? ActivationOffload::Host : memory.activationOffload;
}

/// Whether a tensor of a layer may leave: where the experts' input leaves alone nothing else does, however large it is;
/// otherwise those of `minElements` and more.
[[nodiscard]] inline bool mayLeave(const MemoryStrategy &memory, const SavedTensor &tensor, double minElements)
{
    return onlyExpertInputLeaves(memory) ? tensor.name == SavedName::PermutedTokens : tensor.elements >= minElements;
}

/// Of a layer loop, what enters a layer and the gradient of it.
[[nodiscard]] inline bool boundariesLeave(const Plan &plan)
{
    return plan.heterogeneity.isLayered() && plan.heterogeneity.boundaryOffload
        && plan.memory.activationOffload == ActivationOffload::None;
}

} // namespace trainyard
