#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which of a plan's ways to share work a recorded collective serves, by the places of the ranks that take part: one
// stage of one pipeline is tensor or context parallel, one stage of several pipelines exchanges gradients and
// parameters, several stages pass activations on. Pure functions.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/rank_map.h"
#include "core/runs/overlay/run_steps.h"

namespace trainyard {

enum class CommunicationKind : std::uint8_t { Tensor, Context, Expert, Gradients, Pipeline, Copies, Other };
inline constexpr int kCommunicationKinds = 7;

/// Other: of a group that does not tell its ranks, of ranks that the plan has not, or of all ranks of a job with
/// stages.
[[nodiscard]] CommunicationKind communicationKind(
    const ExposedPart &part, const Recording &recording, const RankMap &map, const Plan &plan);

} // namespace trainyard
