// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/catalogue/catalogue.h"
#include "views/cluster/dialogs/link_editor.h"

#include <cmath>
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

bool isNear(const Datacenter &datacenter, const Region &region)
{
    return datacenter.latitude && datacenter.longitude
        && distanceKm(*datacenter.latitude, *datacenter.longitude, region.latitude, region.longitude) <= kNearKm;
}

} // namespace

SuggestedLink suggestLink(const Cluster &cluster, int from, int to)
{
    const Datacenter &a = cluster.datacenters[std::size_t(from)], &b = cluster.datacenters[std::size_t(to)];
    SuggestedLink suggestion;
    suggestion.link.between = {a.id, b.id};
    for (const RegionLink &measured : builtinCatalogue().regionLinks) {
        const Region *first = builtinCatalogue().region(measured.from), *second = builtinCatalogue().region(measured.to);
        if (!first || !second || !((isNear(a, *first) && isNear(b, *second)) || (isNear(a, *second) && isNear(b, *first))))
            continue;
        suggestion.link.rttMs = measured.rttMs;
        suggestion.source = QStringLiteral("Round trip as between %1 and %2: %3")
                                .arg(QString::fromStdString(first->name), QString::fromStdString(second->name), QString::fromStdString(measured.source));
        break;
    }
    return suggestion;
}

} // namespace trainyard
