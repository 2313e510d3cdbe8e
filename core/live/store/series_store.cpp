// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/store/series_store.h"

#include "core/live/store/moments.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace trainyard::live {

namespace {

/// Of each of so many parts the least, the largest and the first gap.
void thinTo(SampleSeries &series, std::size_t parts)
{
    const std::size_t size = series.at.size();
    std::size_t kept = 0;
    for (std::size_t part = 0; part < parts; ++part) {
        constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
        std::size_t least = kNone, largest = kNone, gap = kNone;
        for (std::size_t i = part * size / parts; i < (part + 1) * size / parts; ++i) {
            if (std::isnan(series.value[i])) {
                gap = std::min(gap, i);
                continue;
            }
            least = least == kNone || series.value[i] < series.value[least] ? i : least;
            largest = largest == kNone || series.value[i] > series.value[largest] ? i : largest;
        }
        std::array<std::size_t, 3> of { least, largest, gap };
        std::ranges::sort(of);
        for (std::size_t i = 0; i < of.size() && of[i] != kNone; ++i) {
            if (i > 0 && of[i] == of[i - 1])
                continue;
            series.at[kept] = series.at[of[i]]; // never in front of what is still read
            series.value[kept++] = series.value[of[i]];
        }
    }
    series.at.resize(kept);
    series.value.resize(kept);
    series.at.shrink_to_fit();
    series.value.shrink_to_fit();
}

} // namespace

namespace {

constexpr std::size_t kMostSeriesTextBytes = std::size_t(64) << 20; // of names, units and places

} // namespace

SeriesStore::SeriesStore(const StoreLimits &limits)
    : m_limits(limits)
    , m_seriesLimits { std::max<std::size_t>(limits.recent, 1), limits.thinned, limits.reorder }
{
}

void SeriesStore::take(const Batch &batch, std::uint32_t source, Sums &sums)
{
    for (const SampleSeries &series : batch.part.series) {
        if (series.at.empty())
            continue;
        auto known = m_index.find(soughtOf(series));
        if (known == m_index.end()) {
            const bool isRank = series.rank >= -1 && series.rank < (1 << 24);
            const std::size_t bytes =
                m_texts.bytesFor(series.name) + m_texts.bytesFor(series.unit) + m_texts.bytesFor(series.where);
            if (m_series.size() >= m_limits.series || m_texts.bytes() + bytes > kMostSeriesTextBytes || !isRank) {
                sums.tooMany += static_cast<std::int64_t>(series.at.size());
                continue;
            }
            Kept &made = m_series.emplace_back(SampleSeries {}, ThinnedSeries(series.isByStep));
            made.series = { m_texts(series.name), m_texts(series.unit), series.rank, m_texts(series.where),
                series.isByStep, {}, {}, source };
            known = m_index.emplace(SeriesKey(made.series), static_cast<std::uint32_t>(m_series.size() - 1)).first;
        }
        Kept &kept = m_series[known->second];
        for (std::size_t i = 0; i < series.at.size(); ++i) {
            Moment at = series.at[i];
            if (series.isByStep ? at <= -kMostStep || at >= kMostStep : !unixOf(batch.part.zero, at)) {
                ++sums.timeless;
                continue;
            }
            if (!series.isByStep) {
                at += batch.part.zero;
                if (isBelievable(at, batch.received))
                    m_latest = std::max(m_latest, at);
            }
            const auto taken = kept.samples.add(at, series.value[i], m_seriesLimits);
            noteAttempt(kept, at, source, taken);
            switch (taken) {
            case ThinnedSeries::Taken::Yes:
            case ThinnedSeries::Taken::Anew:
                ++sums.events;
                break;
            case ThinnedSeries::Taken::Again:
                ++sums.duplicates;
                break;
            case ThinnedSeries::Taken::Late:
                ++sums.late;
                break;
            }
        }
    }
}

void SeriesStore::noteAttempt(Kept &of, Moment at, std::uint32_t source, ThinnedSeries::Taken taken)
{
    if (taken == ThinnedSeries::Taken::Anew && of.teller == source)
        of.samples.forgetBehind(at);
    if (at == of.samples.latest())
        of.teller = source;
}

void SeriesStore::writeTo(Recording &recording, std::size_t points) const
{
    constexpr std::size_t kLeast = 48; // points of a series
    const std::size_t most = std::max(kLeast, points / std::max<std::size_t>(1, m_series.size()));
    recording.series.reserve(recording.series.size() + m_series.size());
    for (const Kept &one : m_series) {
        SampleSeries &made = recording.series.emplace_back(one.series);
        one.samples.writeTo(made, recording.zero);
        if (made.at.size() > most)
            thinTo(made, most / 3);
        if (made.at.empty())
            recording.series.pop_back();
    }
}

std::int64_t SeriesStore::thinned() const
{
    std::int64_t sum = 0;
    for (const Kept &one : m_series)
        sum += one.samples.thinned();
    return sum;
}

std::size_t SeriesStore::bytes() const
{
    std::size_t bytes = m_texts.bytes() + m_index.size() * 128;
    for (const Kept &one : m_series)
        bytes += sizeof one.series + one.samples.bytes();
    return bytes;
}

} // namespace trainyard::live
