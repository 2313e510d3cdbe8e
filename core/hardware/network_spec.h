#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a link's nominal bandwidth turns into the time of a collective: share of the peak that large messages reach, start-up
// and per-step latency, and the ramp of medium messages. One set a class of link, from resources/catalog/network.json.

#include <string>

namespace trainyard {

struct LinkClass {
    double fraction = 1;           // of the nominal bandwidth
    double startUs = 0;            // of one collective or send
    double stepUs = 0;             // of each of its dependent steps
    double rampUs = 0;             // added by medium and large messages: rampUs * V / (V + rampBytes)
    double rampBytes = 1e6;
    std::string source;
};

struct NetworkSpec {
    LinkClass device;              // NVLink, xGMI inside a node
    LinkClass pcie;                // GPUs of a node without such a link
    LinkClass fabric;              // NICs between nodes of a datacenter
};

/// The set that is built into the program.
[[nodiscard]] const NetworkSpec &builtinNetwork();

} // namespace trainyard
