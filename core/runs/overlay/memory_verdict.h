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
    std::string headline; // "12 % more memory than predicted, all of it in activations and buffers"
    std::string of; // "rank 2, stage 1 of 8", "the fullest GPU"
    MemoryLevel level = MemoryLevel::Allocated; // of both sums
    std::vector<VerdictPart> parts; // bytes; largest difference first
    std::vector<std::string> causes, doubts; // a sentence each
    double predictedBytes = 0, measuredBytes = 0; // sums of the parts
    double peakPredicted = 0; // allocated
    std::optional<double> peakMeasured;
};
[[nodiscard]] const char *nameOf(MemoryLevel level); // "allocated", "reserved", "taken on the device"

/// Empty where the run tells no memory, or the plan none.
[[nodiscard]] std::optional<MemoryVerdict> memoryVerdict(
    const Evaluation &evaluation, const Recording &recording, RankOrder order);

} // namespace trainyard
