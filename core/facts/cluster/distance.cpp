// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/distance.h"

#include "core/facts/hardware/distance_spec.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trainyard {

namespace {

constexpr double kEarthRadiusKm = 6371;
constexpr double kLightKmPerMs = 299.792458;
constexpr double kInFibre = 2.0 / 3; // of the speed of light in vacuum: refractive index 1.5
constexpr double kRadians = std::numbers::pi / 180;
constexpr double kKmPerDegree = kEarthRadiusKm * kRadians;
constexpr double kHighestLatitude = 85; // further north a map's east and west mean nothing

/// Length of a degree of longitude at a latitude over that at the equator.
double narrowing(double latitude)
{
    return std::cos(std::clamp(latitude, -kHighestLatitude, kHighestLatitude) * kRadians);
}

/// A longitude, or a difference of two, in [-180, 180).
double wrapped(double degrees)
{
    const double round = std::fmod(degrees + 180, 360);
    return (round < 0 ? round + 360 : round) - 180;
}

double toTenths(double ms)
{
    return std::round(ms * 10) / 10;
}

/// A round trip after a move: the rule's change is added to it, so that back and forth gives it back.
double movedRoundTrip(double statedMs, double kmBefore, double kmNow)
{
    const double before = roundTripMs(kmBefore), now = roundTripMs(kmNow);
    if (toTenths(before) == toTenths(statedMs) || before == now)
        return before == now ? statedMs : toTenths(now);
    return std::max(toTenths(statedMs + now - before), std::min(statedMs, builtinDistance().constantMs));
}

} // namespace

std::optional<Place> placeOf(const Datacenter &datacenter)
{
    if (!datacenter.latitude || !datacenter.longitude)
        return std::nullopt;
    return Place { *datacenter.latitude, *datacenter.longitude };
}

double greatCircleKm(Place a, Place b)
{
    const double h = std::pow(std::sin((b.latitude - a.latitude) * kRadians / 2), 2)
        + std::cos(a.latitude * kRadians) * std::cos(b.latitude * kRadians)
            * std::pow(std::sin((b.longitude - a.longitude) * kRadians / 2), 2);
    return 2 * kEarthRadiusKm * std::asin(std::sqrt(std::min(1.0, h)));
}

double roundTripMs(double km)
{
    const DistanceSpec &spec = builtinDistance();
    return spec.constantMs + 2 * km * spec.routeFactor / (kInFibre * kLightKmPerMs);
}

Offset offsetBetween(Place from, Place to, double trueAt)
{
    return { wrapped(to.longitude - from.longitude) * kKmPerDegree * narrowing(trueAt),
        (to.latitude - from.latitude) * kKmPerDegree };
}

Place movedBy(Place from, Offset offset, double trueAt)
{
    return { std::clamp(from.latitude + offset.northKm / kKmPerDegree, -kHighestLatitude, kHighestLatitude),
        wrapped(from.longitude + offset.eastKm / (kKmPerDegree * narrowing(trueAt))) };
}

std::optional<Cluster> withDatacenterAt(const Cluster &cluster, int datacenter, Place place)
{
    if (datacenter < 0 || datacenter >= int(cluster.datacenters.size()))
        return std::nullopt;
    Cluster next = cluster;
    Datacenter &moved = next.datacenters[std::size_t(datacenter)];
    const auto from = placeOf(moved);
    moved.latitude = place.latitude;
    moved.longitude = place.longitude;
    bool follows = false;
    for (WanLink &link : next.wanLinks) {
        if (link.between[0] != moved.id && link.between[1] != moved.id)
            continue;
        const int peer = next.indexOf(link.between[link.between[0] == moved.id ? 1 : 0]);
        const auto other = peer >= 0 ? placeOf(next.datacenters[std::size_t(peer)]) : std::nullopt;
        if (!other)
            continue;
        const double km = greatCircleKm(place, *other);
        link.rttMs = from ? movedRoundTrip(link.rttMs, greatCircleKm(*from, *other), km) : toTenths(roundTripMs(km));
        follows = true;
    }
    return follows ? std::optional(std::move(next)) : std::nullopt;
}

} // namespace trainyard
