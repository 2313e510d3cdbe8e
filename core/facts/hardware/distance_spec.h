#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How the round-trip time between two places follows their distance, from resources/catalog/network.json.

#include <string>

namespace trainyard {

struct DistanceSpec {
    /// routers and the way to the long-haul fibre, both ends
    double constantMs = 0;
    /// length of the fibre over the great circle
    double routeFactor = 1;
    std::string source;
};

/// The figures that are built into the program.
[[nodiscard]] const DistanceSpec &builtinDistance();

} // namespace trainyard
