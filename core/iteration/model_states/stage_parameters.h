#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How many parameters one GPU of a stage has. Pure functions.

#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// Parameters of a stage on one GPU: shards of tensor and expert parallelism taken, data parallelism not.
struct StageParameters {
    double dense = 0, experts = 0;
    [[nodiscard]] double total() const { return dense + experts; }
};
[[nodiscard]] StageParameters stageParameters(const Workload &workload, int stage);
/// Of one of its chunks.
[[nodiscard]] StageParameters chunkParameters(const Workload &workload, int stage, int chunk);
/// Of a GPU that the model is cut for by other degrees than the plan's.
[[nodiscard]] StageParameters stageParameters(const Workload &workload, int stage, const Degrees &degrees);
[[nodiscard]] StageParameters chunkParameters(const Workload &workload, int stage, int chunk, const Degrees &degrees);

} // namespace trainyard
