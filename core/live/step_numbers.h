#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which steps a session was told of, as ranges: a run of weeks is a few of them. Not thread-safe.

#include "core/runs/telemetry/recording.h"

#include <map>

namespace trainyard::live {

class StepNumbers {
public:
    /// Steps of ranks, and steps that samples are of (0 is what runs before the first).
    void take(const Recording &part);
    void take(std::int64_t step);
    [[nodiscard]] std::int64_t count() const { return m_count; }

private:
    static constexpr std::size_t kMostRanges = 100'000;
    /// first → last
    std::map<std::int64_t, std::int64_t> m_ranges;
    std::int64_t m_count = 0;
};

} // namespace trainyard::live
