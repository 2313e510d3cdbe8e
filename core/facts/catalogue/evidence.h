#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What was measured, and how far measured iteration times lay from the model's where the model's ranges had not seen
// them (resources/catalog/confidence.json, written by scripts/validation). core/evaluation/evaluate/confidence reads a
// plan's label from the one and its range from the other. Plain values.

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

/// one node, several nodes, several datacenters
enum class Reach : std::uint8_t { Node, Fabric, Wan };

/// What decides whether a measurement tells something of a plan.
struct EvidenceKey {
    /// id, without overrides
    std::string stack;
    /// catalogue id; empty for an inline GPU
    std::string gpu;
    std::string architecture;
    /// 32, 16, 8 or 4
    int precisionBits = 16;
    bool isMoe = false;
    Reach reach = Reach::Node;
    /// ZeRO-3, FSDP: weights are gathered layer by layer
    bool shardsWeights = false;
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
    /// of plans that shard weights under this stack; empty: of all others
    std::string shardingStack;
    /// of models with experts; of all others
    bool isMoe = false;
    /// of plans of this stack that keep weights whole; empty: of every stack that has no range of its own
    std::string stack = {};
    /// that got this label when they were held back
    int rows = 0, publications = 0;
    TimeRange range = {};
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
