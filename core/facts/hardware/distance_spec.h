#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How the round-trip time between two places follows their distance, from resources/catalog/network.json.

#include <string>

namespace trainyard {

struct DistanceSpec {
    double constantMs = 0; // routers and the way to the long-haul fibre, both ends
    double routeFactor = 1; // length of the fibre over the great circle
    std::string source;
};

/// The figures that are built into the program.
[[nodiscard]] const DistanceSpec &builtinDistance();

} // namespace trainyard
