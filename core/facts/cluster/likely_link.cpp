// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/likely_link.h"

#include "core/facts/cluster/distance.h"
#include "core/facts/plan/zones.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

constexpr double kNearKm = 400; // a region stands for a datacenter no further away than this

/// Kilometres from a datacenter to a region; infinite where its place is not known or the region too far to stand for
/// it.
double nearness(const Datacenter &datacenter, const Region &region)
{
    constexpr double none = std::numeric_limits<double>::infinity();
    const auto place = placeOf(datacenter);
    if (!place)
        return none;
    const double km = greatCircleKm(*place, { region.latitude, region.longitude });
    return km <= kNearKm ? km : none;
}

} // namespace

LikelyLink likelyLink(const Cluster &cluster, int from, int to, const Catalogue &catalogue)
{
    const Datacenter &a = cluster.datacenters[std::size_t(from)], &b = cluster.datacenters[std::size_t(to)];
    LikelyLink likely;
    likely.link.between = { a.id, b.id };
    double nearest = std::numeric_limits<double>::infinity();
    for (const RegionLink &measured : catalogue.regionLinks) {
        const Region *first = catalogue.region(measured.from), *second = catalogue.region(measured.to);
        if (!first || !second)
            continue;
        const double km =
            std::min(nearness(a, *first) + nearness(b, *second), nearness(a, *second) + nearness(b, *first));
        if (km >= nearest)
            continue;
        nearest = km;
        likely.link.rttMs = measured.rttMs;
        likely.measured = &measured;
    }
    const auto placeA = placeOf(a), placeB = placeOf(b);
    if (!likely.measured && placeA && placeB) {
        likely.km = greatCircleKm(*placeA, *placeB);
        likely.link.rttMs = std::round(roundTripMs(*likely.km) * 10) / 10;
    }
    likely.zones = zoneNetworkOf(cluster, likely.link);
    if (likely.zones)
        likely.link.cloud = likely.zones->id;
    return likely;
}

} // namespace trainyard
