#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Gestures as edits of the plan: each makes the next plan and says in words what it did, as undo shows it. Pure.

#include "core/facts/cluster/distance.h"
#include "core/facts/plan/plan.h"
#include "views/cluster/map_selection.h"

#include <QString>

#include <optional>
#include <string>

namespace trainyard {

struct MapEdit {
    PlanPtr next;
    /// "Move 8 GPUs Virginia → Oregon"
    QString text;
};

/// Drops what is carried on a datacenter; empty where that changes nothing.
[[nodiscard]] std::optional<MapEdit> moveEdit(const PlanPtr &plan, const Carry &carry, int toDatacenter);
/// Removes what is selected; empty where nothing is.
[[nodiscard]] std::optional<MapEdit> removeEdit(const PlanPtr &plan, const MapSelection &selection);
/// Puts a datacenter at another place, and lets the round trips of its links follow the distance; empty where it has no
/// place or none of its links leads to one.
[[nodiscard]] std::optional<MapEdit> placeEdit(const PlanPtr &plan, int datacenter, Place place);
/// The plan with another cluster; empty where it is equal.
[[nodiscard]] std::optional<MapEdit> clusterEdit(const PlanPtr &plan, Cluster next, QString text);

/// The carry with another number of GPUs, clipped to what its pool or island has.
[[nodiscard]] Carry resized(const Carry &carry, const Cluster &cluster, int gpus);
/// One step up or down: GPU by GPU inside a node, then node by node.
[[nodiscard]] int steppedAmount(const Carry &carry, const Cluster &cluster, int direction);
/// The most GPUs that `resized` can reach.
[[nodiscard]] int mostGpus(const Carry &carry, const Cluster &cluster);
/// What a datacenter is called on the map.
[[nodiscard]] QString datacenterLabel(const Cluster &cluster, int datacenter);
/// The same by its id; the id where the cluster has none of it.
[[nodiscard]] QString datacenterLabel(const Cluster &cluster, const std::string &id);
/// "8 GPUs Virginia", or "24 GPUs" where they come from several places.
[[nodiscard]] QString carryText(const Carry &carry, const Cluster &cluster);

} // namespace trainyard
