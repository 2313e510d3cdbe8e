#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The largest batch and the largest model that fit, as a plan shares out work and states. Where shares are made layer
// by layer, or pinned by FLOPS, the equations of sharing say it (core/systems/unequal_gpus/limits.h): every rank at
// work, micro-batches as small as they get. Else plans with more samples or more layers are placed and their memory is
// counted, with everything computed again in the backward. Any thread.

#include "core/evaluation/evaluate/run.h"

#include <cstdint>
#include <optional>

namespace trainyard {

struct SharingLimits {
    /// false: by the memory of placed plans
    bool isByEquations = false;
    /// false: further micro-batches keep nothing on the GPU
    bool isBatchBounded = false;
    /// samples of an iteration; 0: not even the smallest
    std::int64_t batch = 0;
    /// Of the largest model with the plan's batch: by equations as many as there is memory for their states beside the
    /// same work, else of as many layers as the plan's. 0: none fits.
    double parameters = 0;
    /// of that model; 0 by equations
    int layers = 0;
};

/// Nothing where the plan cannot be placed at all.
[[nodiscard]] std::optional<SharingLimits> sharingLimits(const PlanPtr &plan, const RunContext &context);

} // namespace trainyard
