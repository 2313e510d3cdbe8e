#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How large the job was that a recording is of, by what its sources tell of it. Pure functions.

#include "core/runs/telemetry/recording.h"

namespace trainyard {

class SpanIndex;

/// Stages of its pipelines, by its arguments; else 2 (at least two) where ranks send to each other in pairs, 1 where
/// GPUs are shown without such transfers. 0: unknown.
struct StagesOfJob {
    int stages = 0;
    /// by its arguments, or by collectives without a transfer among them
    bool isTold = false;
};
[[nodiscard]] StagesOfJob stagesOf(const Recording &recording, const SpanIndex &spans);
/// Ranks of the job, by its ranks or its arguments; 0: unknown.
[[nodiscard]] int worldSizeOf(const Recording &recording);

} // namespace trainyard
