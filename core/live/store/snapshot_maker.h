#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What of the span store a snapshot shows: all steps, and the spans and collectives of the latest of them, with a table
// of the names and groups that these use. Pure function of what has settled.

#include "core/live/store/span_store.h"

namespace trainyard::live {

struct ShownSteps { // numbers of those whose spans are shown
    std::int64_t first = 0, last = 0;
};
/// Ranks, names and groups into `recording`, with its zero.
ShownSteps writeRanks(const SpanStore &store, const SnapshotAsked &asked, Recording &recording);
/// Of steps whose spans are not shown, what they took on the slowest rank: as the series of a log, which runs are made
/// of. Nothing where somebody tells that series.
void addStepTimes(const SpanStore &store, const ShownSteps &shown, Recording &recording);
/// Numbers of the first and last step that spans are held of; -1: there are none.
[[nodiscard]] std::pair<std::int64_t, std::int64_t> heldSteps(const SpanStore &store);
[[nodiscard]] std::vector<RankLife> livesOf(const SpanStore &store);

} // namespace trainyard::live
