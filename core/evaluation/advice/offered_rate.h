#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How many prefill requests to offer to a plan whose bubbles are filled: a share of what they take. Pure.

#include "core/evaluation/evaluate/evaluation.h"

namespace trainyard {

/// Of what bubbles take. Near all of it prompts wait long for their first token.
inline constexpr double kOfferedShare = 0.8;

/// The plan of `evaluation` with kOfferedShare of what its bubbles take
/// (BubbleFillMetrics::saturationRequestsPerSecond), rounded down to two digits. Null where that is not known, where
/// arrivals come from a file, or where several models are served, each at a rate of its own.
[[nodiscard]] PlanPtr withOfferedRate(const Evaluation &evaluation);

} // namespace trainyard
