#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Why one plan does better or worse than another, in half a sentence: what their two evaluations differ in most.
//
//   because(now, withPipeline15);   // "15 replicas instead of 16; 36 GPUs idle"
//
// Pure function of the metrics and layouts, which evaluations without a timeline have too. Any thread.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>

namespace trainyard {

/// In the order of their weight, two reasons at most: that it cannot run, memory that does not fit or fits again,
/// replicas and idle GPUs, the limit of a WAN link, and the part of the breakdown that moved most in the direction of
/// the iteration. Empty where nothing of it changes.
[[nodiscard]] std::string because(const Evaluation &before, const Evaluation &after);

} // namespace trainyard
