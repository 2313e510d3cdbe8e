#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// DP-cells: pipelines that take turns on each other's node pairs (temporal bandwidth sharing, Atlas, arXiv 2411.14458;
// docs/model.md, "Temporal sharing"). Each pipeline of a cell becomes a member of its own; equal cells stay one class a
// member.

#include "core/iteration/placement/workload.h"

#include <optional>

namespace trainyard {

/// Splits the classes of a placed layout into members where the plan shares the WAN by turns and pipelines cross it.
/// The members of a cell sit on different nodes, so that a stage whose pipelines share their nodes has smaller cells
/// than asked for; Layout::cell says what was wanted and reached. Where they do not divide, cells are as equal as they
/// can be. `size`: pipelines of a cell where `wan.cell: auto` leaves them open; without it C, rounded.
void formCells(Workload &inMaking, std::optional<int> size = {});

} // namespace trainyard
