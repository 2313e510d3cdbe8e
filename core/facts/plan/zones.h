#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Datacenters that are zones of a network source of the catalogue (core/facts/catalogue/zone_network.h): those whose id
// or name is the zone's to the letter, so that no plan becomes one by chance.

#include "core/facts/catalogue/zone_network.h"
#include "core/facts/plan/plan.h"

namespace trainyard {

/// The zone of the source that a datacenter is; empty where it is none.
[[nodiscard]] std::string zoneOf(const Datacenter &datacenter, const ZoneNetwork &network);
/// The zones at both ends of a link; one is empty where it is none.
[[nodiscard]] std::array<std::string, 2> zonesOf(
    const Cluster &cluster, const WanLink &link, const ZoneNetwork &network);
/// The source that has both ends of a link among its zones; nullptr where none has.
[[nodiscard]] const ZoneNetwork *zoneNetworkOf(const Cluster &cluster, const WanLink &link);

} // namespace trainyard
