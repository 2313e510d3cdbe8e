#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What tells one series of samples from another, as the key of tables: its texts are those of the series, not copies,
// and it is found by views of texts without one being made.

#include "core/runs/telemetry/recording.h"

#include <tuple>
#include <unordered_map>

namespace trainyard {

/// What a series is looked for by.
struct SeriesSought {
    std::string_view name, unit, where;
    int rank = -1;
    bool isByStep = false;
};

struct SeriesKey {
    explicit SeriesKey(const SampleSeries &series)
        : name(series.name)
        , unit(series.unit)
        , where(series.where)
        , rank(series.rank)
        , isByStep(series.isByStep)
    {
    }
    SharedText name, unit, where;
    int rank;
    bool isByStep;

    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const auto &key) const
        {
            return hashOfTexts({ key.name, key.unit, key.where }, key.rank);
        }
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(const auto &a, const auto &b) const { return parts(a) == parts(b); }

    private:
        static auto parts(const auto &key)
        {
            return std::tuple(key.rank, key.isByStep, std::string_view(key.name), std::string_view(key.unit),
                std::string_view(key.where));
        }
    };
};

template <class T> using SeriesTable = std::unordered_map<SeriesKey, T, SeriesKey::Hash, SeriesKey::Equal>;

[[nodiscard]] inline SeriesSought soughtOf(const SampleSeries &series)
{
    return { series.name, series.unit, series.where, series.rank, series.isByStep };
}

} // namespace trainyard
