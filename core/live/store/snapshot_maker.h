#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What of the span store a snapshot shows: all steps, and the spans and collectives of the latest of them, with a table
// of the names and groups that these use. Pure function of what has settled.

#include "core/live/store/span_store.h"

namespace trainyard::live {

/// Ranks, names and groups into `recording`, with its zero.
void writeRanks(const SpanStore &store, const SnapshotAsked &asked, Recording &recording);
/// What each step took on its slowest rank, as the series of a log: steps whose spans are not shown have no other place
/// in a run. Nothing where somebody tells that series.
void addStepTimes(const SpanStore &store, Recording &recording);
/// Numbers of the first and last step that spans are held of; -1: there are none.
[[nodiscard]] std::pair<std::int64_t, std::int64_t> heldSteps(const SpanStore &store);
[[nodiscard]] std::vector<RankLife> livesOf(const SpanStore &store);

} // namespace trainyard::live
