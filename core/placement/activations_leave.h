#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether activations wait outside the GPU, and where: those that activation offload chooses, or the experts' input
// alone (`memory.offload_expert_input`). Where activation offload is on it decides about that tensor too.

#include "core/plan/plan.h"

namespace trainyard {

[[nodiscard]] inline bool onlyExpertInputLeaves(const MemoryStrategy &memory)
{
    return memory.offloadExpertInput && memory.activationOffload == ActivationOffload::None;
}

[[nodiscard]] inline ActivationOffload activationsLeaveTo(const MemoryStrategy &memory)
{
    return onlyExpertInputLeaves(memory) ? ActivationOffload::Host : memory.activationOffload;
}

} // namespace trainyard
