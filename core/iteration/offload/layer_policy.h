#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// MEMO, KARMA and ProTrain applied to the layers of a virtual stage: what of each leaves the GPU, what is computed
// again, what stays, with the room that the stage's micro-batches in flight share. Equations in docs/model.md,
// "Policies of activations"; pure functions.

#include "core/engine/schedule/program.h"
#include "core/iteration/memory/stage_offload.h"
#include "core/iteration/offload/modules.h"
#include "core/iteration/times/offload_times.h"

#include <string>
#include <vector>

namespace trainyard {

/// What the micro-batches of a stage share, on its smallest GPU.
struct PolicyRoom {
    /// bytes for what layers keep
    double room = 0;
    /// operations of virtual stages between forward and backward, at most
    double inFlight = 1;
    /// bytes beside a layer at work; between forward and backward (loss, logits)
    double workspace = 0, turn = 0;
    /// bytes outside the GPU for its activations; infinite on drives and where no size is given
    double host = 0;
};
[[nodiscard]] PolicyRoom policyRoom(const Workload &workload, int stage, const Program &program);

/// Decides about the layers of one virtual stage: sets `leaves`, `again`, bytes and `recompute` of their modules and
/// PolicyLayer::recompute, and adds to `fates`. `leaving`: layers of the stage that MEMO lets leave, all virtual stages
/// together.
void applyPolicy(const Plan &plan, std::vector<PolicyLayer> &layers, const OffloadPath &path, const PolicyRoom &room,
    int leaving, LayerFates &fates);

/// Of `layers` in a virtual stage, those that MEMO lets leave: all but the last two.
[[nodiscard]] int memoLayers(int layers);

/// The plan asks for a policy that decides about recomputation itself, and it applies.
[[nodiscard]] bool recomputesByPolicy(const Plan &plan);

/// Why such a policy does not apply although the plan asks for it: SSDTrain's rule moves tensors then. Empty where it
/// does.
[[nodiscard]] std::string whyPolicyRests(const Plan &plan);

} // namespace trainyard
