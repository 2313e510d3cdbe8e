#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where the counters of a sender stood after its last OTLP message, for those that send one after the other: sums of
// deltas go on, means of histograms are those since the message before, steps are counted on. One sender's, bounded.

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace trainyard::readers {

struct OtlpHistory {
    struct Standing {
        std::int64_t start = 0, time = 0; // of its last point
        double value = 0, count = 0, total = 0; // total: of what was before a restart, or of deltas
    };
    std::unordered_map<std::string, Standing> points; // by series
    std::map<std::pair<std::string, int>, std::int64_t> steps; // of a place and a rank: how many there were

    /// of all series
    std::size_t keyBytes = 0;

    static constexpr std::size_t mostPoints = 20'000, mostKey = 2'000, mostSteps = 65'536;
    static constexpr std::size_t mostKeyBytes = std::size_t(8) << 20, mostPlace = 200;
};

} // namespace trainyard::readers
