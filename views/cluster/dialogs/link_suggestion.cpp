// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/catalogue/catalogue.h"
#include "core/cluster/distance.h"
#include "views/cluster/dialogs/link_editor.h"

#include <QLocale>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

constexpr double kNearKm = 400;                // a region stands for a datacenter no further away than this

/// Kilometres from a datacenter to a region; infinite where its place is not known or the region too far to stand for it.
double nearness(const Datacenter &datacenter, const Region &region)
{
    constexpr double none = std::numeric_limits<double>::infinity();
    const auto place = placeOf(datacenter);
    if (!place)
        return none;
    const double km = greatCircleKm(*place, {region.latitude, region.longitude});
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
    const auto placeA = placeOf(a), placeB = placeOf(b);
    if (suggestion.source.isEmpty() && placeA && placeB) {
        const double km = greatCircleKm(*placeA, *placeB);
        suggestion.link.rttMs = std::round(roundTripMs(km) * 10) / 10;
        suggestion.source = QStringLiteral("Round trip estimated from %1 km; no measured one is near").arg(QLocale(QLocale::English).toString(qRound(km)));
    }
    return suggestion;
}

} // namespace trainyard
