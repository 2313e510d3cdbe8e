#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where the counters of a sender stood after its last OTLP message, for those that send one after the other: sums of
// deltas go on, means of histograms are those since the message before, steps are counted on. One sender's, bounded.

#include "core/base/shared_text.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace trainyard::readers {

/// Whose points these are: a metric of a rank, by the place of its resource and what its points tell besides.
template <class Text> struct OtlpSeriesOf {
    Text metric, where, place;
    int rank = -1;
    [[nodiscard]] std::size_t textBytes() const { return metric.size() + where.size() + place.size(); }
};
/// In tables, and as it is looked for there.
using OtlpSeries = OtlpSeriesOf<SharedText>;
using OtlpSought = OtlpSeriesOf<std::string_view>;
struct OtlpSeriesHash {
    using is_transparent = void;
    std::size_t operator()(const auto &key) const
    {
        return hashOfTexts({ key.metric, key.where, key.place }, key.rank);
    }
};
struct OtlpSeriesEqual {
    using is_transparent = void;
    bool operator()(const auto &a, const auto &b) const { return parts(a) == parts(b); }

private:
    static auto parts(const auto &key)
    {
        return std::tuple(
            key.rank, std::string_view(key.metric), std::string_view(key.where), std::string_view(key.place));
    }
};
template <class T> using OtlpSeriesTable = std::unordered_map<OtlpSeries, T, OtlpSeriesHash, OtlpSeriesEqual>;

struct OtlpHistory {
    struct Standing {
        std::int64_t start = 0, time = 0; // of its last point
        double value = 0, count = 0, total = 0; // total: of what was before a restart, or of deltas
    };
    OtlpSeriesTable<Standing> points;
    std::map<std::pair<SharedText, int>, std::int64_t> steps; // of a place and a rank: how many there were

    /// of the series, each once
    SharedTexts texts;

    static constexpr std::size_t mostPoints = 20'000, mostKey = 2'000, mostSteps = 65'536;
    static constexpr std::size_t mostTextBytes = std::size_t(8) << 20, mostPlace = 200;
};

} // namespace trainyard::readers
