#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Pipelines of one datacenter that differ, as rows: those of the first class stand as they are, all others fold into
// one row that says how many they are and which. They do so of themselves where there would be more rows than anybody
// reads. Pure functions of rows without geometry, and of rows that are laid out.

#include "views/timeline/track_layout.h"

namespace trainyard {

/// Rows of stages from which on those that differ are folded until somebody unfolds them.
inline constexpr int kManyStageRows = 32;

/// Marks the rows of others, and puts one row in the place of those that are folded. Jobs, and GPUs that go through the
/// model layer by layer, stay.
void foldOthers(std::vector<TrackRow> &rows, const Evaluation &evaluation, const TrackLayoutOptions &options);
/// Where they lie, whether folded or not.
[[nodiscard]] std::vector<RowGroup> othersOf(const TrackLayout &layout);
/// Folded or unfolded from now on, whatever they were of themselves.
void toggleFold(TrackLayoutOptions &options, const RowGroup &group);

} // namespace trainyard
