#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What lies on a GPU of a stage during the whole iteration: weights, gradients, optimizer states and the buffers of the
// framework. Bytes; equations in docs/model.md, "Memory". Plain values.

#include "core/iteration/placement/ranks.h"

#include <string>
#include <utility>
#include <vector>

namespace trainyard {

struct StageStates {
    double weights = 0, gradients = 0, optimizer = 0;
    /// by the name that users see
    std::vector<std::pair<const char *, double>> buffers;
    /// states that lie there instead
    double inHost = 0, onDrives = 0;
};

/// Of ranks with a tensor parallel degree of their own too, whoever's view the workload is.
[[nodiscard]] StageStates stageStates(const Workload &workload, const RankSet &ranks);

} // namespace trainyard
