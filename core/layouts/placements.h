#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The placements that a plan may have, best bound first: pinned, one; else orders of datacenters for pipelines that go
// across, and sets of datacenters for whole pipelines. Whoever wants the best one evaluates them in this order and may
// stop at the first whose bound is not below the time that it has. docs/model.md, "Placement".

#include "core/placement/resolve.h"

#include <vector>

namespace trainyard {

struct PlacedLayout {
    Layout layout; // placed, DP-cells formed
    double bound =
        0; // seconds; no iteration of it is shorter. 0 where there is one placement only, or shares are dealt
    bool mayFit = true; // false: states alone are more than a GPU's memory
};

struct Placements {
    std::vector<PlacedLayout> found; // those that may fit first, then by bound
    Layout unplaced; // where none is found: with data 0 and why
};

/// `most`: pipelines across and whole pipelines, each. With layers by speed the same with even layers stand behind.
[[nodiscard]] Placements placements(const Workload &workload, int most = 48);

/// The one of the least bound, for one mode (not Auto), without DP-cells; where nothing can be placed, data is 0 and
/// `unplaced` says why.
[[nodiscard]] Layout place(const Workload &workload, PlacementMode mode);

} // namespace trainyard
