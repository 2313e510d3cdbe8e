// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/link_suggestion.h"

#include "core/catalogue/catalogue.h"
#include "core/cluster/distance.h"
#include "core/cluster/likely_link.h"

#include <QLocale>

namespace trainyard {

namespace {

constexpr double kSamePlaceKm = 1;

bool isAt(const Datacenter &datacenter, const Region &region)
{
    const auto place = placeOf(datacenter);
    return place && greatCircleKm(*place, {region.latitude, region.longitude}) < kSamePlaceKm;
}

/// "rtt_ms: AWS inter-region round trips; usd_per_gb: …" → the source of the round trip.
QString sourceOfRoundTrip(const RegionLink &link)
{
    const QString all = QString::fromStdString(link.source), key = QStringLiteral("rtt_ms: ");
    const qsizetype at = all.indexOf(key);
    return at < 0 ? all : all.mid(at + key.size()).section(QStringLiteral("; "), 0, 0);
}

QString measuredText(const Datacenter &a, const Datacenter &b, const RegionLink &link, const Catalogue &catalogue)
{
    const Region &from = *catalogue.region(link.from), &to = *catalogue.region(link.to);
    if ((isAt(a, from) && isAt(b, to)) || (isAt(a, to) && isAt(b, from)))
        return QStringLiteral("Round trip published: %1").arg(sourceOfRoundTrip(link));
    return QStringLiteral("Round trip as between %1 and %2: %3")
        .arg(QString::fromStdString(from.name), QString::fromStdString(to.name), sourceOfRoundTrip(link));
}

} // namespace

SuggestedLink suggestLink(const Cluster &cluster, int from, int to)
{
    const Catalogue &catalogue = builtinCatalogue();
    const LikelyLink likely = likelyLink(cluster, from, to, catalogue);
    SuggestedLink suggestion;
    suggestion.link = likely.link;
    if (likely.measured)
        suggestion.source = measuredText(cluster.datacenters[std::size_t(from)], cluster.datacenters[std::size_t(to)], *likely.measured, catalogue);
    else if (likely.km)
        suggestion.source = QStringLiteral("Round trip estimated from %1 km; no measured one is near").arg(QLocale(QLocale::English).toString(qRound(*likely.km)));
    return suggestion;
}

} // namespace trainyard
