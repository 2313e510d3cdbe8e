#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The placements that a plan may have, best bound first: pinned, one; else orders of datacenters for pipelines that go
// across, and sets of datacenters for whole pipelines. With `data: auto` those with the most replicas come first, and
// those with fewer behind them. Whoever wants the best one evaluates them in this order and may leave out all whose
// bound is not below the time that it has. docs/model.md, "Placement".

#include "core/iteration/layouts/open_replicas.h"
#include "core/iteration/placement/resolve.h"

#include <memory>
#include <vector>

namespace trainyard {

/// Whether OpenReplicas::Fastest is more than the most: the plan leaves their number open, and with it which GPUs of
/// pools that differ they take.
[[nodiscard]] bool isOpen(const Plan &plan);

struct PlacedLayout {
    /// placed, DP-cells formed
    Layout layout;
    double bound =
        0; // seconds; no iteration of it is shorter. 0 where there is one placement only, or nothing is known
    /// false: states alone are more than a GPU's memory
    bool mayFit = true;
    /// with `data: auto`: fewer replicas than there is room for, or the same on GPUs in another order
    bool isFewer = false;
    /// Where `wan.cell: auto` leaves their size open: the layout before its cells were formed. Null: there is no
    /// choice.
    std::shared_ptr<const Layout> withoutCells = nullptr;
    /// Dealt in another way than the one at this place of the list; -1: it is no such thing.
    int variantOf = -1;
};

struct Placements {
    /// Those of the most replicas first, of these those that may fit, then by bound; where shares are dealt, by the
    /// bound of even ones.
    std::vector<PlacedLayout> found;
    /// where none is found: with data 0 and why
    Layout unplaced;
};

/// `most`: pipelines across and whole pipelines, each, and as many in all with fewer replicas. Where shares are dealt
/// boldly (shares.h) the same with all leaving that may (SharedOut::allLeaves), and dealt cautiously, stand behind; so
/// do the first ones with micro-batches of sizes of their own.
[[nodiscard]] Placements placements(const Requested &asked, OpenReplicas replicas = OpenReplicas::Most, int most = 48);

/// The same before shares are dealt and cells are formed; bounds are those of even shares, which dealt ones may beat.
[[nodiscard]] Placements undealtPlacements(const Requested &asked, int most = 48);
/// The layout with cells of other sizes than it has: powers of two and the two beside its own, at most as many as
/// pipelines that lie on different nodes.
[[nodiscard]] std::vector<Layout> otherCells(const Requested &asked, const PlacedLayout &placed);
/// Shares dealt as shareOut() has it and cells formed, of a layout that has neither. `ownSizes` gets the same layout
/// with micro-batches of sizes of their own, where dealing expects them to end sooner.
[[nodiscard]] Workload dealt(
    Workload undealt, bool boldly = true, bool notes = true, std::vector<Layout> *ownSizes = nullptr);
/// Seconds that no iteration of a dealt layout is shorter than; 0 where nothing is known.
[[nodiscard]] double dealtBound(const Workload &workload);

/// The one of the least bound, for one mode (not Auto), shares even and DP-cells formed; where nothing can be placed,
/// the layout's data is 0 and `unplaced` says why.
[[nodiscard]] Workload place(Requested asked, PlacementMode mode);

} // namespace trainyard
