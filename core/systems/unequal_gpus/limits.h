#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The largest batch and the largest model that fit, each way of sharing: what balancing is worth where memory is the
// limit. Every rank works, and pins are left aside. Pure functions. docs/model.md, "Mixed GPUs".

#include "core/systems/unequal_gpus/baselines.h"

#include <cstdint>
#include <optional>

namespace trainyard {

/// Samples of all ranks together; 0: not even the smallest. None: memory sets no limit, since further micro-batches
/// keep nothing on the GPU. Without accumulation no rank gets more than its tables tell of.
[[nodiscard]] std::optional<std::int64_t> largestBatch(ShareWay way, const ShareProblem &problem);

/// Bytes of states of the whole model, to a byte for each rank, with the problem's batch; 0: the batch does not fit
/// without any.
[[nodiscard]] double largestStates(ShareWay way, const ShareProblem &problem);

} // namespace trainyard
