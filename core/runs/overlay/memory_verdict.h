#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How much memory the run's fullest GPU held beside what the plan says of it, like with like: what is allocated after a
// step beside the states, its peak beside the plan's, what the allocator reserved and what the device had taken beside
// theirs. In parts that add up to the widest of these that the run tells. Pure.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/rank_map.h"
#include "core/runs/overlay/verdict_part.h"
#include "core/runs/telemetry/recording.h"

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

enum class MemoryLevel : std::uint8_t { Allocated, Reserved, Device };

struct MemoryVerdict {
    /// "12 % more memory than predicted, all of it in activations and buffers"
    std::string headline;
    /// "rank 2, stage 1 of 8", "the fullest GPU"
    std::string of;
    /// of both sums
    MemoryLevel level = MemoryLevel::Allocated;
    /// bytes; largest difference first
    std::vector<VerdictPart> parts;
    /// a sentence each
    std::vector<std::string> causes, doubts;
    /// sums of the parts
    double predictedBytes = 0, measuredBytes = 0;
    /// allocated
    double peakPredicted = 0;
    std::optional<double> peakMeasured;
};
/// "allocated", "reserved", "taken on the device"
[[nodiscard]] const char *nameOf(MemoryLevel level);

/// Empty where the run tells no memory, or the plan none.
[[nodiscard]] std::optional<MemoryVerdict> memoryVerdict(
    const Evaluation &evaluation, const Recording &recording, RankOrder order);

} // namespace trainyard
