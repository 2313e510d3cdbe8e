#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The quantities that a session was told, each once however many sources tell it, thinned for ever. Not thread-safe.

#include "core/live/store.h"
#include "core/live/store/thinned_series.h"
#include "core/runs/telemetry/series_key.h"

#include <deque>

namespace trainyard::live {

class SeriesStore {
public:
    explicit SeriesStore(const StoreLimits &limits);

    struct Sums {
        std::int64_t events = 0, duplicates = 0, tooMany = 0, late = 0, timeless = 0;
    };
    void take(const Batch &batch, std::uint32_t source, Sums &sums);

    /// With its zero; about so many points of all series together.
    void writeTo(Recording &recording, std::size_t points) const;
    /// samples that stretches stand for
    [[nodiscard]] std::int64_t thinned() const;
    [[nodiscard]] Moment latest() const { return m_latest; }
    [[nodiscard]] std::size_t bytes() const;

private:
    struct Kept {
        /// without samples
        SampleSeries series;
        ThinnedSeries samples;
        /// the source of its newest sample
        std::uint32_t teller = kNoIndex;
    };
    /// Where the teller of its newest step tells an earlier one anew, the job was started again from there, unless the
    /// next step says that it goes on (ThinnedSeries::forgetBehind).
    static void noteAttempt(Kept &of, Moment at, std::uint32_t source, ThinnedSeries::Taken taken);
    StoreLimits m_limits;
    SeriesLimits m_seriesLimits;
    std::deque<Kept> m_series;
    SeriesTable<std::uint32_t> m_index;
    /// names, units and places
    SharedTexts m_texts;
    Moment m_latest = 0;
};

} // namespace trainyard::live
