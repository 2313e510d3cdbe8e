#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How far published iteration times lay from the model's, by what they were measured on (resources/catalog/confidence.json,
// written by scripts/validation). core/evaluate/confidence reads a plan's range from them. Plain values.

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

enum class Reach : std::uint8_t { Node, Fabric, Wan };   // one node, several nodes, several datacenters

/// What decides whether a measurement tells something of a plan.
struct EvidenceKey {
    std::string stack;             // id, without overrides
    std::string gpu;               // catalogue id; empty for an inline GPU
    std::string architecture;
    int precisionBits = 16;        // 32, 16, 8 or 4
    bool isMoe = false;
    Reach reach = Reach::Node;
    bool shardsWeights = false;    // ZeRO-3, FSDP: weights are gathered layer by layer
    bool operator==(const EvidenceKey &) const = default;
};

/// The measured time lay between predicted * (1 + low) and predicted * (1 + high).
struct TimeRange {
    double low = 0, high = 0;
    bool operator==(const TimeRange &) const = default;
};

struct ResidualSpread {
    EvidenceKey key;
    int rows = 0;
    TimeRange range;
    bool operator==(const ResidualSpread &) const = default;
};

struct ConfidenceData {
    std::vector<ResidualSpread> spreads;
    TimeRange genericKernels;      // what the curve for unmeasured GPUs is off by on the measured ones
    TimeRange repeats;             // what equal plans of one source differ by among themselves: no range is narrower
    TimeRange profile;             // of plans that bring measured stage times
};

[[nodiscard]] inline const char *toString(Reach reach)
{
    constexpr const char *names[] = {"node", "fabric", "wan"};
    return names[std::size_t(reach)];
}

} // namespace trainyard
