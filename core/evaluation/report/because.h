#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Why one plan does better or worse than another, in half a sentence: what their two evaluations differ in most.
//
//   because(now, withPipeline15);   // "data parallel 12.0 → 56.0 s; 12 replicas instead of 8"
//
// Pure function of the metrics and layouts, which evaluations without a timeline have too. Any thread.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>

namespace trainyard {

/// Two reasons at most: that it cannot run, or memory that does not fit or fits again; the part of the breakdown that
/// moved most in the direction of the iteration; and what made it move: replicas, idle GPUs, the limit of a WAN link.
/// What moves against the iteration, such as fewer idle GPUs where it takes longer, is no reason. Empty where nothing
/// of it changes.
[[nodiscard]] std::string because(const Evaluation &before, const Evaluation &after);

} // namespace trainyard
