#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// MEMO, KARMA and ProTrain applied to the first stage of a workload, one micro-batch alone: their closed forms, filled with
// the plan's layer times, bytes and links. A view beside the timeline, which moves tensors by SSDTrain's rule.

#include "core/ladder/activation_policies.h"
#include "core/placement/resolve.h"

#include <string>

namespace trainyard {

struct PolicyView {
    int layers = 0;                // of the stage; a block is a layer
    Seconds plain;                 // forward and backward of the micro-batch with everything kept
    double memoShare = 0;          // alpha
    Seconds memoRecompute;         // that MEMO adds to the micro-batch
    Bytes room;                    // for activations, after states and reserve
    BlockPlan karma, proTrain;
};

/// `workload` needs a layout with data > 0 and no profile.
[[nodiscard]] PolicyView policyView(const Workload &workload);

/// What the plan's offload policy does there, in one sentence; empty for SSDTrain, and where nothing is offloaded.
[[nodiscard]] std::string policySentence(const Workload &workload);

} // namespace trainyard
