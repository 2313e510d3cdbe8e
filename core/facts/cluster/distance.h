#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Places on the globe: how far apart two datacenters are, what round trip that distance makes likely, and where one
// gets to when it is moved. An estimate for datacenters that are moved about on a map, never in place of a measured
// round trip. (docs/model.md, "Distance and round trip".)

#include "core/base/units.h"
#include "core/facts/plan/plan.h"

#include <optional>

namespace trainyard {

struct Place {
    /// degrees
    double latitude = 0, longitude = 0;
};

/// Where the plan says that a datacenter is; empty where it does not.
[[nodiscard]] std::optional<Place> placeOf(const Datacenter &datacenter);
/// Along the great circle on a sphere of radius 6371 km (haversine formula).
[[nodiscard]] double greatCircleKm(Place a, Place b);
/// constant + 2 d f / (2/3 c): light in glass there and back over a fibre f times as long as the great circle, plus a
/// constant. Milliseconds; f and the constant are fitted to the round trips of the catalogue (network.json,
/// "distance").
[[nodiscard]] double roundTripMs(double km);

/// On a flat map (plate carrée) that is true to scale along the parallel `trueAt`, degrees of latitude.
struct Offset {
    double eastKm = 0, northKm = 0;
};
/// The shorter way round.
[[nodiscard]] Offset offsetBetween(Place from, Place to, double trueAt);
/// Latitude ends at 85 degrees, longitude goes round.
[[nodiscard]] Place movedBy(Place from, Offset offset, double trueAt);

/// The cluster with a datacenter at another place; each of its links to a known place has RTT + roundTripMs(d') −
/// roundTripMs(d), to 0.1 ms, never less than min(RTT, the rule's constant). Empty where there is no such link or no
/// such datacenter.
[[nodiscard]] std::optional<Cluster> withDatacenterAt(const Cluster &cluster, int datacenter, Place place);

} // namespace trainyard
