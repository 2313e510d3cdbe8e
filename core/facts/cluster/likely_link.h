#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The link that two datacenters would most likely get: the published round trip between regions near them, else one
// that their distance makes likely, else the default. Capacity and node pairs are the defaults, between two
// zones of a network source what it measured. Pure function, any thread.

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/catalogue/zone_network.h"
#include "core/facts/plan/plan.h"

#include <optional>

namespace trainyard {

struct LikelyLink {
    WanLink link;
    /// whose round trip it has; owned by the catalogue
    const RegionLink *measured = nullptr;
    /// else the distance that it is estimated from; empty where places are not known
    std::optional<double> km;
    /// where both are zones of a source: the link takes its figures from there
    const ZoneNetwork *zones = nullptr;
};

/// `from`, `to`: indices into Cluster::datacenters.
[[nodiscard]] LikelyLink likelyLink(const Cluster &cluster, int from, int to, const Catalogue &catalogue);

} // namespace trainyard
