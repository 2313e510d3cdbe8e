#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is said about a measured span, a measured row and a run under the plan: for the hover card, the gutter and the
// screen reader. Pure functions; ranks count from 0, as frameworks number them.

#include "views/timeline/timeline_state.h"

#include <QList>
#include <QStringList>

#include <utility>

namespace trainyard {

using NamedFacts = QList<std::pair<QString, QString>>;

/// "compute", "communication", "host call".
[[nodiscard]] QString recordedWorkName(RecordedWork work);
/// "rank 3", "ranks 3 and 7", "ranks 0–3, 8 and 9"; at most a few runs, then "…".
[[nodiscard]] QString ranksText(const std::vector<int> &ranks);
/// Name of a kernel without its template arguments, return type and namespaces, at most so many characters.
[[nodiscard]] QString shortSpanName(std::string_view name, qsizetype most = 64);
/// Short name of a measured span; empty where the recording has none.
[[nodiscard]] QString measuredName(const MeasuredLanes &measured, std::uint32_t span, qsizetype most = 64);

/// "ncclDevKernel_AllReduce_Sum_bf16 · rank 5".
[[nodiscard]] QString measuredTitle(const MeasuredLanes &measured, std::uint32_t span);
/// What is said of it, name and value: length and times, what work it is, what the plan has at that place and how busy
/// both rows are, which ranks nobody recorded. Needs a row of the layout that shows the span.
[[nodiscard]] NamedFacts measuredFacts(const TimelineState &state, std::uint32_t span);
/// The same as lines of a card, "plan here: idle"; what has no name speaks for itself.
[[nodiscard]] QStringList linesOf(const NamedFacts &facts);
/// "run · rank 5", "run · not recorded"; of a summary "run".
[[nodiscard]] QString measuredLabel(const MeasuredLanes &measured, const TrackRow &row);
/// "no recording of ranks 3 and 7", "no spans of rank 3 in this step"; empty where all ranks of the row were recorded.
[[nodiscard]] QString missingText(const MeasuredLanes &measured, const TrackRow &row);
/// "a run lies under the plan: step 12, 13.1 s, +11 %"; empty without one.
[[nodiscard]] QString runSummary(const TimelineState &state);
/// "+11 %": how much longer the run's step is than the plan's iteration; empty where either is unknown.
[[nodiscard]] QString runDifference(const TimelineState &state);

} // namespace trainyard
