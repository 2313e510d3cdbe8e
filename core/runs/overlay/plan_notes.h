#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where a run is another job than the plan, or the run, that it is compared with, a sentence each: what has to be known
// before any figure beside it.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/rank_map.h"
#include "core/runs/telemetry/recording.h"

namespace trainyard {

/// Worlds of different sizes; then degrees, batch, sequence length and model, as the run's arguments tell them. Empty:
/// nothing tells that they differ.
[[nodiscard]] std::vector<std::string> jobNotes(const Evaluation &plan, const Recording &recording);
[[nodiscard]] std::vector<std::string> jobNotes(const Recording &reference, const Recording &recording);

/// How many ranks both have, and how many of the plan's nobody recorded; of rows. Empty: all are there.
[[nodiscard]] std::string worldNote(const Recording &recording, const RankMap &map, int missing);
/// Why the run is surely not one of this plan, a sentence; empty: it may be one. Ranks that tell nothing of the world's
/// size may be a part of it.
[[nodiscard]] std::string otherJobNote(const Evaluation &plan, const Recording &recording);
/// What tells that the run is another job: the size of its world; degrees, batch, sequence length and model, as the
/// run's arguments and steps have them; rates that no GPU of the plan reaches. "24 ranks, plan 576; tensor parallelism
/// 4, plan 8; …"; empty: nothing differs.
[[nodiscard]] std::string workDifferences(const Evaluation &plan, const Recording &recording);
/// The same as a sentence, but for the size of the world.
[[nodiscard]] std::string workNote(const Evaluation &plan, const Recording &recording);

} // namespace trainyard
