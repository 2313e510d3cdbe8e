#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What machines in zones of a cloud reach between them by message size, and what a byte and a GPU cost there, where
// somebody has measured and listed it: resources/catalog/zones.json. A WAN link names such a source as its `cloud`.
// Loaded once, shared read-only by all threads.

#include "core/facts/hardware/link_curve.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct ZoneMachine {
    /// "A100-40x4"
    std::string id;
    /// of the catalogue
    std::string gpu;
    int gpusPerNode = 1;
    double usdPerGpuHour = 0;
    /// of the price
    std::string source;
};

struct ZoneLink { // one direction, both ends of one kind of machine
    /// zones, "us-central1-a"
    std::string from, to;
    std::string machine;
    LinkCurve curve;
    std::string source;
};

struct ZonePrice {
    std::string from, to;
    double usdPerGb = 0;
    std::string source;
};

struct ZoneNetwork {
    /// also of a cloud of the catalogue, whose TCP window holds
    std::string id;
    std::string name;
    std::vector<ZoneMachine> machines;
    std::vector<ZoneLink> links;
    std::vector<ZonePrice> egress;
    /// those that egress has
    std::vector<std::string> zones;

    [[nodiscard]] bool knows(std::string_view zone) const;
    /// nullptr where nobody has measured such a machine.
    [[nodiscard]] const ZoneMachine *machine(std::string_view gpu, int gpusPerNode) const;
    [[nodiscard]] const ZoneLink *link(std::string_view from, std::string_view to, std::string_view machine) const;
    [[nodiscard]] std::optional<double> usdPerGb(std::string_view from, std::string_view to) const;
};

[[nodiscard]] const std::vector<ZoneNetwork> &builtinZoneNetworks();
/// nullptr where unknown
[[nodiscard]] const ZoneNetwork *builtinZoneNetwork(std::string_view id);

} // namespace trainyard
