#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What was measured, and how far measured iteration times lay from the model's where the model's ranges had not seen
// them (resources/catalog/confidence.json, written by scripts/validation). core/evaluation/evaluate/confidence reads a
// plan's label from the one and its range from the other. Plain values.

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

enum class Reach : std::uint8_t { Node, Fabric, Wan }; // one node, several nodes, several datacenters

/// What decides whether a measurement tells something of a plan.
struct EvidenceKey {
    std::string stack; // id, without overrides
    std::string gpu; // catalogue id; empty for an inline GPU
    std::string architecture;
    int precisionBits = 16; // 32, 16, 8 or 4
    bool isMoe = false;
    Reach reach = Reach::Node;
    bool shardsWeights = false; // ZeRO-3, FSDP: weights are gathered layer by layer
    bool operator==(const EvidenceKey &) const = default;
};

struct Evidence { // published rows of one combination
    EvidenceKey key;
    int rows = 0;
    bool operator==(const Evidence &) const = default;
};

enum class ConfidenceLabel : std::uint8_t {
    Calibrated,
    SameFamily,
    Extrapolated,
    SpecSheet
}; // from the best to the worst

/// The measured time lay between predicted * (1 + low) and predicted * (1 + high).
struct TimeRange {
    double low = 0, high = 0;
    bool operator==(const TimeRange &) const = default;
};

/// Where nine in ten of the rows of a label lay that were held back.
struct LabelRange {
    ConfidenceLabel label = ConfidenceLabel::Extrapolated;
    std::string shardingStack; // of plans that shard weights under this stack; empty: of all others
    int rows = 0, publications = 0; // that got this label when they were held back
    TimeRange range;
    bool operator==(const LabelRange &) const = default;
};

struct ConfidenceData {
    std::vector<Evidence> evidence;
    std::vector<LabelRange> ranges;
};

[[nodiscard]] inline const char *toString(Reach reach)
{
    constexpr const char *names[] = { "node", "fabric", "wan" };
    return names[std::size_t(reach)];
}

inline constexpr ConfidenceLabel kConfidenceLabels[] = { ConfidenceLabel::Calibrated, ConfidenceLabel::SameFamily,
    ConfidenceLabel::Extrapolated, ConfidenceLabel::SpecSheet };

[[nodiscard]] inline const char *toString(ConfidenceLabel label)
{
    constexpr const char *names[] = { "calibrated", "same family", "extrapolated", "spec sheet" };
    return names[std::size_t(label)];
}

} // namespace trainyard
