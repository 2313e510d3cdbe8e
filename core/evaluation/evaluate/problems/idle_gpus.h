#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// GPUs that hold no stage: how many, and why.

#include "core/evaluation/evaluate/evaluation.h"

namespace trainyard {

/// Idle for the same reason.
struct IdleGroup {
    std::string reason;
    int gpus = 0;
    /// with idle GPUs, each once
    std::vector<int> datacenters;
    /// of the first of them
    int firstPool = 0;
    /// as of IdleGpus
    bool isUnlinked = false;
    /// a whole datacenter, or a tenth of the cluster: worth a warning
    bool isMuch = false;
};
/// Of the most GPUs first.
[[nodiscard]] std::vector<IdleGroup> idleGroups(const Layout &layout, const Cluster &cluster);

/// One problem a reason, of the most GPUs first: a warning where much is idle, else a note.
void addIdleProblems(std::vector<Problem> &problems, const Evaluation &evaluation);

} // namespace trainyard
