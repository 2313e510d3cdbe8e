#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a new WAN link starts from: the catalogue's published round trip of the nearest regions, or one that the
// distance makes likely, and in words where it comes from. Any thread.

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"

#include <QString>

namespace trainyard {

struct SuggestedLink {
    WanLink link;
    /// empty where nothing is known of the distance
    QString source;
};

/// A link between two datacenters of the cluster with the catalogue's figures, where both lie near known regions.
[[nodiscard]] SuggestedLink suggestLink(const Cluster &cluster, int from, int to, const Catalogue &catalogue);

} // namespace trainyard
