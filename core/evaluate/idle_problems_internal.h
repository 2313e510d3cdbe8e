#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// GPUs that hold no stage: how many, why, and which plans would use them. Every fix was evaluated. Private to the folder.

#include "core/catalogue/catalogue.h"
#include "core/evaluate/evaluation.h"
#include "core/evaluate/fix_search.h"
#include "core/placement/resolve.h"

namespace trainyard {

/// Idle for the same reason.
struct IdleGroup {
    std::string reason;
    int gpus = 0;
    std::vector<int> datacenters;  // with idle GPUs, each once
    int firstPool = 0;             // of the first of them
    bool isMuch = false;           // a whole datacenter, or a tenth of the cluster: worth a warning
};
/// Of the most GPUs first.
[[nodiscard]] std::vector<IdleGroup> idleGroups(const Layout &layout, const Cluster &cluster);

/// One problem a reason: a warning with fixes where much is idle, else a note.
void addIdleProblems(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload, const Catalogue &catalogue,
                     FixSearch &search);

/// A link to the datacenter that holds stages and is nearest by round trip, or to the largest where none holds any; nothing
/// where that link is there.
[[nodiscard]] std::optional<Fix> linkFix(const Plan &plan, int datacenter, const Layout &layout, const Catalogue &catalogue);

} // namespace trainyard
