// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/link_suggestion.h"

#include "core/facts/catalogue/zone_network.h"
#include "core/facts/cluster/distance.h"
#include "core/facts/cluster/likely_link.h"
#include "models/text/source_words.h"

#include <QCoreApplication>
#include <QLocale>

namespace trainyard {

namespace {

constexpr double kSamePlaceKm = 1;
constexpr const char *kRoundTripKey = "rtt_ms";

QString suggestionText(const char *text)
{
    return QCoreApplication::translate("LinkSuggestion", text);
}

bool isAt(const Datacenter &datacenter, const Region &region)
{
    const auto place = placeOf(datacenter);
    return place && greatCircleKm(*place, { region.latitude, region.longitude }) < kSamePlaceKm;
}

QString measuredText(const Datacenter &a, const Datacenter &b, const RegionLink &link, const Catalogue &catalogue)
{
    const Region &from = *catalogue.region(link.from), &to = *catalogue.region(link.to);
    if ((isAt(a, from) && isAt(b, to)) || (isAt(a, to) && isAt(b, from)))
        return suggestionText("Round trip published: %1").arg(sourceOf(link.source, kRoundTripKey));
    return suggestionText("Round trip as between %1 and %2: %3")
        .arg(QString::fromStdString(from.name), QString::fromStdString(to.name), sourceOf(link.source, kRoundTripKey));
}

} // namespace

SuggestedLink suggestLink(const Cluster &cluster, int from, int to, const Catalogue &catalogue)
{
    const LikelyLink likely = likelyLink(cluster, from, to, catalogue);
    SuggestedLink suggestion;
    suggestion.link = likely.link;
    if (likely.measured)
        suggestion.source = measuredText(
            cluster.datacenters[std::size_t(from)], cluster.datacenters[std::size_t(to)], *likely.measured, catalogue);
    else if (likely.km)
        suggestion.source = suggestionText("Round trip estimated from %1 km; no measured one is near")
                                .arg(QLocale(QLocale::English).toString(qRound(*likely.km)));
    if (likely.zones)
        suggestion.source += (suggestion.source.isEmpty() ? QString() : QStringLiteral(". "))
            + suggestionText("Bandwidth of node pairs and price as in %1")
                  .arg(QString::fromStdString(likely.zones->name));
    return suggestion;
}

} // namespace trainyard
