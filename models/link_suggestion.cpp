// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/link_suggestion.h"

#include "core/catalogue/catalogue.h"
#include "core/cluster/likely_link.h"

#include <QLocale>

namespace trainyard {

SuggestedLink suggestLink(const Cluster &cluster, int from, int to)
{
    const Catalogue &catalogue = builtinCatalogue();
    const LikelyLink likely = likelyLink(cluster, from, to, catalogue);
    SuggestedLink suggestion;
    suggestion.link = likely.link;
    if (likely.measured)
        suggestion.source = QStringLiteral("Round trip as between %1 and %2: %3")
                                .arg(QString::fromStdString(catalogue.region(likely.measured->from)->name),
                                     QString::fromStdString(catalogue.region(likely.measured->to)->name), QString::fromStdString(likely.measured->source));
    else if (likely.km)
        suggestion.source = QStringLiteral("Round trip estimated from %1 km; no measured one is near").arg(QLocale(QLocale::English).toString(qRound(*likely.km)));
    return suggestion;
}

} // namespace trainyard
