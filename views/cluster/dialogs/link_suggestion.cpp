// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/catalogue/catalogue.h"
#include "views/cluster/dialogs/link_editor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace trainyard {

namespace {

constexpr double kEarthRadiusKm = 6371;
constexpr double kNearKm = 400;                // a region stands for a datacenter no further away than this

double distanceKm(double latA, double lonA, double latB, double lonB)
{
    const double rad = std::numbers::pi / 180;
    const double a = std::pow(std::sin((latB - latA) * rad / 2), 2)
        + std::cos(latA * rad) * std::cos(latB * rad) * std::pow(std::sin((lonB - lonA) * rad / 2), 2);
    return 2 * kEarthRadiusKm * std::asin(std::sqrt(std::min(1.0, a)));
}

/// Kilometres from a datacenter to a region; infinite where its place is not known or the region too far to stand for it.
double nearness(const Datacenter &datacenter, const Region &region)
{
    constexpr double none = std::numeric_limits<double>::infinity();
    if (!datacenter.latitude || !datacenter.longitude)
        return none;
    const double km = distanceKm(*datacenter.latitude, *datacenter.longitude, region.latitude, region.longitude);
    return km <= kNearKm ? km : none;
}

} // namespace

SuggestedLink suggestLink(const Cluster &cluster, int from, int to)
{
    const Datacenter &a = cluster.datacenters[std::size_t(from)], &b = cluster.datacenters[std::size_t(to)];
    SuggestedLink suggestion;
    suggestion.link.between = {a.id, b.id};
    double nearest = std::numeric_limits<double>::infinity();
    for (const RegionLink &measured : builtinCatalogue().regionLinks) {
        const Region *first = builtinCatalogue().region(measured.from), *second = builtinCatalogue().region(measured.to);
        if (!first || !second)
            continue;
        const double km = std::min(nearness(a, *first) + nearness(b, *second), nearness(a, *second) + nearness(b, *first));
        if (km >= nearest)
            continue;
        nearest = km;
        suggestion.link.rttMs = measured.rttMs;
        suggestion.source = QStringLiteral("Round trip as between %1 and %2: %3")
                                .arg(QString::fromStdString(first->name), QString::fromStdString(second->name), QString::fromStdString(measured.source));
    }
    return suggestion;
}

} // namespace trainyard
