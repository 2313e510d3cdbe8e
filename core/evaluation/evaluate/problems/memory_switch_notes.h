#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Notes on switches of memory that have nothing to do in a plan: no latent attention, no experts, a stack that does it
// anyway, recomputation that leaves nothing of what they spare; and the wait for experts' input that left the GPU.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// Of a plan whose stages' figures come from layers.
void addMemorySwitchNotes(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload);

/// Why the plan keeps nothing tensor by tensor, so that no single one can be spared: half a sentence, empty where it
/// does.
[[nodiscard]] std::string whyNoTensorIsSpared(const Workload &workload);

} // namespace trainyard
