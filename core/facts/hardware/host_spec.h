#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the processors of a node do for training when states lie in host memory. One set, from
// resources/catalog/hosts.json, where each figure has its source; a pool's own links and drives are in the plan.

#include <string>

namespace trainyard {

struct HostSpec {
    /// of a node, vectorised and on all cores
    double adamParametersPerSecond = 0;
    /// conversions of a 32-bit weight to 16 bits in the time of one update
    double castsPerAdam = 5;
    /// of a copy whose host memory is not pinned
    double pageableSlowdown = 1;
    /// that move and are updated as one
    double subGroupParameters = 1e8;
    /// states to the GPU and back share one stream of copies
    bool interleavedCopiesTakeTurns = false;
    /// host memory taken / bytes of the states
    double memoryFactor = 1;
    std::string source;
};

/// The set that is built into the program.
[[nodiscard]] const HostSpec &builtinHost();

} // namespace trainyard
