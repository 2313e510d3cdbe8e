#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where a run is another job than the plan that it lies under, a sentence each.

#include "core/evaluate/evaluation.h"
#include "core/placement/rank_map.h"
#include "core/telemetry/recording.h"

namespace trainyard {

/// How many ranks both have, and how many of the plan's nobody recorded.
void noteWorlds(const Recording &recording, const RankMap &map, int missing, std::vector<std::string> &notes);
/// Degrees, batch and sequence length, as the run's arguments tell them.
void noteWork(const Evaluation &plan, const Recording &recording, std::vector<std::string> &notes);

} // namespace trainyard
