#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether two evaluations come to the same: the question behind "this setting changes nothing". Asked of every number
// that metrics give (docs/metrics.md), not of a few, so that a setting that moves one GPU's memory or one link's bytes
// is never called idle. Pure functions, any thread.

#include "core/evaluation/evaluate/evaluation.h"

namespace trainyard {

/// Feasibility, times, memory of every GPU and host, traffic of every link, cost and energy, prefill, jobs, and which
/// datacenter holds which stage: equal, numbers to a billionth. Left out: sentences, the range of the prediction
/// (sameRange), how the engine got there, comparisons with other plans (gain_over_even), and what only repeats a
/// setting (connections per node pair, the dispatch chosen, pieces).
[[nodiscard]] bool sameOutcome(const Evaluation &before, const Evaluation &after);

/// The range within which the iteration is predicted, and what it rests on.
[[nodiscard]] bool sameRange(const Evaluation &before, const Evaluation &after);

} // namespace trainyard
