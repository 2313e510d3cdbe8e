#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The optimizer step off the GPU as rows of a timeline: which copy, update, read and write follows which. Run as early
// as they can, the tasks end with the step's time by optimizer_step.h, or before. Pure functions; docs/model.md,
// "States off the GPU".

#include "core/iteration/model_states/optimizer_step.h"
#include "core/iteration/times/state_times.h"

namespace trainyard {

/// Groups beyond this number are drawn as one, the next stream beginning when the first of them is through.
inline constexpr int kMostDrawnGroups = 256;

/// Host: gradients out, update, weights in, each group after its own in the stream before: n equal jobs in a flow shop,
/// whose makespan is max_i t_i + (sum_i t_i - max_i t_i) / n. Drives: one row, on which the write of a group fills what
/// the period M = max_i t_i / n leaves beside the reads: a = min(w, max(0, M - r - c)) before the next read, the rest
/// after it. Nothing waits longer than that in a schedule of period M that ends at (n - 1) M + sum_i t_i / n, so
/// neither do tasks that start as early as they can. Interleaved: cycles of one length, t / cycles, each stream busy
/// for its share: states in, then weights; the GPU's update after them where there is time; states out at the end of
/// the cycle. What a cycle lacks was asked for in the one before.
[[nodiscard]] StepRows stepRows(const OffloadedStep &step);

} // namespace trainyard
