#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the processors of a node do for training when states lie in host memory. One set, from
// resources/catalog/hosts.json, where each figure has its source; a pool's own links and drives are in the plan.

#include <string>

namespace trainyard {

struct HostSpec {
    double adamParametersPerSecond = 0; // of a node, vectorised and on all cores
    double castsPerAdam = 5; // conversions of a 32-bit weight to 16 bits in the time of one update
    double pageableSlowdown = 1; // of a copy whose host memory is not pinned
    double subGroupParameters = 1e8; // that move and are updated as one
    bool interleavedCopiesTakeTurns = false; // states to the GPU and back share one stream of copies
    double memoryFactor = 1; // host memory taken / bytes of the states
    std::string source;
};

/// The set that is built into the program.
[[nodiscard]] const HostSpec &builtinHost();

} // namespace trainyard
