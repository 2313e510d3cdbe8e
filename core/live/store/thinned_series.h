#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One quantity for ever: its latest samples whole, all before them as the least and the largest of each stretch, with
// the moments at which they were. Stretches are equally long and begin at multiples of their length, which doubles
// whenever there are too many points: so that what stands there depends on the samples alone, not on their order. A
// stretch with samples that say "none" (NaN) keeps the first of them too. Not thread-safe.

#include "core/runs/telemetry/recording.h"

namespace trainyard::live {

struct SeriesLimits {
    /// samples, points
    std::size_t recent = 2'048, thinned = 2'048;
    /// ns
    std::int64_t reorder = 30'000'000'000;
};

class ThinnedSeries {
public:
    explicit ThinnedSeries(bool isByStep);

    enum class Taken : std::uint8_t {
        Yes,
        /// told before
        Again,
        /// a step, and it had another value: another attempt tells it
        Anew,
        /// too late to be put in order
        Late
    };
    Taken add(Moment at, double value, const SeriesLimits &limits);

    /// Samples behind `at` are those of an attempt that ended, unless the next one lies behind all of them: then the
    /// step was told twice, and they are there again. What is thinned already stays.
    void forgetBehind(Moment at);

    [[nodiscard]] std::int64_t thinned() const { return m_thinned; } // samples that a stretch stands for
    [[nodiscard]] Moment latest() const { return m_at.empty() ? kNoMoment : m_at.back(); }
    [[nodiscard]] std::int64_t stretch() const { return m_width; }
    /// points and samples, in order
    void writeTo(SampleSeries &series, Moment zero) const;
    [[nodiscard]] std::size_t bytes() const;

private:
    struct Point {
        /// kNoMoment: there is none
        Moment at = kNoMoment;
        double value = 0;
        bool operator==(const Point &) const = default;
    };
    struct Stretch {
        /// × m_width is its begin
        std::int64_t number = 0;
        Point least, largest, none;
        [[nodiscard]] std::size_t points() const;
        void add(const Point &point);
        void add(const Stretch &other);
    };
    void thin(const Point &point, std::size_t most);
    void thinOldest(const SeriesLimits &limits);
    /// Of what was forgotten last; `at`: the sample that comes now.
    void settleForgotten(Moment at, const SeriesLimits &limits);
    void widen();

    bool m_isByStep;
    /// the latest, in order, from m_begin on
    std::vector<Moment> m_at;
    std::vector<double> m_value;
    std::size_t m_begin = 0;
    /// forgotten last, behind m_at, until the next sample tells why
    std::vector<Moment> m_forgottenAt;
    std::vector<double> m_forgottenValue;
    std::int64_t m_width;
    /// in order
    std::vector<Stretch> m_stretches;
    std::size_t m_points = 0;
    /// the latest sample in a stretch
    Moment m_thinnedTo = kNoMoment;
    std::int64_t m_thinned = 0;
};

} // namespace trainyard::live
