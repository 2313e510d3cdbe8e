#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where a series stops for a while: between two samples that lie further apart than its samples do, one that says "no
// value" is put, so that no line is drawn over an outage. Of one source, over all of its batches; one thread.

#include "core/runs/telemetry/series_key.h"

namespace trainyard::live {

class SeriesGaps {
public:
    /// Marks the gaps of series over time, and those to the batches before. Overlapping batches tell a gap once.
    void mark(Recording &part);
    /// The newest sample of a series but `but`, Unix ns; 0: none yet.
    [[nodiscard]] Moment newest() const { return m_newest; }
    [[nodiscard]] std::int64_t gaps() const { return m_gaps; }

    /// times the usual distance of its samples
    static constexpr double kApart = 2.5;
    /// equal distances that are wider: it is told less often now
    static constexpr int kSameAgain = 3;

private:
    struct Known {
        /// Unix ns
        Moment last = 0;
        /// distance of its samples; 0: not known yet
        Moment usual = 0;
        /// of the latest that were wider alike
        Moment wide = 0;
        int wides = 0;
    };
    SeriesTable<Known> m_known;
    Moment m_newest = 0;
    std::int64_t m_gaps = 0;
};

} // namespace trainyard::live
