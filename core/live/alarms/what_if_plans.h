#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plans behind questions: a plan with links as they were measured, or without a part of its cluster and placed
// anew. Each is an ordinary plan that its file keeps. Pure functions.

#include "core/live/alarms/what_if.h"

namespace trainyard::watch {

/// Free to be placed by whoever evaluates it: mode, blocks and replicas.
[[nodiscard]] Plan openPlan(Plan plan);

/// What was measured of one link, both directions: the slower rate, the longer latency.
struct MeasuredLink {
    /// datacenters, a < b
    int a = -1, b = -1;
    /// of a node pair
    double bytesPerSecond = 0, planned = 0;
    /// one way; not told: as planned
    double latencySeconds = 0, plannedLatency = 0;
    bool isLatencyTold = false;
    [[nodiscard]] double share() const { return bytesPerSecond / planned; }
};
[[nodiscard]] std::vector<MeasuredLink> measuredLinks(const std::vector<LinkRate> &rates);

/// Its rate and latency as a calibration factor, which stands above whatever the link itself says (capacity, window,
/// losses, the network of its cloud); where the link's whole capacity binds, less capacity. Factors of the same link
/// go.
void setMeasured(Plan &plan, const MeasuredLink &link, const Evaluation &evaluation);
/// "Ohio–Oregon 3.10 instead of 5.00 Gbps per node pair, RTT 61.0 ms"
[[nodiscard]] std::string changeOf(const MeasuredLink &link, const Cluster &cluster);

/// One node of a pool less.
[[nodiscard]] Expected<Cluster> withoutNode(const Cluster &cluster, int datacenter, int pool);

} // namespace trainyard::watch
