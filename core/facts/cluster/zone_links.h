#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// WAN links between zones that a network source of the catalogue has measured (core/facts/catalogue/zone_network.h):
// what a pair of nodes reaches there, in place of what the link states, and what a byte costs.

#include "core/facts/plan/zones.h"

#include <optional>

namespace trainyard {

/// What one pair of nodes of a link reaches.
struct ZonePairRate {
    const ZoneNetwork *network = nullptr;
    /// of all kinds of machines at its ends, and of both directions
    const ZoneLink *slowest = nullptr;
    Bytes message;
    BytesPerSecond rate {};
};

/// Of the source that the link names as its cloud, for messages of so many bytes. The slowest kind of machine at either
/// end decides: the source has only pairs of equal machines [I]. Empty where the link names no such source, an end is
/// none of its zones or has machines that nobody measured: then the link's own figure holds.
[[nodiscard]] std::optional<ZonePairRate> zonePairRate(const Cluster &cluster, const WanLink &link, Bytes message);

/// USD per 10^9 bytes [first to second, second to first] between two zones of one source.
[[nodiscard]] std::optional<std::array<double, 2>> zoneUsdPerGb(const Cluster &cluster, const WanLink &link);

} // namespace trainyard
