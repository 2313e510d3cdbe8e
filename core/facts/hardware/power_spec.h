#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a GPU's draw follows its use, from resources/catalog/power.json.

#include <string>

namespace trainyard {

struct PowerSpec {
    /// of the thermal design power, with a job loaded but waiting
    double idleShare = 0.25;
    std::string source;
};

/// The figures that are built into the program.
[[nodiscard]] const PowerSpec &builtinPower();

} // namespace trainyard
